// The one-shot token of the first start: whoever has it becomes the first admin. It is printed once, kept in a
// private file until somebody uses it, and worth nothing after that.
import { rmSync } from 'node:fs';
import { type Failure, failure } from '@subluminal/contracts';
import { isToken, newToken, tokenHash } from '@subluminal/plane/crypto';
import { createPrivateFile, readPrivateFile, systemCode } from '@subluminal/plane/os';
import type { PeopleStore } from '../store/types.ts';

interface SetupOptions {
  readonly people: PeopleStore;
  /** Where the token is kept, with mode 0600. */
  readonly path: string;
  /** Tells the admin, on standard error. */
  readonly print: (line: string) => void;
}

const TOKEN_BYTES_MAX = 256;

/** Makes the token, or keeps the one of the start before, unless it was used. */
export async function prepareSetup(options: SetupOptions): Promise<Failure | undefined> {
  const { people, path, print } = options;
  const token = keptToken(path);
  if (typeof token !== 'string') return token;
  if ((await people.setupToken(tokenHash(token), Date.now())) === 'used') {
    removeSetupFile(path);
    return undefined;
  }
  print('No admin is there yet. Make the first one on your machine:');
  print(`  sub login --gateway URL --setup ${token}`);
  print(`The token works once. It is also in ${path}.`);
  return undefined;
}

/** What was used is worth nothing, and need not lie around. */
export function removeSetupFile(path: string): void {
  rmSync(path, { force: true });
}

function keptToken(path: string): string | Failure {
  try {
    createPrivateFile(path, `${newToken('setup')}\n`);
  } catch (cause) {
    const message = `${path} cannot be written (${systemCode(cause)}).`;
    return failure('SUB_FILE_WRITE', message, 'Check the folder and its permissions.');
  }
  const read = readPrivateFile(path, { bytesMax: TOKEN_BYTES_MAX, isSecret: true });
  const text = read.kind === 'read' ? read.bytes.toString('utf8').trim() : '';
  if (isToken('setup', text)) return text;
  const why = read.kind === 'unreadable' ? read.why : 'holds no setup token';
  return failure('SUB_FILE_READ', `${path} ${why}.`, 'Remove the file and start again.');
}
