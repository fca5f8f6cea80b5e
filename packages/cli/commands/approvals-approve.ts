import { failure, isFailure } from '@subluminal/contracts';
import { grantFor } from '@subluminal/plane/approvals';
import { say } from '../approvals/decide.ts';
import { findRequest, openOwnDesk, speaker, TERMINAL } from '../approvals/home.ts';
import { grantText } from '../approvals/lines.ts';
import { wishOf } from '../approvals/wish.ts';
import type { ApproveInput } from '../catalog/approvals.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

export async function run({ args, options }: ApproveInput, io: Io): Promise<Outcome> {
  const wish = wishOf(options);
  if (isFailure(wish)) return wish;
  const desk = openOwnDesk(io);
  if (isFailure(desk)) return desk;
  const entry = findRequest(desk, args.id);
  if (isFailure(entry)) return entry;
  const { note, json } = options;
  if (!options['dry-run']) {
    return say(desk, entry, { saying: { state: 'approved', note, wish, json }, io });
  }
  if (wish === undefined) {
    return failure('SUB_USAGE', '--dry-run tells of a grant.', 'Add --run, --for or --always.');
  }
  const giver = { id: desk.ports.uuid(), by: speaker(), channel: TERMINAL, note };
  const grant = grantFor(entry.request, wish, { ...giver, nowMs: desk.ports.nowMs() });
  if (grant.kind === 'refused') return failure('SUB_GRANT_REFUSED', grant.message, grant.fix);
  const shown = { kind: 'grant', grant, state: 'active', end: null } as const;
  io.out.write(json ? jsonText({ changed: false, grant }) : grantText(shown, io.out.colors));
  return done(EXIT.fine);
}
