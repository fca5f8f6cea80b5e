import { isFailure } from '@subluminal/contracts';
import { say } from '../approvals/decide.ts';
import { findRequest, openOwnDesk } from '../approvals/home.ts';
import type { RejectInput } from '../catalog/approvals.ts';
import type { Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';

export async function run({ args, options }: RejectInput, io: Io): Promise<Outcome> {
  const desk = openOwnDesk(io);
  if (isFailure(desk)) return desk;
  const entry = findRequest(desk, args.id);
  if (isFailure(entry)) return entry;
  const { note, json } = options;
  return say(desk, entry, { saying: { state: 'rejected', note, json }, io });
}
