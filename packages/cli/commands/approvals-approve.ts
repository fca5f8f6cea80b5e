import { isFailure } from '@subluminal/contracts';
import { grantFor } from '@subluminal/plane/approvals';
import {
  activeGrant,
  decideRequest,
  findRequest,
  openOwnDesk,
  TERMINAL,
  userName,
} from '../approvals/desk.ts';
import { readGrantFlags } from '../approvals/grant-flags.ts';
import { grantText } from '../approvals/render-approval.ts';
import {
  badUsage,
  defineCommand,
  flag,
  printout,
  required,
  textOption,
  textsOption,
} from '../input/command.ts';
import { ID_DOC, JSON_FLAG, NOTE_OPTION } from '../input/shared-options.ts';

export const command = defineCommand({
  description:
    'Approves exactly this call. With --run, --for or --always it also creates a grant, so that the same arguments, or those that --like, --free or --any-args allow, need no further approval; it prints in words exactly what the grant matches, and `sub grants` lists it. It needs a terminal with a person, outside of any governed run: an agent may not approve its own calls.',
  args: { id: required(ID_DOC) },
  options: {
    note: NOTE_OPTION,
    run: flag('Grant it for the rest of this run'),
    for: textOption('time', 'Grant it for this long, in any run: 30m, 2h, 1d'),
    always: flag('Grant it until the grant is revoked'),
    'any-args': flag('The grant covers any arguments, not only these'),
    like: textsOption(
      'name=glob',
      'The grant accepts any text that matches the glob for this argument',
    ),
    free: textsOption('name', 'The grant accepts anything for this argument, or its absence'),
    'dry-run': flag('Print what the grant would cover, and approve nothing'),
    json: JSON_FLAG,
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
    const wish = readGrantFlags(options);
    if (isFailure(wish)) return wish;
    const { note } = options;
    if (!options['dry-run']) return decideRequest(args.id, { state: 'approved', note, wish }, io);
    const desk = openOwnDesk(io);
    if (isFailure(desk)) return desk;
    const entry = findRequest(desk, args.id);
    if (isFailure(entry)) return entry;
    if (wish === undefined) {
      return badUsage(
        '--dry-run shows a grant, and none is requested.',
        'Add --run, --for or --always.',
      );
    }
    const giver = { id: desk.ports.uuid(), by: userName(), channel: TERMINAL, note };
    const grant = grantFor(entry.request, wish, { ...giver, nowMs: desk.ports.nowMs() });
    if (isFailure(grant)) return grant;
    return printout({ changed: false, grant }, grantText(activeGrant(grant), io.out.colors));
  },
});
