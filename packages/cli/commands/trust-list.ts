import { isFailure } from '@subluminal/contracts';
import { POLICY_FILE_BYTES_MAX } from '@subluminal/core/policy';
import { homePaths } from '@subluminal/plane/config';
import { sha256Bytes } from '@subluminal/plane/crypto';
import { openTrust, type TrustEntry } from '@subluminal/plane/policy';
import { defineCommand, orThrow, printout } from '../input/command.ts';
import { readFileBytes } from '../input/read-file.ts';
import { BAD_TRUST } from '../input/shared-options.ts';
import type { Io } from '../terminal/io.ts';
import { harmlessLine } from '../terminal/text.ts';

type State = 'trusted' | 'changed' | 'unreadable';

const HASH_SHOWN = 12;
const WORDS: { readonly [S in State]: string } = {
  trusted: 'trusted',
  changed: 'changed since, so it is not trusted',
  unreadable: 'cannot be read',
};

export const command = defineCommand({
  description:
    'Lists every trusted policy: its path, its hash, when it was trusted, and whether its content is still the same.',
  examples: ['sub trust list', 'sub trust list --json'],
  exitCodes: { 0: 'the policies are listed', 2: BAD_TRUST },
  run: async (_input, io) => {
    const opened = orThrow(openTrust(homePaths(process.env).home));
    const entries = await Promise.all(
      opened.map(async (entry) => ({ ...entry, state: await stateOf(entry, io) })),
    );
    const lines = entries.map(({ path, sha256, trusted_at, state }) => {
      const hash = sha256.slice(0, HASH_SHOWN);
      return harmlessLine(`${path}  ${hash}…  since ${trusted_at}: ${WORDS[state]}`);
    });
    const text = lines.join('') || 'No policy of a project is trusted.\n';
    return printout({ trusted: entries }, text);
  },
});

async function stateOf({ path, sha256 }: TrustEntry, io: Io): Promise<State> {
  const file = await readFileBytes(path, { io, bytesMax: POLICY_FILE_BYTES_MAX });
  if (isFailure(file)) return 'unreadable';
  return sha256Bytes(Buffer.from(file.bytes)) === sha256 ? 'trusted' : 'changed';
}
