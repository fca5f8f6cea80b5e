// One agent under governance, from its start to its end.
import { choice, createCommand, flag, type Input, many, text, texts } from '../input/command.ts';

export const CLIENT_NAMES = [
  'claude-code',
  'claude-desktop',
  'codex',
  'cursor',
  'vscode',
  'windsurf',
  'zed',
  'custom',
] as const;

const INTERNAL = 'a defect in sub itself';

const RUN_ARGS = { command: many('the agent and its arguments, behind `--`') };
const RUN_OPTIONS = {
  'agent-id': text('id', 'the name of the agent, as policies and events call it'),
  env: choice(['dev', 'ci', 'prod'], 'where it runs; ci inside of a CI job, else dev'),
  client: choice(
    ['claude', 'codex', 'headless', 'custom'],
    'which client it is; by the name of the command unless given',
  ),
  principal: text('name', 'for whom it runs'),
  policy: text(
    'file',
    'the policy of the run: a bundle or a compiled snapshot; a server whose entry names its own keeps that',
  ),
  trust: flag(
    'trust the policy of the project for this run, as SUB_TRUST=1 does; `sub trust` does it for good',
  ),
  cedar: text('path', 'Cedar policies that each call needs the permit of: a folder or a file'),
  profile: choice(
    ['production', 'development'],
    'production enforces, development only says what it would have done',
  ),
  strict: flag(
    'exit with 3 when anything was refused, or would have been, when a policy was loosened meanwhile, or nobody can tell',
  ),
  'allow-no-server': flag('with --strict: a run without a server behind a shim is no failure'),
  events: text(
    'file',
    'append the events to this file; - prints them while the agent runs; ledger and off as for sub shim',
  ),
  bundle: text('dir', 'keep the run as a trace bundle in this folder'),
  force: flag('replace a bundle that is there'),
  meta: texts('key=value', 'a word about the run, for its first event; may be repeated'),
  verbose: flag('let the shims say all that they do, on stderr'),
  quiet: flag('print no line at the end'),
};

const RUN_EXIT_CODES = {
  0: 'the agent ended well; every other code of the agent is passed on',
  2: 'wrong flags, a broken policy or configuration, or a trace that cannot be written whole',
  3: 'the run was ended, or --strict found a violation or a loosened policy, or cannot tell',
  126: 'the command of the agent cannot be executed',
  127: 'there is no such command',
  128: 'and more: 128 plus the signal that ended the agent',
  70: INTERNAL,
};

const run = createCommand({
  path: ['run'],
  summary: 'run an agent under governance',
  description:
    'Starts the agent on this terminal and gives its shims one run: one id, one identity, shared budgets. Ends with the exit code of the agent. The events go to the ledger unless --events or --bundle says otherwise.',
  args: RUN_ARGS,
  options: RUN_OPTIONS,
  examples: [
    'sub run -- claude',
    'sub run --agent-id repo-fixer --policy policy.yaml -- codex exec fix',
    'sub run --strict --env ci --bundle trace -- ./agent.sh',
  ],
  exitCodes: RUN_EXIT_CODES,
  load: () => import('../commands/run.ts'),
});

const WRAP_OPTIONS = {
  'agent-type': choice(
    ['claude', ...CLIENT_NAMES],
    'which client the agent is; by the name of the command unless given',
  ),
  'config-path': text('file', 'the config of the agent, instead of those that the client has'),
  'governance-port': text(
    'port',
    'let the hub listen on this port of 127.0.0.1, 0 for a free one; a private socket unless given',
  ),
  'no-restore': flag('leave the config as it was rewritten; `sub unwrap` puts it back'),
  'dry-run': flag('print how the config would change, and do nothing'),
  ...RUN_OPTIONS,
};

const wrap = createCommand({
  path: ['wrap'],
  summary: 'run an agent under governance, its servers put behind shims for as long as it runs',
  description:
    'Finds the config of the agent, makes each of its stdio servers start behind a shim, starts the agent on this terminal as `sub run` does, and puts the config back when the agent has ended, however that comes about. What another program changed in the config meanwhile stays. Should `sub wrap` itself be killed, the next `sub` command that may change something puts the config back.',
  args: RUN_ARGS,
  options: WRAP_OPTIONS,
  examples: [
    'sub wrap -- claude',
    'sub wrap --dry-run -- codex',
    'sub wrap --policy policy.yaml --profile development -- cursor .',
    'sub wrap --agent-type custom --config-path mcp.json -- ./my-agent',
  ],
  exitCodes: {
    ...RUN_EXIT_CODES,
    2: 'wrong flags, a broken policy or configuration, a config that cannot be wrapped or put back, or a trace that cannot be written whole',
  },
  load: () => import('../commands/wrap.ts'),
});

export const RUN_COMMANDS = [run, wrap];

export type RunInput = Input<typeof RUN_ARGS, typeof RUN_OPTIONS>;
export type WrapInput = Input<typeof RUN_ARGS, typeof WRAP_OPTIONS>;
