import { rm } from 'node:fs/promises';
import { isFailure } from '@subluminal/contracts';
import { createKeyPair } from '@subluminal/plane/crypto';
import { badUsage, defineCommand, orThrow, printout } from '../input/command.ts';
import { emptyName, STDIO } from '../input/read-file.ts';
import { createNewFile, occupied } from '../input/write-file.ts';
import { harmlessLine } from '../terminal/text.ts';

const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;

export const command = defineCommand({
  description:
    'Creates an ed25519 key pair: the private key, readable only by you, and beside it the public key. Never overwrites a file.',
  args: { out: 'The file for the private key; the public key gets .pub' },
  examples: ['sub policy keygen policy.key'],
  exitCodes: {
    0: 'both files are written',
    2: 'wrong flags, or a file exists or cannot be written',
  },
  run: async ({ args }) => {
    if (args.out === STDIO) {
      return badUsage('keys are not written to standard output.', 'Name a file.');
    }
    if (args.out === '') return emptyName();
    const { keyId, privatePem, publicPem } = createKeyPair();
    const publicPath = `${args.out}.pub`;
    const privateKey = { path: args.out, text: privatePem, mode: PRIVATE_MODE };
    // Usually both halves exist or none does: the one that was named is the one to speak of.
    orThrow(await occupied(args.out));
    // The public half first: a failure after it leaves nothing behind that has to be kept secret.
    const publicKey = { path: publicPath, text: publicPem, mode: PUBLIC_MODE, given: args.out };
    orThrow(await createNewFile(publicKey));
    const written = await createNewFile(privateKey);
    if (isFailure(written)) {
      await rm(publicPath, { force: true });
      return written;
    }
    const made = { private_key: args.out, public_key: publicPath, key_id: keyId };
    return printout(
      made,
      harmlessLine(`Wrote ${args.out} (private: keep it safe) and ${publicPath}, key ${keyId}.`),
    );
  },
});
