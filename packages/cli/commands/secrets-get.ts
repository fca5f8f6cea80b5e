import { openVault } from '@subluminal/plane/vault';
import { badUsage, defineCommand, done, EXIT, orThrow, printout } from '../input/command.ts';
import { NO_STORE } from '../input/shared-options.ts';
import { unknownSecret, withSecrets } from '../secrets/secrets-home.ts';
import { harmless } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Prints the value on standard output, followed by a newline. On a terminal it asks first, because others may see the screen.',
  args: { name: 'The name of the secret' },
  options: {
    reveal: 'Print it without asking, also without a terminal',
  },
  examples: ['sub secrets get github_token', 'sub secrets get github_token --reveal'],
  exitCodes: { 0: 'the secret is printed, or you declined', 2: NO_STORE },
  requires: 'person',
  run: async ({ args, options }, io) => {
    return withSecrets(io, async (found) => {
      const { name } = args;
      const { person } = found;
      if (!options.reveal && person === undefined) {
        const message = 'not a terminal, cannot ask whether to show the value.';
        return badUsage(message, 'Add --reveal to print it.');
      }
      const vault = orThrow(await openVault(found.options));
      const value = vault?.value(name);
      vault?.close();
      if (value === undefined) return unknownSecret(name);
      if (typeof value !== 'string') return value;
      const question = `Print the value of \`${harmless(name)}\`?`;
      if (!options.reveal && (await person?.agrees(question)) !== true) {
        io.err.write('sub: not printed.\n');
        return done(EXIT.fine);
      }
      // A program gets it byte for byte; on a terminal nothing of it may act.
      const shown = io.out.isTerminal ? harmless(value) : value;
      return printout({ name, value }, `${shown}\n`);
    });
  },
});
