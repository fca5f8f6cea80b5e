import { addSecret, isSecretName } from '@subluminal/plane/vault';
import { badUsage, defineCommand, orThrow, printout } from '../input/command.ts';
import { NO_STORE, PROTECT_OPTION } from '../input/shared-options.ts';
import { readValue, warnShort } from '../secrets/ask-person.ts';
import { protectionText, tryOpen, withSecrets } from '../secrets/secrets-home.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Asks for the value without showing it, or reads it from standard input; one newline at its end is cut. It is never taken from the command line. The first secret creates the store, `vault.db` in the home. The key of the store goes into the keychain of the system, else it is derived from a passphrase, else it is the file `vault.key`; --protect chooses.',
  args: { name: 'The name that bindings use: letters, digits, `_`, `-` and `.`' },
  options: { protect: PROTECT_OPTION },
  examples: [
    'sub secrets add github_token',
    'sub secrets add github_token --protect passphrase',
    'cat key.pem | sub secrets add app.key',
  ],
  exitCodes: { 0: 'the secret is stored', 2: NO_STORE },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const { name } = args;
    // Before anything is asked; and not repeated, because it may be the secret itself.
    if (!isSecretName(name)) {
      const fix = 'Write letters, digits, `_`, `-` and `.`, at most 128, no dot or dash first.';
      return badUsage('that is not a valid name for a secret.', fix);
    }
    return withSecrets(io, async (found) => {
      orThrow(await tryOpen(found.options));
      const value = orThrow(await readValue(io, found.person, name));
      const { protect } = options;
      const secret = { name, value: value.text, ...(protect !== undefined && { protect }) };
      orThrow(found.makeHome());
      const changed = orThrow(await addSecret(found.options, secret));
      const { protection, isNew } = changed;
      if (protect !== undefined && protect !== protection) {
        const how = `Run \`sub secrets rotate --key --protect ${protect}\` to change that.`;
        warn(io, `the store has its key already. ${how}`);
      }
      warnShort(io, name, value.text);
      const made = isNew ? ` in a new store; ${protectionText(protection, found.home)}` : '';
      return printout(
        { name, added: true, protection, new_store: isNew },
        harmlessLine(`Stored \`${name}\`${made}.`),
      );
    });
  },
});
