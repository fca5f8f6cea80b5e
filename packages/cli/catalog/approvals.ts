// Calls that wait for a person, and what lasts of a person's word.
import { choice, createCommand, flag, type Input, one, text, texts } from '../input/command.ts';

const INTERNAL = 'a defect in sub itself';
const UNREADABLE = 'wrong flags, or approvals that cannot be read';
const jsonFlag = flag('print one JSON document instead of text');
const id = one('the id, or as much of its start or end as is unique');
const noteOption = text('text', 'why; it is recorded');
const STATES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const;

const LIST_ARGS = {};
const LIST_OPTIONS = {
  all: flag('also those that have ended'),
  state: choice(STATES, 'only those in this state'),
  json: jsonFlag,
};

const list = createCommand({
  path: ['approvals', 'list'],
  summary: 'list the calls that wait for approval',
  description:
    'Lists the calls that wait for a person, oldest first; with --all or --state also those that have ended. `sub approvals` alone does the same.',
  args: LIST_ARGS,
  options: LIST_OPTIONS,
  examples: ['sub approvals list', 'sub approvals', 'sub approvals --state rejected --json'],
  exitCodes: {
    0: 'they were listed',
    1: 'they were listed, and files of others are damaged',
    2: UNREADABLE,
    70: INTERNAL,
  },
  load: () => import('../commands/approvals.ts'),
});

const WATCH_ARGS = {};
const WATCH_OPTIONS = {
  json: flag('print one JSON object per line: one per request, and one per end'),
};

const watch = createCommand({
  path: ['approvals', 'watch'],
  summary: 'show calls that need approval as they come, and decide',
  description:
    'Shows each call that waits, in full, one after the other. On a terminal a key decides: a approves, r rejects, g grants for longer, q ends. Elsewhere, and with --json, it only tells. Ctrl-C ends it.',
  args: WATCH_ARGS,
  options: WATCH_OPTIONS,
  examples: ['sub approvals watch', 'sub approvals watch --json'],
  exitCodes: { 0: 'ended by q, Ctrl-C or SIGTERM', 2: UNREADABLE, 70: INTERNAL },
  load: () => import('../commands/approvals-watch.ts'),
});

const SHOW_ARGS = { id };
const SHOW_OPTIONS = { json: jsonFlag };

const show = createCommand({
  path: ['approvals', 'show'],
  summary: 'show one call that waits or has waited, in full',
  description:
    'Shows the call with all of its arguments (secrets are taken out), who wants it, which rule asks and why, and how it has ended.',
  args: SHOW_ARGS,
  options: SHOW_OPTIONS,
  examples: ['sub approvals show 3f9a1c20', 'sub approvals show 3f9a1c20 --json'],
  exitCodes: { 0: 'it was shown', 2: 'wrong flags, or no such approval', 70: INTERNAL },
  load: () => import('../commands/approvals-show.ts'),
});

const APPROVE_ARGS = { id };
const APPROVE_OPTIONS = {
  note: noteOption,
  run: flag('grant it for the rest of this run'),
  for: text('time', 'grant it for that long, in any run: 30m, 2h, 1d'),
  always: flag('grant it until the grant is revoked'),
  'any-args': flag('the grant covers any arguments, not only these'),
  like: texts('name=glob', 'the grant lets this argument be any text like the glob'),
  free: texts('name', 'the grant lets this argument be anything, or be absent'),
  'dry-run': flag('say what the grant would cover, and approve nothing'),
  json: jsonFlag,
};

const approve = createCommand({
  path: ['approvals', 'approve'],
  summary: 'let a call pass that waits for approval',
  description:
    'Approves exactly this call. With --run, --for or --always it also gives a grant, so that nobody is asked again for the same arguments, or for those that --like, --free or --any-args allow; the grant is told in words, exactly as it will match, and `sub grants` lists it. It needs a terminal that a person sits at, outside of any governed run: an agent may not approve its own calls.',
  args: APPROVE_ARGS,
  options: APPROVE_OPTIONS,
  examples: [
    'sub approvals approve 3f9a1c20',
    'sub approvals approve 3f9a1c20 --run --note reviewed',
    "sub approvals approve 3f9a1c20 --for 30m --like 'path=src/*' --free content",
    'sub approvals approve 3f9a1c20 --always --dry-run',
  ],
  exitCodes: {
    0: 'it is approved',
    1: 'it had ended before; nothing was changed',
    2: 'wrong flags, no such approval, no such grant, no terminal, or started inside a run',
    70: INTERNAL,
  },
  requires: 'terminal',
  load: () => import('../commands/approvals-approve.ts'),
});

