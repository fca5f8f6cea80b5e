// Opens the secret store of this user: its folder, its passphrase, and the servers that are bound to it.
import { existsSync } from 'node:fs';
import { type Failure, failure } from '@subluminal/contracts';
import { ensurePrivateFolder, type Servers } from '@subluminal/plane/config';
import {
  openVault,
  type Protection,
  type Purpose,
  type VaultOptions,
} from '@subluminal/plane/vault';
import { type Outcome, orThrow } from '../input/command.ts';
import { loadOwnConfig } from '../input/own-config.ts';
import type { Io } from '../terminal/io.ts';
import { type Person, personAt } from './ask-person.ts';

export interface SecretsHome {
  readonly options: VaultOptions;
  readonly servers: Servers;
  readonly home: string;
  /** Undefined without a terminal. */
  readonly person: Person | undefined;
}

/** Runs `work` with the store of this user, and leaves the terminal as it was. */
export async function withSecrets(
  io: Io,
  work: (secrets: SecretsHome) => Promise<Outcome>,
): Promise<Outcome> {
  const person = personAt(io);
  try {
    return await work(await findSecrets(io, person));
  } finally {
    await person?.close();
  }
}

/** Refuses a home that others can write to, and creates none. Throws its failure. */
async function findSecrets(io: Io, person: Person | undefined): Promise<SecretsHome> {
  const { config, paths, servers } = await loadOwnConfig();
  const { home } = paths;
  orThrow(existsSync(home) ? ensurePrivateFolder(home) : undefined);
  const options: VaultOptions = {
    home,
    nowMs: () => Date.now(),
    passphraseFile: config['secrets.passphrase_file'],
    ...(person && { askPassphrase: asker(io, person) }),
  };
  return { options, servers, home, person };
}

/** Asks at most once for each: a store is opened more than once by some commands. */
function asker(io: Io, person: Person): (purpose: Purpose) => Promise<string | undefined> {
  const known = new Map<string, string>();
  return async (purpose) => {
    const before = known.get(purpose);
    if (before !== undefined) return before;
    const given = await (purpose === 'open' ? typed(person, OPEN) : chosen(io, person, purpose));
    if (given !== undefined) known.set(purpose, given);
    return given;
  };
}

const OPEN = 'Passphrase of the store (not shown): ';
const NEW = 'New passphrase for the store (not shown): ';
const OFFER =
  'New passphrase for the store (not shown; empty for a key file of mode 0600 instead): ';

async function typed(person: Person, question: string): Promise<string | undefined> {
  const answer = await person.hidden(question);
  return answer.kind === 'line' ? answer.text : undefined;
}

/** Asked twice, because a typing mistake cannot be seen. */
async function chosen(io: Io, person: Person, purpose: Purpose): Promise<string | undefined> {
  const first = await typed(person, purpose === 'offer' ? OFFER : NEW);
  if (!first) return first;
  const second = await typed(person, 'The same again: ');
  if (first === second) return first;
  io.err.write('sub: the two differ.\n');
  return undefined;
}

/**
 * Opens the store before anything else is asked for: a wrong passphrase is reported at once, and the
 * lock is not held while a person types. Throws its failure.
 */
export async function tryOpen(options: VaultOptions): Promise<void> {
  if (options.askPassphrase !== undefined) orThrow(await openVault(options))?.close();
}

export function unknownSecret(name: string, more = ''): Failure {
  const fix = `Run \`sub secrets list\` to see the names${more}.`;
  return failure('SUB_SECRET_UNKNOWN', `the store has no secret \`${name}\`.`, fix);
}

/** Whether a secret of the store is a grant or a client of `sub auth`. */
export function isOfLogin(name: string): boolean {
  return /^oauth-(?:grant|client)\./.test(name);
}

/** The servers that are bound to a secret of the store. */
export function serversBoundTo(name: string, servers: Servers): readonly string[] {
  if (isOfLogin(name)) return ['sub auth'];
  return [...servers].flatMap(([server, { secretBindings }]) =>
    secretBindings.some(({ source, secretRef }) => source === 'vault' && secretRef === name)
      ? [server]
      : [],
  );
}

export function protectionText(protection: Protection, home: string): string {
  switch (protection) {
    case 'keychain':
      return 'the key is in the keychain of this system';
    case 'passphrase':
      return 'the key comes from a passphrase';
    case 'file':
      return `the key is in ${home}/vault.key; whoever can read both files can read the secrets`;
  }
}
