import { failure, isFailure } from '@subluminal/contracts';
import { addSecret, isSecretName } from '@subluminal/plane/vault';
import type { SecretsAddInput } from '../catalog/secrets.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import {
  failureOf,
  protectionText,
  type SecretsHome,
  tryOpen,
  withSecrets,
} from '../secrets/store.ts';
import { readValue, warnShort } from '../secrets/value.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';

export async function run(input: SecretsAddInput, io: Io): Promise<Outcome> {
  const { name } = input.args;
  // Before anything is asked; and not repeated, because it may be the secret itself.
  if (!isSecretName(name)) {
    const fix = 'Write letters, digits, `_`, `-` and `.`, at most 128, no dot or dash first.';
    return failure('SUB_USAGE', 'that is no name of a secret.', fix);
  }
  return withSecrets(io, (found) => add(input, io, found));
}

async function add(
  { args, options }: SecretsAddInput,
  io: Io,
  found: SecretsHome,
): Promise<Outcome> {
  const { name } = args;
  const locked = await tryOpen(found.options);
  if (locked !== undefined) return failureOf(locked);
  const value = await readValue({ io, person: found.person, name });
  if (isFailure(value)) return value;
  const { protect } = options;
  const secret = { name, value: value.text, ...(protect !== undefined && { protect }) };
  const unsafe = found.makeHome();
  if (unsafe !== undefined) return unsafe;
  const changed = await addSecret(found.options, secret);
  if (changed.kind === 'fault') return failureOf(changed);
  const { protection, isNew } = changed;
  if (protect !== undefined && protect !== protection) {
    const how = `Run \`sub secrets rotate --key --protect ${protect}\` to change that.`;
    io.err.write(`sub: the store has its key already. ${how}\n`);
  }
  warnShort(io, name, value.text);
  const made = isNew ? ` in a new store; ${protectionText(protection, found.home)}` : '';
  io.out.write(
    options.json
      ? jsonText({ name, added: true, protection, new_store: isNew })
      : `${harmless(`Stored \`${name}\`${made}.`)}\n`,
  );
  return done(EXIT.fine);
}
