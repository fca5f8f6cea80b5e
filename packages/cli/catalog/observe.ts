// Watching what agents do, and asking what another policy would have done.
import type { Action } from '@subluminal/contracts';
import { choice, createCommand, flag, type Input, one, text } from '../input/command.ts';

const INTERNAL = 'a defect in sub itself';

const DECISIONS = [
  'ALLOW',
  'BLOCK',
  'THROTTLE',
  'REJECT_WITH_HINT',
  'TERMINATE_RUN',
  'REFUSED',
] as const satisfies readonly (Action | 'REFUSED')[];

const TAIL_ARGS = {};
const TAIL_OPTIONS = {
  run: text('id', 'only this run; last is the newest that the ledger has'),
  agent: text('id', 'only this agent'),
  server: text('name', 'only calls to this server'),
  tool: text('name', 'only calls of this tool'),
  decision: choice(DECISIONS, 'only calls with this decision; REFUSED is every one but ALLOW'),
  backlog: text('count', 'begin with so many of the last calls that fit; 10 unless given'),
  since: text('time', 'begin at this time instead: 2026-01-31T12:00:00Z, or 15m, 2h, 3d ago'),
  'no-follow': flag('print what the ledger has, and end'),
  json: flag('print one JSON object per line: one per call, and one per notice'),
};

const tail = createCommand({
  path: ['tail'],
  summary: 'show calls as they happen',
  description:
    'Prints a line for each call when it has ended, or at once when it was refused, and one when a run starts or ends, a policy is reloaded or a breaker trips. Starts the ledger when it does not run, and goes on when it is restarted. Ctrl-C ends it. With --server, --tool or --decision, only calls are shown.',
  args: TAIL_ARGS,
  options: TAIL_OPTIONS,
  examples: [
    'sub tail',
    'sub tail --decision REFUSED --backlog 50',
    'sub tail --run last --no-follow --json',
  ],
  exitCodes: {
    0: 'ended by Ctrl-C or SIGTERM; with --no-follow, all was printed',
    2: 'wrong flags, no such run, or a ledger that cannot be read or started',
    70: INTERNAL,
  },
  load: () => import('../commands/tail.ts'),
});

const REPLAY_ARGS = { run: one('the id of the run, as `sub query --runs` lists it; or last') };
const REPLAY_OPTIONS = {
  policy: text('file', 'the bundle or snapshot to decide by; required'),
  compare: choice(
    ['action', 'would'],
    'what happened, or what enforcing policies would have done; action unless given',
  ),
  json: flag('print one JSON document instead of text'),
};

const replay = createCommand({
  path: ['replay'],
  summary: 'decide the calls of a recorded run by another policy',
  description:
    'Takes the calls of a run from the ledger, decides them by this policy and shows what would differ. Arguments are known where their preview is whole and unredacted; where a rule needs others, the answer is undetermined.',
  args: REPLAY_ARGS,
  options: REPLAY_OPTIONS,
  examples: [
    'sub replay last --policy new-policy.yaml',
    'sub replay 0198c0de-7a11-7000-8000-000000000001 --policy new-policy.yaml --json',
  ],
  exitCodes: {
    0: 'no call is treated otherwise than it was',
    1: 'at least one call is treated more strictly or more loosely',
    2: 'wrong flags, no such run, or a policy or ledger that cannot be read',
    70: INTERNAL,
  },
  load: () => import('../commands/replay.ts'),
});

export const OBSERVE_COMMANDS = [tail, replay];

export type TailInput = Input<typeof TAIL_ARGS, typeof TAIL_OPTIONS>;
export type RunReplayInput = Input<typeof REPLAY_ARGS, typeof REPLAY_OPTIONS>;
