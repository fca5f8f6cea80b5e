import { choice, createCommand, flag, type Input, maybe, one } from '../input/command.ts';

const INTERNAL = 'a defect in sub itself';
const NO_STORE =
  'wrong flags, nobody to ask, no such secret, or a store that cannot be unlocked, read or written';
const jsonFlag = flag('print JSON instead of text');
const protect = choice(
  ['keychain', 'passphrase', 'file'],
  'what protects the key: the keychain of the system, a passphrase, or a file of mode 0600',
);

const ADD_ARGS = { name: one('what bindings call it: letters, digits, `_`, `-` and `.`') };
const ADD_OPTIONS = { protect, json: jsonFlag };

const add = createCommand({
  path: ['secrets', 'add'],
  summary: 'store a secret, encrypted',
  description:
    'Asks for the value without showing it, or reads it from standard input; one newline at its end is cut. It is never taken from the command line. The first secret makes the store, `vault.db` in the home. Its key goes into the keychain of the system, else it comes from a passphrase, else it is the file `vault.key`; --protect chooses.',
  args: ADD_ARGS,
  options: ADD_OPTIONS,
  examples: [
    'sub secrets add github_token',
    'sub secrets add github_token --protect passphrase',
    'cat key.pem | sub secrets add app.key',
  ],
  exitCodes: { 0: 'it is stored', 2: NO_STORE, 70: INTERNAL },
  requires: 'person',
  load: () => import('../commands/secrets-add.ts'),
});

const GET_ARGS = { name: one('the name of the secret') };
const GET_OPTIONS = {
  reveal: flag('print it without asking, also where there is nobody to ask'),
  json: jsonFlag,
};

const get = createCommand({
  path: ['secrets', 'get'],
  summary: 'print a secret of the store',
  description:
    'Prints the value on standard output, with a newline behind it. On a terminal it asks first, because whoever looks over your shoulder can read it.',
  args: GET_ARGS,
  options: GET_OPTIONS,
  examples: ['sub secrets get github_token', 'sub secrets get github_token --reveal'],
  exitCodes: { 0: 'it was printed, or you said no', 2: NO_STORE, 70: INTERNAL },
  requires: 'person',
  load: () => import('../commands/secrets-get.ts'),
});

const LIST_ARGS = {};
const LIST_OPTIONS = { json: jsonFlag };

const list = createCommand({
  path: ['secrets', 'list'],
  summary: 'list the secrets of the store, never their values',
  description:
    'Lists names, when each was added and rotated, and which servers are bound to it. Says what protects the key of the store. The whole store is checked first: a list that somebody has changed is not shown.',
  args: LIST_ARGS,
  options: LIST_OPTIONS,
  examples: ['sub secrets list', 'sub secrets list --json'],
  exitCodes: { 0: 'the list was printed, also when it is empty', 2: NO_STORE, 70: INTERNAL },
  load: () => import('../commands/secrets-list.ts'),
});

const REMOVE_ARGS = { name: one('the name of the secret') };
const REMOVE_OPTIONS = { yes: flag('do it without asking'), json: jsonFlag };

const remove = createCommand({
  path: ['secrets', 'remove'],
  summary: 'remove a secret from the store, for good',
  description:
    'Names the servers that are bound to it, asks, and removes it. In production, those servers do not start any more.',
  args: REMOVE_ARGS,
  options: REMOVE_OPTIONS,
  examples: ['sub secrets remove github_token', 'sub secrets remove github_token --yes'],
  exitCodes: { 0: 'it is removed, or you said no', 2: NO_STORE, 70: INTERNAL },
  requires: 'person',
  load: () => import('../commands/secrets-remove.ts'),
});

const ROTATE_ARGS = { name: maybe('the secret that gets a new value') };
const ROTATE_OPTIONS = {
  key: flag('encrypt the whole store under a new key instead'),
  protect,
  json: jsonFlag,
};

const rotate = createCommand({
  path: ['secrets', 'rotate'],
  summary: 'give a secret a new value, or the store a new key',
  description:
    'Asks for the new value, or reads it from standard input. It replaces the old one, and the list tells when. Servers get it when they start again. With --key all values stay, and are encrypted under a new key; --protect changes what protects it.',
  args: ROTATE_ARGS,
  options: ROTATE_OPTIONS,
  examples: [
    'sub secrets rotate github_token',
    'sub secrets rotate --key',
    'sub secrets rotate --key --protect passphrase',
  ],
  exitCodes: { 0: 'it is rotated', 2: NO_STORE, 70: INTERNAL },
  requires: 'person',
  load: () => import('../commands/secrets-rotate.ts'),
});

export const SECRETS_COMMANDS = [add, get, list, remove, rotate];

export type SecretsAddInput = Input<typeof ADD_ARGS, typeof ADD_OPTIONS>;
export type SecretsGetInput = Input<typeof GET_ARGS, typeof GET_OPTIONS>;
export type SecretsListInput = Input<typeof LIST_ARGS, typeof LIST_OPTIONS>;
export type SecretsRemoveInput = Input<typeof REMOVE_ARGS, typeof REMOVE_OPTIONS>;
export type SecretsRotateInput = Input<typeof ROTATE_ARGS, typeof ROTATE_OPTIONS>;
