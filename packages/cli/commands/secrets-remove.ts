import { failure } from '@subluminal/contracts';
import { openVault, removeSecret } from '@subluminal/plane/vault';
import type { SecretsRemoveInput } from '../catalog/secrets.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { failureOf, type SecretsHome, usersOf, withSecrets } from '../secrets/store.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';

export function run(input: SecretsRemoveInput, io: Io): Promise<Outcome> {
  return withSecrets(io, (found) => remove(input, io, found));
}

async function remove(
  { args, options }: SecretsRemoveInput,
  io: Io,
  found: SecretsHome,
): Promise<Outcome> {
  const { name } = args;
  const { person } = found;
  if (!options.yes && person === undefined) {
    return failure('SUB_USAGE', 'there is nobody to ask: this is no terminal.', 'Add --yes.');
  }
  const vault = await openVault(found.options);
  if (vault?.kind === 'fault') return failureOf(vault);
  vault?.close();
  if (!vault?.secrets.some((secret) => secret.name === name)) {
    const fix = 'Run `sub secrets list` to see the names.';
    return failure('SUB_SECRET_UNKNOWN', `the store has no secret \`${name}\`.`, fix);
  }
  const usedBy = usersOf(name, found.servers);
  if (usedBy.length > 0) io.err.write(`sub: bound to ${harmless(usedBy.join(', '))}.\n`);
  const question = `Remove \`${harmless(name)}\` for good?`;
  const isWanted = options.yes || (await person?.agrees(question)) === true;
  if (isWanted) {
    const changed = await removeSecret(found.options, name);
    if (changed.kind === 'fault') return failureOf(changed);
  }
  const said = isWanted ? `Removed \`${name}\`.` : 'Nothing was removed.';
  io.out.write(
    options.json ? jsonText({ name, removed: isWanted, used_by: usedBy }) : `${harmless(said)}\n`,
  );
  return done(EXIT.fine);
}
