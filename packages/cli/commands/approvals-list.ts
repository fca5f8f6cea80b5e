import { isAskerGone, openOwnDesk, warnOfDamage } from '../approvals/desk.ts';
import { entryJson, listText } from '../approvals/render-approval.ts';
import { choice, defineCommand, EXIT, orThrow, printout } from '../input/command.ts';

const STATES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const;

export const command = defineCommand({
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
    const text = found.length === 0 ? none : listText(found, desk.ports.nowMs(), io.out.colors);
    return printout({ approvals, damaged }, text, damaged.length > 0 ? EXIT.findings : EXIT.fine);
  },
});
