import { isFailure } from '@subluminal/contracts';
import { isProblem } from '@subluminal/plane/approvals';
import { isAskerGone, openOwnDesk, told, warnOfDamage } from '../approvals/home.ts';
import { entryJson, listText } from '../approvals/lines.ts';
import type { ApprovalsInput } from '../catalog/approvals.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

export async function run({ options }: ApprovalsInput, io: Io): Promise<Outcome> {
  const desk = openOwnDesk(io);
  if (isFailure(desk)) return desk;
  const state = options.state ?? (options.all ? undefined : 'pending');
  const all = desk.queue.list(state === undefined ? {} : { state });
  if (isProblem(all)) return told(all);
  const { found, damaged, cut } = all;
  const isDamaged = warnOfDamage(damaged, io);
  if (cut) io.err.write('sub: there are more files than are read; not all are listed.\n');
  if (options.json) {
    const approvals = found.map((entry) => entryJson(entry, isAskerGone(entry)));
    io.out.write(jsonText({ approvals, damaged: damaged.map(({ file, why }) => ({ file, why })) }));
  } else if (found.length === 0) io.out.write(state === 'pending' ? NOTHING : NONE);
  else io.out.write(listText(found, desk.ports.nowMs(), io.out.colors));
  return done(isDamaged ? EXIT.findings : EXIT.fine);
}

const NOTHING = 'Nothing waits for approval.\n';
const NONE = 'There is none.\n';
