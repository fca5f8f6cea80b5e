import { failure } from '@subluminal/contracts';
import { openVault } from '@subluminal/plane/vault';
import type { SecretsGetInput } from '../catalog/secrets.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { failureOf, type SecretsHome, withSecrets } from '../secrets/store.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';

export function run(input: SecretsGetInput, io: Io): Promise<Outcome> {
  return withSecrets(io, (found) => get(input, io, found));
}

async function get(
  { args, options }: SecretsGetInput,
  io: Io,
  found: SecretsHome,
): Promise<Outcome> {
  const { name } = args;
  const { person } = found;
  if (!options.reveal && person === undefined) {
    const message = 'there is nobody to ask whether the value may be shown.';
    return failure('SUB_USAGE', message, 'Add --reveal to print it.');
  }
  const vault = await openVault(found.options);
  if (vault?.kind === 'fault') return failureOf(vault);
  const value = vault?.value(name);
  vault?.close();
  if (value === undefined) return unknown(name);
  if (typeof value !== 'string') return failureOf(value);
  const question = `Print the value of \`${harmless(name)}\`?`;
  if (!options.reveal && (await person?.agrees(question)) !== true) {
    io.err.write('sub: not printed.\n');
    return done(EXIT.fine);
  }
  // A program gets it byte for byte; on a terminal nothing of it may act.
  const shown = io.out.isTerminal ? harmless(value) : value;
  io.out.write(options.json ? jsonText({ name, value }) : `${shown}\n`);
  return done(EXIT.fine);
}

function unknown(name: string): Outcome {
  const fix = 'Run `sub secrets list` to see the names.';
  return failure('SUB_SECRET_UNKNOWN', `the store has no secret \`${name}\`.`, fix);
}
