// `sub approvals`: list, show and decide the calls that wait for a person.
import { grantFor } from '@subluminal/plane/approvals';
import {
  decideRequest,
  findRequest,
  isAskerGone,
  openOwnDesk,
  ownVerdict,
  warnOfDamage,
} from '../approvals/desk.ts';
import { readGrantFlags } from '../approvals/grant-flags.ts';
import { entryJson, listText, newGrantText, requestText } from '../approvals/render-approval.ts';
import {
  badUsage,
  choice,
  defineCommand,
  EXIT,
  orThrow,
  printout,
  textOption,
  textsOption,
} from '../input/command.ts';
import { ID_DOC, NOTE_OPTION } from '../input/shared-options.ts';

const STATES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const;

export const list = defineCommand({
  description:
    'Lists the calls that wait for a person, oldest first; with --all or --state also those that have ended. `sub approvals` alone does the same.',
  options: {
    all: 'Also list approvals that have ended',
    state: choice(STATES, 'Only approvals in this state'),
  },
  examples: ['sub approvals list', 'sub approvals', 'sub approvals --state rejected --json'],
  exitCodes: {
    0: 'the approvals are listed',
    1: 'the approvals are listed, and some files are damaged',
    2: 'wrong flags, or approvals that cannot be read',
  },
  run: async ({ options }, io) => {
    const desk = openOwnDesk(io);
    const state = options.state ?? (options.all ? undefined : 'pending');
    const all = orThrow(desk.queue.list(state === undefined ? {} : { state }));
    const { found, cut } = all;
    const damaged = warnOfDamage(all.damaged, io);
    if (cut) io.err.write('sub: there are more files than are read; not all are listed.\n');
    const approvals = found.map((entry) => entryJson(entry, isAskerGone(entry)));
    const none = state === 'pending' ? 'Nothing waits for approval.\n' : 'There is none.\n';
    const text =
      found.length === 0
        ? none
        : listText(found, { nowMs: desk.ports.nowMs(), isAskerGone }, io.out);
    return printout({ approvals, damaged }, text, damaged.length > 0 ? EXIT.findings : EXIT.fine);
  },
});

export const show = defineCommand({
  description:
    'Shows the call with all of its arguments (secrets removed), the agent that makes it, the rule that asks and why, and how the approval ended.',
  args: { id: ID_DOC },
  examples: ['sub approvals show 3f9a1c20', 'sub approvals show 3f9a1c20 --json'],
  exitCodes: { 0: 'the approval is shown', 2: 'wrong flags, or no such approval' },
  run: async ({ args }, io) => {
    const desk = openOwnDesk(io);
    const entry = findRequest(desk, args.id);
    const isGone = isAskerGone(entry);
    const shown = { nowMs: desk.ports.nowMs(), isAskerGone: isGone, colors: io.out.colors };
    return printout(entryJson(entry, isGone), requestText(entry, shown));
  },
});

export const approve = defineCommand({
  description:
    'Approves exactly this call. With --run, --for or --always it also creates a grant, so that the same arguments, or those that --like, --free or --any-args allow, need no further approval; it prints in words exactly what the grant matches, and `sub grants` lists it. It needs a terminal with a person, outside of any governed run: an agent may not approve its own calls.',
  args: { id: ID_DOC },
  options: {
    note: NOTE_OPTION,
    run: 'Grant it for the rest of this run',
    for: textOption('time', 'Grant it for this long, in any run: 30m, 2h, 1d'),
    always: 'Grant it until the grant is revoked',
    'any-args': 'The grant covers any arguments, not only these',
    like: textsOption(
      'name=glob',
      'The grant accepts any text that matches the glob for this argument',
    ),
    free: textsOption('name', 'The grant accepts anything for this argument, or its absence'),
    'dry-run': 'Print what the grant would cover, and approve nothing',
  },
  examples: [
    'sub approvals approve 3f9a1c20',
    'sub approvals approve 3f9a1c20 --run --note reviewed',
    "sub approvals approve 3f9a1c20 --for 30m --like 'path=src/*' --free content",
    'sub approvals approve 3f9a1c20 --always --dry-run',
  ],
  exitCodes: {
    0: 'the call is approved',
    1: 'the approval had ended already; nothing changed',
    2: 'wrong flags, no such approval, an impossible grant, no terminal, or started inside a run',
  },
  requires: 'terminal',
  run: async ({ args, options }, io) => {
    const wish = orThrow(readGrantFlags(options));
    const { note } = options;
    if (!options['dry-run']) return decideRequest(args.id, { state: 'approved', note, wish }, io);
    const desk = openOwnDesk(io);
    const { request } = findRequest(desk, args.id);
    if (wish === undefined) {
      const message = '--dry-run shows a grant, and none is requested.';
      return badUsage(message, 'Add --run, --for or --always.');
    }
    const giver = { ...ownVerdict(note), id: desk.ports.uuid(), nowMs: desk.ports.nowMs() };
    const grant = orThrow(grantFor(request, wish, giver));
    return printout({ changed: false, grant }, newGrantText(grant, io.out.colors));
  },
});

export const reject = defineCommand({
  description: 'Rejects the call. A waiting agent gets the answer at once.',
  args: { id: ID_DOC },
  options: { note: NOTE_OPTION },
  examples: [
    'sub approvals reject 3f9a1c20',
    "sub approvals reject 3f9a1c20 --note 'not on Friday'",
  ],
  exitCodes: {
    0: 'the call is rejected',
    1: 'the approval had ended already; nothing changed',
    2: 'wrong flags, no such approval, no terminal, or started inside a run',
  },
  requires: 'terminal',
  run: async ({ args, options }, io) =>
    decideRequest(args.id, { state: 'rejected', note: options.note }, io),
});
