import { openVault, rotateKey, rotateSecret } from '@subluminal/plane/vault';
import {
  badUsage,
  defineCommand,
  type Input,
  type Outcome,
  optional,
  orThrow,
  printout,
} from '../input/command.ts';
import { NO_STORE, PROTECT_OPTION } from '../input/shared-options.ts';
import { readValue, warnShort } from '../secrets/ask-person.ts';
import {
  protectionText,
  type SecretsHome,
  serversBoundTo,
  unknownSecret,
  withSecrets,
} from '../secrets/secrets-home.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmlessLine } from '../terminal/text.ts';

const ARGS = { name: optional('The secret that gets a new value') };
const OPTIONS = {
  key: 'Encrypt the whole store under a new key instead',
  protect: PROTECT_OPTION,
};
type RotateInput = Input<typeof ARGS, typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Asks for the new value, or reads it from standard input, and replaces the old one. Servers get it when they next start. With --key all values stay and are encrypted under a new key; --protect changes how that key is protected.',
  args: ARGS,
  options: OPTIONS,
  examples: [
    'sub secrets rotate github_token',
    'sub secrets rotate --key',
    'sub secrets rotate --key --protect passphrase',
  ],
  exitCodes: { 0: 'the secret or the key is rotated', 2: NO_STORE },
  requires: 'person',
  run: async (input, io) => {
    const { args, options } = input;
    const isKey = options.key;
    if (isKey && args.name !== '') {
      return badUsage('--key is about the whole store.', 'Leave the name out.');
    }
    if (!isKey && args.name === '') {
      return badUsage('no secret was named.', 'Name it, or add --key to give the store a new key.');
    }
    if (!isKey && options.protect !== undefined) {
      return badUsage('--protect is about the key of the store.', 'Add --key.');
    }
    return withSecrets(io, (found) =>
      isKey ? newKey(input, io, found) : newValue(input, io, found),
    );
  },
});

async function newValue({ args }: RotateInput, io: Io, found: SecretsHome): Promise<Outcome> {
  const { name } = args;
  // Before a value is asked for that nobody wants.
  const vault = orThrow(await openVault(found.options));
  vault?.close();
  if (!vault?.secrets.some((secret) => secret.name === name)) {
    return unknownSecret(name, ', or `sub secrets add` to store it');
  }
  const value = orThrow(await readValue(io, found.person, name));
  orThrow(await rotateSecret(found.options, { name, value: value.text }));
  warnShort(io, name, value.text);
  const usedBy = serversBoundTo(name, found.servers);
  const who = usedBy.length === 0 ? '' : ` Start again: ${usedBy.join(', ')}.`;
  return printout(
    { name, rotated: true, used_by: usedBy },
    harmlessLine(`\`${name}\` has a new value.${who}`),
  );
}

async function newKey({ options }: RotateInput, io: Io, found: SecretsHome): Promise<Outcome> {
  const changed = orThrow(await rotateKey(found.options, options.protect));
  const { protection, warning } = changed;
  if (warning !== undefined) warn(io, `${warning}.`);
  const where = protectionText(protection, found.home);
  return printout(
    { key: true, rotated: true, protection },
    harmlessLine(`The store has a new key; ${where}.`),
  );
}
