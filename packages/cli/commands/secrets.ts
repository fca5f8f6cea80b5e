// `sub secrets`: the encrypted secrets of servers.
import { ensurePrivateFolder } from '@subluminal/plane/config';
import {
  addSecret,
  isSecretName,
  openVault,
  removeSecret,
  rotateKey,
  rotateSecret,
} from '@subluminal/plane/vault';
import {
  badUsage,
  defineCommand,
  done,
  EXIT,
  type Input,
  type Outcome,
  optional,
  orThrow,
  printout,
} from '../input/command.ts';
import { NO_STORE, PROTECT_OPTION, YES_FLAG } from '../input/shared-options.ts';
import { readValue, warnShort } from '../secrets/ask-person.ts';
import {
  protectionText,
  type SecretsHome,
  serversBoundTo,
  tryOpen,
  unknownSecret,
  withSecrets,
} from '../secrets/secrets-home.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { tableText } from '../terminal/table.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';

export const add = defineCommand({
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
      await tryOpen(found.options);
      const value = orThrow(await readValue(io, found.person, name));
      const { protect } = options;
      const secret = { name, value: value.text, ...(protect !== undefined && { protect }) };
      orThrow(ensurePrivateFolder(found.home));
      const { protection, isNew } = orThrow(await addSecret(found.options, secret));
      if (protect !== undefined && protect !== protection) {
        const how = `Run \`sub secrets rotate --key --protect ${protect}\` to change that.`;
        warn(io, `the store has its key already. ${how}`);
      }
      warnShort(io, name, value.text);
      const made = isNew ? ` in a new store; ${protectionText(protection, found.home)}` : '';
      const document = { name, added: true, protection, new_store: isNew };
      return printout(document, harmlessLine(`Stored \`${name}\`${made}.`));
    });
  },
});

export const get = defineCommand({
  description:
    'Prints the value on standard output, followed by a newline. On a terminal it asks first, because others may see the screen.',
  args: { name: 'The name of the secret' },
  options: { reveal: 'Print it without asking, also without a terminal' },
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

const COLUMNS = [
  { title: 'name', widthMin: 16 },
  'added',
  { title: 'rotated', dropped: 1 },
  { title: 'used by', widthMin: 12 },
];

export const list = defineCommand({
  description:
    'Lists names, when each secret was added and rotated, and which servers are bound to it. Reports how the key of the store is protected. Checks the whole store first: a store that was tampered with is not listed.',
  examples: ['sub secrets list', 'sub secrets list --json'],
  exitCodes: { 0: 'the list is printed; it may be empty', 2: NO_STORE },
  run: async (_input, io) => {
    return withSecrets(io, async (found) => {
      const vault = orThrow(await openVault(found.options));
      vault?.close();
      const secrets = (vault?.secrets ?? []).map((secret) => ({
        ...secret,
        usedBy: serversBoundTo(secret.name, found.servers),
      }));
      const listed = secrets.map(({ name, addedAt, rotatedAt, usedBy }) => {
        return { name, added_at: addedAt, rotated_at: rotatedAt, used_by: usedBy };
      });
      const document = { protection: vault?.protection ?? null, secrets: listed };
      if (vault === undefined) {
        const none = 'There is no store of secrets yet; `sub secrets add NAME` makes it.\n';
        return printout(document, none);
      }
      const rows = secrets.map(({ name, addedAt, rotatedAt, usedBy }) => {
        return [name, day(addedAt), day(rotatedAt), usedBy.join(', ')];
      });
      const table = rows.length > 0 ? tableText(COLUMNS, rows, { width: io.out.columns }) : '';
      const where = protectionText(vault.protection, found.home);
      const count = plural(rows.length, 'secret');
      return printout(document, table + harmlessLine(`${count}; ${where}.`));
    });
  },
});

/** To the minute; JSON has the rest. */
function day(time: string | null): string | null {
  return time && `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}

export const remove = defineCommand({
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
      if (isWanted) orThrow(await removeSecret(found.options, name));
      const said = isWanted ? `Removed \`${name}\`.` : 'Nothing was removed.';
      return printout({ name, removed: isWanted, used_by: usedBy }, harmlessLine(said));
    });
  },
});

const ROTATE_ARGS = { name: optional('The secret that gets a new value') };
const ROTATE_OPTIONS = {
  key: 'Encrypt the whole store under a new key instead',
  protect: PROTECT_OPTION,
};
type RotateInput = Input<typeof ROTATE_ARGS, typeof ROTATE_OPTIONS>;

export const rotate = defineCommand({
  description:
    'Asks for the new value, or reads it from standard input, and replaces the old one. Servers get it when they next start. With --key all values stay and are encrypted under a new key; --protect changes how that key is protected.',
  args: ROTATE_ARGS,
  options: ROTATE_OPTIONS,
  examples: [
    'sub secrets rotate github_token',
    'sub secrets rotate --key',
    'sub secrets rotate --key --protect passphrase',
  ],
  exitCodes: { 0: 'the secret or the key is rotated', 2: NO_STORE },
  requires: 'person',
  run: async (input, io) => {
    const { name } = input.args;
    const { key, protect } = input.options;
    if (key && name !== '') {
      return badUsage('--key is about the whole store.', 'Leave the name out.');
    }
    if (!key && name === '') {
      return badUsage('no secret was named.', 'Name it, or add --key to give the store a new key.');
    }
    if (!key && protect !== undefined) {
      return badUsage('--protect is about the key of the store.', 'Add --key.');
    }
    return withSecrets(io, (found) =>
      key ? newKey(input, io, found) : newValue(input, io, found),
    );
  },
});

async function newValue({ args }: RotateInput, io: Io, found: SecretsHome): Promise<Outcome> {
  const { name } = args;
  // Before the value is asked for: the secret must exist.
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
  const document = { name, rotated: true, used_by: usedBy };
  return printout(document, harmlessLine(`\`${name}\` has a new value.${who}`));
}

async function newKey({ options }: RotateInput, io: Io, found: SecretsHome): Promise<Outcome> {
  const { protection, warning } = orThrow(await rotateKey(found.options, options.protect));
  if (warning !== undefined) warn(io, `${warning}.`);
  const where = protectionText(protection, found.home);
  const text = harmlessLine(`The store has a new key; ${where}.`);
  return printout({ key: true, rotated: true, protection }, text);
}
