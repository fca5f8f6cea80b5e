import { openVault, removeSecret } from '@subluminal/plane/vault';
import { badUsage, defineCommand, printout, required } from '../input/command.ts';
import { JSON_FLAG, NO_STORE, YES_FLAG } from '../input/shared-options.ts';
import { serversBoundTo, unknownSecret, withSecrets } from '../secrets/secrets-home.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Names the servers that are bound to the secret, asks, and removes it. In production, those servers do not start any more.',
  args: { name: required('The name of the secret') },
  options: { yes: YES_FLAG, json: JSON_FLAG },
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
      const vault = await openVault(found.options);
      if (vault?.kind === 'failure') return vault;
      vault?.close();
      if (!vault?.secrets.some((secret) => secret.name === name)) return unknownSecret(name);
      const usedBy = serversBoundTo(name, found.servers);
      if (usedBy.length > 0) io.err.write(`sub: bound to ${harmless(usedBy.join(', '))}.\n`);
      const question = `Remove \`${harmless(name)}\` for good?`;
      const isWanted = options.yes || (await person?.agrees(question)) === true;
      if (isWanted) {
        const changed = await removeSecret(found.options, name);
        if (changed.kind === 'failure') return changed;
      }
      const said = isWanted ? `Removed \`${name}\`.` : 'Nothing was removed.';
      return printout({ name, removed: isWanted, used_by: usedBy }, harmlessLine(said));
    });
  },
});
