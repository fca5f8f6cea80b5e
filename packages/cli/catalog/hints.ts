// Hints that agents were given, and how one becomes a rule.
import { createCommand, flag, type Input, maybe, one, text, texts } from '../input/command.ts';

const INTERNAL = 'a defect in sub itself';
const jsonFlag = flag('print one JSON document instead of text');
const runOption = text('run', 'only hints of this run; `last` is the one that began last');

const LIST_ARGS = {};
const LIST_OPTIONS = {
  run: runOption,
  limit: text('count', 'how many at most; 50'),
  json: jsonFlag,
};

const list = createCommand({
  path: ['hints', 'list'],
  summary: 'list the hints that agents were given',
  description:
    'Lists calls that were refused with a hint, newest first: which rule refused them, and what the agent was told. `sub hints` alone does the same.',
  args: LIST_ARGS,
  options: LIST_OPTIONS,
  examples: ['sub hints list', 'sub hints', 'sub hints --run last --json'],
  exitCodes: { 0: 'they were listed', 2: 'wrong flags, or no ledger', 70: INTERNAL },
  load: () => import('../commands/hints.ts'),
});

const PROMOTE_ARGS = {
  id: one('the id of the hint, or as much of its start or end as is unique'),
  file: maybe('with --policy: the bundle to change; the one that holds here without it'),
};
const PROMOTE_OPTIONS = {
  session: flag('for the rest of this run only'),
  policy: flag('write a rule into the policy'),
  run: runOption,
  'any-args': flag('any arguments, not only those of the call'),
  like: texts('name=glob', 'a grant lets this argument be any text like the glob'),
  free: texts('name', 'a grant lets this argument be anything, or be absent'),
  'dry-run': flag('show what would be done, and do nothing'),
  yes: flag('do not ask'),
  json: jsonFlag,
};

const promote = createCommand({
  path: ['hints', 'promote'],
  summary: 'let a call pass from now on that was refused with a hint',
  description:
    'With --session it gives a grant for the rest of the run, where the rule asks people. With --policy it puts an allow rule for exactly this call, agent and environment in front of the rule that refused it; the change is shown as a diff, and nothing else of the file is touched. With both, that rule holds for this run only. It asks before it does anything, and cannot be used inside a governed run.',
  args: PROMOTE_ARGS,
  options: PROMOTE_OPTIONS,
  examples: [
    'sub hints promote 3f9a1c20 --session',
    'sub hints promote 3f9a1c20 --policy',
    'sub hints promote 3f9a1c20 --policy policy.yaml --dry-run',
    'sub hints promote 3f9a1c20 --policy --session --yes',
  ],
  exitCodes: {
    0: 'it is done, or was shown',
    1: 'nothing was changed: it was declined',
    2: 'wrong flags, no such hint, or it cannot be done',
    70: INTERNAL,
  },
  requires: 'terminal',
  load: () => import('../commands/hints-promote.ts'),
});

export const HINT_GROUPS = [
  {
    name: 'hints',
    summary: 'hints that agents were given, and how one becomes a rule',
    description: 'Calls that were refused with a hint. Without a command, they are listed.',
    fallback: 'list',
  },
] as const;

export const HINT_COMMANDS = [list, promote];

export type HintsInput = Input<typeof LIST_ARGS, typeof LIST_OPTIONS>;
export type HintsPromoteInput = Input<typeof PROMOTE_ARGS, typeof PROMOTE_OPTIONS>;
