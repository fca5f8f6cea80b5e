import { findRequest, isAskerGone, openOwnDesk } from '../approvals/desk.ts';
import { entryJson, requestText } from '../approvals/render-approval.ts';
import { defineCommand, printout } from '../input/command.ts';
import { ID_DOC } from '../input/shared-options.ts';

export const command = defineCommand({
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
