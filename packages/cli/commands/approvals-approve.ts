import { grantFor } from '@subluminal/plane/approvals';
import { decideRequest, findRequest, openOwnDesk, ownVerdict } from '../approvals/desk.ts';
import { readGrantFlags } from '../approvals/grant-flags.ts';
import { newGrantText } from '../approvals/render-approval.ts';
import {
  badUsage,
  defineCommand,
  orThrow,
  printout,
  textOption,
  textsOption,
} from '../input/command.ts';
import { ID_DOC, NOTE_OPTION } from '../input/shared-options.ts';

export const command = defineCommand({
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
