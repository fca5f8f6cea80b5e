import { decideRequest } from '../approvals/desk.ts';
import { defineCommand } from '../input/command.ts';
import { ID_DOC, NOTE_OPTION } from '../input/shared-options.ts';

export const command = defineCommand({
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
