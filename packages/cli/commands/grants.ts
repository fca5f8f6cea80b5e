import { isFailure } from '@subluminal/contracts';
import { type GrantEntry, grantWords, isProblem } from '@subluminal/plane/approvals';
import { openOwnDesk, told, warnOfDamage } from '../approvals/home.ts';
import { grantText } from '../approvals/lines.ts';
import type { GrantsInput } from '../catalog/approvals.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

export async function run({ options }: GrantsInput, io: Io): Promise<Outcome> {
  const desk = openOwnDesk(io);
  if (isFailure(desk)) return desk;
  const all = desk.grants.list();
  if (isProblem(all)) return told(all);
  const isDamaged = warnOfDamage(all.damaged, io);
  const shown = all.found.filter(({ state }) => options.all || state === 'active');
  if (options.json) {
    const damaged = all.damaged.map(({ file, why }) => ({ file, why }));
    io.out.write(jsonText({ grants: shown.map(jsonOf), damaged }));
  } else if (shown.length === 0) io.out.write('Nothing is granted.\n');
  else for (const one of shown) io.out.write(grantText(one, io.out.colors));
  return done(isDamaged ? EXIT.findings : EXIT.fine);
}

function jsonOf({ grant, state, end }: GrantEntry) {
  return { id: grant.id, state, covers: grantWords(grant), grant, end };
}
