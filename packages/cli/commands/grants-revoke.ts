import { isFailure } from '@subluminal/contracts';
import { shortId } from '@subluminal/plane/approvals';
import { failureOf, findGrantEntry, openOwnDesk, speaker } from '../approvals/home.ts';
import type { GrantsRevokeInput } from '../catalog/approvals.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';

export async function run({ args, options }: GrantsRevokeInput, io: Io): Promise<Outcome> {
  const desk = openOwnDesk(io);
  if (isFailure(desk)) return desk;
  const found = findGrantEntry(desk, args.id);
  if (isFailure(found)) return found;
  const changed = desk.grants.revoke(found.grant.id, speaker());
  if (changed.kind !== 'done' && changed.kind !== 'already') return failureOf(changed);
  const { grant, end } = changed.entry;
  const isOurs = changed.kind === 'done';
  if (options.json) io.out.write(jsonText({ changed: isOurs, id: grant.id, end }));
  else {
    const words = `${shortId(grant.id)} was ${end?.state} by ${end?.by} at ${end?.at}.`;
    io.out.write(`${isOurs ? '' : 'Nothing was changed. '}${harmless(words)}\n`);
  }
  return done(isOurs ? EXIT.fine : EXIT.findings);
}
