import { isFailure } from '@subluminal/contracts';
import { findRequest, isAskerGone, openOwnDesk } from '../approvals/home.ts';
import { entryJson, requestText } from '../approvals/lines.ts';
import type { ApprovalsShowInput } from '../catalog/approvals.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

export async function run({ args, options }: ApprovalsShowInput, io: Io): Promise<Outcome> {
  const desk = openOwnDesk(io);
  if (isFailure(desk)) return desk;
  const entry = findRequest(desk, args.id);
  if (isFailure(entry)) return entry;
  const isGone = isAskerGone(entry);
  const shown = { nowMs: desk.ports.nowMs(), isAskerGone: isGone, colors: io.out.colors };
  io.out.write(options.json ? jsonText(entryJson(entry, isGone)) : requestText(entry, shown));
  return done(EXIT.fine);
}
