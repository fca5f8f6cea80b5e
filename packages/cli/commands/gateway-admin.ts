// What admins of a gateway do with the key of their login: invite people, and decide turns that wait.
import { GATEWAY_ROLE, type Infer, isObject, type TURN_APPROVALS } from '@subluminal/contracts';
import { choice, defineCommand, EXIT, orThrow, printout, textOption } from '../input/command.ts';
import { developerMachine, requireLogin, withGateway } from '../proxy/developer-machine.ts';
import { type Cell, tableText } from '../terminal/table.ts';
import { harmlessLine } from '../terminal/text.ts';

const REFUSED = 'wrong flags, no login, or the gateway refuses or cannot be reached';

export const invite = defineCommand({
  description:
    'Makes an invite for a user. It works once, for a week; the user logs in with it. Only platform admins may invite.',
  args: { user: 'The id of the user, as identity/users.yaml has it' },
  options: { role: choice(GATEWAY_ROLE.values, 'What the user will be (default: developer)') },
  examples: ['sub gateway invite ada', 'sub gateway invite grace --role team_admin'],
  exitCodes: { 0: 'the invite is printed', 2: REFUSED },
  requires: 'person',
  run: async ({ args, options }) => {
    const machine = await developerMachine();
    const login = await requireLogin(machine);
    const { role = 'developer' } = options;
    const made = orThrow(
      await withGateway(machine, login, (client) => client.invite(args.user, role)),
    );
    const until = new Date(made.expires_at_ms).toISOString();
    const text = [
      `Give this to ${made.user_id}; it works once, until ${until}:`,
      `  sub login --gateway ${login.gatewayUrl} --invite ${made.invite_token}`,
    ];
    return printout(made, text.map(harmlessLine).join(''));
  },
});

export const approvals = defineCommand({
  description:
    'Lists the turns that wait at the gateway until a person decides, those of your team or of all teams, as your role allows.',
  examples: ['sub gateway approvals', 'sub gateway approvals --json'],
  exitCodes: { 0: 'the list is printed', 2: REFUSED },
  run: async (_input, io) => {
    const machine = await developerMachine();
    const found = orThrow(
      await withGateway(machine, await requireLogin(machine), (client) =>
        client.pendingApprovals(),
      ),
    );
    const text =
      found.approvals.length === 0 ? 'No turn waits.\n' : listText(found.approvals, io.out.columns);
    return printout(found, text);
  },
});

const NOTE = textOption('TEXT', 'What the one who asked is told');

export const approve = defineCommand({
  description: 'Lets a turn go on that waits at the gateway. The first answer counts.',
  args: { id: 'The id that `sub gateway approvals` shows' },
  options: { note: NOTE },
  examples: ['sub gateway approve 019a9c1e-7b5f-7c51-9d0f-2f6f2f0d8a11 --note once'],
  exitCodes: { 0: 'it goes on', 1: 'it had ended before', 2: REFUSED },
  requires: 'person',
  run: ({ args, options }) => resolve(args.id, 'approve', options.note),
});

export const reject = defineCommand({
  description: 'Refuses a turn that waits at the gateway. The first answer counts.',
  args: { id: 'The id that `sub gateway approvals` shows' },
  options: { note: NOTE },
  examples: ['sub gateway reject 019a9c1e-7b5f-7c51-9d0f-2f6f2f0d8a11 --note later'],
  exitCodes: { 0: 'it is refused', 1: 'it had ended before', 2: REFUSED },
  requires: 'person',
  run: ({ args, options }) => resolve(args.id, 'reject', options.note),
});

async function resolve(id: string, answer: 'approve' | 'reject', note: string | undefined) {
  const machine = await developerMachine();
  const told = orThrow(
    await withGateway(machine, await requireLogin(machine), (client) =>
      client.resolveApproval(id, answer, note),
    ),
  );
  const { approval, changed } = told;
  const by = approval.resolver === null ? '' : ` by ${approval.resolver}`;
  const text = changed
    ? `The turn of ${approval.requestor} was ${approval.state}${by}.`
    : `It had ended before: ${approval.state}${by}.`;
  return printout(told, harmlessLine(text), changed ? EXIT.fine : EXIT.findings);
}

const COLUMNS = [
  'ID',
  { title: 'USER', widthMin: 8 },
  { title: 'TEAM', widthMin: 8 },
  { title: 'MODEL', widthMin: 8, dropped: 1 },
  { title: 'UNTIL' },
  { title: 'WHY', widthMin: 12, widthGood: 40, dropped: 2 },
] as const;

type WaitingTurns = Infer<typeof TURN_APPROVALS>['approvals'];

function listText(waiting: WaitingTurns, width: number): string {
  const rows = waiting.map(
    ({ id, requestor, team_id, snapshot, expires_at_ms }): readonly Cell[] => {
      const { why, request } = isObject(snapshot) ? snapshot : {};
      const model = isObject(request) ? textOf(request['model']) : '';
      const until = new Date(expires_at_ms).toISOString();
      return [id, requestor, team_id, model, until, textOf(why)];
    },
  );
  return tableText(COLUMNS, rows, { width });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
