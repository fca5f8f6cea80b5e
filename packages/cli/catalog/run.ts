// One agent under governance, from its start to its end.
import { choice, createCommand, flag, type Input, many, text, texts } from '../command.ts';

const RUN_ARGS = { command: many('the agent and its arguments, behind `--`') };
const RUN_OPTIONS = {
  'agent-id': text('id', 'the name of the agent, as policies and events call it'),
  env: choice(['dev', 'ci', 'prod'], 'where it runs; ci inside of a CI job, else dev'),
  client: choice(
    ['claude', 'codex', 'headless', 'custom'],
    'which client it is; by the name of the command unless given',
  ),
  principal: text('name', 'for whom it runs'),
  policy: text('file', 'the policy of the run: a bundle or a compiled snapshot'),
  profile: choice(
    ['production', 'development'],
    'production enforces, development only says what it would have done',
  ),
  strict: flag('exit with 3 when anything was refused, or would have been, or nobody can tell'),
  'allow-no-server': flag('with --strict: a run without a server behind a shim is no failure'),
  events: text(
    'file',
    'append the events to this file; - prints them while the agent runs; ledger and off as for sub shim',
  ),
  bundle: text('dir', 'keep the run as a trace bundle in this folder'),
  force: flag('replace a bundle that is there'),
  meta: texts('key=value', 'a word about the run, for its first event; may be repeated'),
  quiet: flag('print no line at the end'),
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
  exitCodes: {
    0: 'the agent ended well; every other code of the agent is passed on',
    2: 'wrong flags, a broken policy or configuration, or a trace that cannot be written whole',
    3: 'the run was ended, or --strict found a violation or cannot tell',
    126: 'the command of the agent cannot be executed',
    127: 'there is no such command',
    128: 'and more: 128 plus the signal that ended the agent',
    70: 'a defect in sub itself',
  },
  load: () => import('../commands/run.ts'),
});

type RunInput = Input<typeof RUN_ARGS, typeof RUN_OPTIONS>;

export type { RunInput };
export { run };
