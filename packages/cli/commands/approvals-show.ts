import { isFailure } from '@subluminal/contracts';
import { findRequest, isAskerGone, openOwnDesk } from '../approvals/desk.ts';
import { entryJson, requestText } from '../approvals/render-approval.ts';
import { defineCommand, printout, required } from '../input/command.ts';
import { ID_DOC, JSON_FLAG } from '../input/shared-options.ts';

export const command = defineCommand({
  description:
    'Shows the call with all of its arguments (secrets removed), the agent that makes it, the rule that asks and why, and how the approval ended.',
  args: { id: required(ID_DOC) },
  options: { json: JSON_FLAG },
  examples: ['sub approvals show 3f9a1c20', 'sub approvals show 3f9a1c20 --json'],
  exitCodes: { 0: 'the approval is shown', 2: 'wrong flags, or no such approval' },
  run: async ({ args }, io) => {
    const desk = openOwnDesk(io);
    if (isFailure(desk)) return desk;
    const entry = findRequest(desk, args.id);
    if (isFailure(entry)) return entry;
    const isGone = isAskerGone(entry);
    const shown = { nowMs: desk.ports.nowMs(), isAskerGone: isGone, colors: io.out.colors };
    return printout(entryJson(entry, isGone), requestText(entry, shown));
  },
});
