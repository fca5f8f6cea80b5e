import { openVault, removeSecret } from '@subluminal/plane/vault';
import { badUsage, defineCommand, orThrow, printout } from '../input/command.ts';
import { NO_STORE, YES_FLAG } from '../input/shared-options.ts';
import { serversBoundTo, unknownSecret, withSecrets } from '../secrets/secrets-home.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Names the servers that are bound to the secret, asks, and removes it. In production, those servers do not start any more.',
  args: { name: 'The name of the secret' },
  options: { yes: YES_FLAG },
  examples: ['sub secrets remove github_token', 'sub secrets remove github_token --yes'],
  exitCodes: { 0: 'the secret is removed, or you declined', 2: NO_STORE },
  requires: 'person',
  run: async ({ args, options }, io) => {
    return withSecrets(io, async (found) => {
      const { name } = args;
      const { person } = found;
      if (!options.yes && person === undefined) {
        return badUsage('not a terminal, cannot ask.', 'Add --yes.');
      }
      const vault = orThrow(await openVault(found.options));
      vault?.close();
      if (!vault?.secrets.some((secret) => secret.name === name)) return unknownSecret(name);
      const usedBy = serversBoundTo(name, found.servers);
      if (usedBy.length > 0) warn(io, `bound to ${usedBy.join(', ')}.`);
      const question = `Remove \`${harmless(name)}\` for good?`;
      const isWanted = options.yes || (await person?.agrees(question)) === true;
      if (isWanted) {
        orThrow(await removeSecret(found.options, name));
      }
      const said = isWanted ? `Removed \`${name}\`.` : 'Nothing was removed.';
      return printout({ name, removed: isWanted, used_by: usedBy }, harmlessLine(said));
    });
  },
});
