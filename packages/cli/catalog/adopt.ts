// Agents that are set up already: how their servers come under governance, and out of it again.
import { choice, createCommand, flag, type Input, maybe, text, texts } from '../input/command.ts';
import { CLIENT_NAMES } from './run.ts';

const INTERNAL = 'a defect in sub itself';
const CLIENTS = CLIENT_NAMES.join(', ');

const jsonFlag = flag('print one JSON document instead of text');
const projectOption = text('dir', 'the folder of the project; the current one unless given');
const configPath = text('file', 'this config, instead of those that the client has');
const dryRun = flag('print what would change, and change nothing');
const yes = flag('do not ask');

const IMPORT_ARGS = { client: maybe(`the client: ${CLIENTS}; all that are found unless given`) };
const IMPORT_OPTIONS = {
  'dry-run': dryRun,
  project: projectOption,
  server: texts('name', 'only this server; may be repeated'),
  policy: text('file', 'the policy of these servers; found from where they run unless given'),
  profile: choice(
    ['production', 'development'],
    'production enforces, development only says what it would have done',
  ),
  'config-path': configPath,
  'user-only': flag('leave out the files that belong to the project and are shared with it'),
  'move-secrets': flag('move plain-text secrets of their env into the encrypted store, unasked'),
  'keep-secrets': flag('leave plain-text secrets where they are, and do not offer to move them'),
  yes,
  json: jsonFlag,
};

const importCommand = createCommand({
  path: ['import'],
  summary: 'put the servers of an agent client under governance, for good',
  description:
    'Shows how the config of the client would change, asks, and makes each of its stdio servers start behind `sub shim`. Nothing else in the file changes, and `sub restore` takes it back byte for byte. Servers that are reached by an address are not governed yet. What is governed already stays so; --policy and --profile change it, too. On a terminal it offers to move secrets that stand in plain text in the env of these servers into the store of `sub secrets`; --yes alone moves none.',
  args: IMPORT_ARGS,
  options: IMPORT_OPTIONS,
  examples: [
    'sub import',
    'sub import claude --dry-run',
    'sub import codex --policy policy.yaml --yes',
    'sub import custom --config-path mcp.json --server files',
    'sub import claude --move-secrets --yes',
  ],
  exitCodes: {
    0: 'it is done, or there was nothing to do, or you said no',
    2: 'wrong flags, nobody to ask, a config that cannot be read or changed, no such client or server, or secrets that were to move and cannot',
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/import.ts'),
});

const RESTORE_ARGS = { client: maybe(`the client: ${CLIENTS}`) };
const RESTORE_OPTIONS = {
  all: flag('every client'),
  'dry-run': dryRun,
  project: text('dir', 'only the configs inside of this folder; all of them unless given'),
  'config-path': configPath,
  forget: flag('drop the record of a config that was deleted on purpose, and keep what it was'),
  yes,
  json: jsonFlag,
};

const restore = createCommand({
  path: ['restore'],
  summary: 'take the servers of an agent client out of governance again',
  description:
    'Puts the config back as it was before `sub import`, byte for byte. What another program has changed in it since stays. Secrets that were moved into the store come back into the config. Also takes shims out of a config that there is no record of.',
  args: RESTORE_ARGS,
  options: RESTORE_OPTIONS,
  examples: [
    'sub restore claude',
    'sub restore --all --yes',
    'sub restore custom --config-path mcp.json',
  ],
  exitCodes: {
    0: 'it is done, or there was nothing to do, or you said no',
    2: 'wrong flags, nobody to ask, a config that cannot be put back safely, or a secret of it that the store has no more',
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/restore.ts'),
});

const STATUS_ARGS = {};
const STATUS_OPTIONS = { project: projectOption, json: jsonFlag };

const status = createCommand({
  path: ['status'],
  summary: 'show which servers of which agent clients are governed',
  description:
    'Lists the configs of the agent clients of this user and project, and every other one that `sub import` has changed, their servers, whether calls to them are governed and the servers can start, by which policy, how many of their secrets come from the store, and when the last call was seen. It shows no value of any config but how `sub` itself is started.',
  args: STATUS_ARGS,
  options: STATUS_OPTIONS,
  examples: ['sub status', 'sub status --json'],
  exitCodes: {
    0: 'the state was printed',
    2: 'wrong flags, or a ledger that cannot be read',
    70: INTERNAL,
  },
  load: () => import('../commands/status.ts'),
});

const UNWRAP_ARGS = {};
const UNWRAP_OPTIONS = {
  all: flag('also the configs of other projects than this one'),
  json: jsonFlag,
};

const unwrap = createCommand({
  path: ['unwrap'],
  summary: 'put back the configs that a `sub wrap` has left rewritten',
  description:
    'Puts back what a `sub wrap` that was killed, or that was told --no-restore, has left. The config of a `sub wrap` that still runs is left alone: end that one first.',
  args: UNWRAP_ARGS,
  options: UNWRAP_OPTIONS,
  examples: ['sub unwrap', 'sub unwrap --all'],
  exitCodes: {
    0: 'nothing is rewritten any more',
    1: 'configs of other projects, or of another SUB_HOME, are still rewritten',
    2: 'wrong flags, a `sub wrap` that still runs, or a config that cannot be put back safely',
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/unwrap.ts'),
});

export const ADOPT_COMMANDS = [importCommand, restore, status, unwrap];

export type ImportInput = Input<typeof IMPORT_ARGS, typeof IMPORT_OPTIONS>;
export type RestoreInput = Input<typeof RESTORE_ARGS, typeof RESTORE_OPTIONS>;
export type StatusInput = Input<typeof STATUS_ARGS, typeof STATUS_OPTIONS>;
export type UnwrapInput = Input<typeof UNWRAP_ARGS, typeof UNWRAP_OPTIONS>;