const REJECT_ARGS = { id };
const REJECT_OPTIONS = { note: noteOption, json: jsonFlag };

const reject = createCommand({
  path: ['approvals', 'reject'],
  summary: 'refuse a call that waits for approval',
  description: 'Refuses the call; the agent is told so at once when it waits.',
  args: REJECT_ARGS,
  options: REJECT_OPTIONS,
  examples: [
    'sub approvals reject 3f9a1c20',
    "sub approvals reject 3f9a1c20 --note 'not on Friday'",
  ],
  exitCodes: {
    0: 'it is rejected',
    1: 'it had ended before; nothing was changed',
    2: 'wrong flags, no such approval, no terminal, or started inside a run',
    70: INTERNAL,
  },
  requires: 'terminal',
  load: () => import('../commands/approvals-reject.ts'),
});

const GRANTS_ARGS = {};
const GRANTS_OPTIONS = {
  all: flag('also those that were used up, have expired or were revoked'),
  json: jsonFlag,
};

const grants = createCommand({
  path: ['grants', 'list'],
  summary: 'list what was granted for longer than one call',
  description:
    'Lists the grants that are in force: who gave each, when and why, when it ends, and in words what it covers. `sub grants` alone does the same.',
  args: GRANTS_ARGS,
  options: GRANTS_OPTIONS,
  examples: ['sub grants list', 'sub grants', 'sub grants --all --json'],
  exitCodes: {
    0: 'they were listed',
    1: 'they were listed, and files of others are damaged',
    2: UNREADABLE,
    70: INTERNAL,
  },
  load: () => import('../commands/grants.ts'),
});

const REVOKE_ARGS = { id };
const REVOKE_OPTIONS = { json: jsonFlag };

const revoke = createCommand({
  path: ['grants', 'revoke'],
  summary: 'take a grant back',
  description: 'Takes a grant back, for good and for every process at once.',
  args: REVOKE_ARGS,
  options: REVOKE_OPTIONS,
  examples: ['sub grants revoke 9f8e7d6c'],
  exitCodes: {
    0: 'it is revoked',
    1: 'it had ended before; nothing was changed',
    2: 'wrong flags, no such grant, no terminal, or started inside a run',
    70: INTERNAL,
  },
  requires: 'terminal',
  load: () => import('../commands/grants-revoke.ts'),
});

export const APPROVAL_GROUPS = [
  {
    name: 'approvals',
    summary: 'calls that wait for a person: look at them and decide',
    description: 'Calls that wait for a person. Without a command, they are listed.',
    fallback: 'list',
  },
  {
    name: 'grants',
    summary: 'what was granted for longer than one call',
    description: 'What was granted for longer than one call. Without a command, it is listed.',
    fallback: 'list',
  },
] as const;

export const APPROVAL_COMMANDS = [list, watch, show, approve, reject, grants, revoke];

export type ApprovalsInput = Input<typeof LIST_ARGS, typeof LIST_OPTIONS>;
export type ApprovalsWatchInput = Input<typeof WATCH_ARGS, typeof WATCH_OPTIONS>;
export type ApprovalsShowInput = Input<typeof SHOW_ARGS, typeof SHOW_OPTIONS>;
export type ApproveInput = Input<typeof APPROVE_ARGS, typeof APPROVE_OPTIONS>;
export type RejectInput = Input<typeof REJECT_ARGS, typeof REJECT_OPTIONS>;
export type GrantsInput = Input<typeof GRANTS_ARGS, typeof GRANTS_OPTIONS>;
export type GrantsRevokeInput = Input<typeof REVOKE_ARGS, typeof REVOKE_OPTIONS>;
