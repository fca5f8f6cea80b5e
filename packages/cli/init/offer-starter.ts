// Tells what was written, whether it is in force, and offers it to `sub import`.
import { userHome } from '@subluminal/plane/config';
import { policySources, sourceWarnings } from '@subluminal/plane/policy';
import type { Whereabouts } from '../adopt/wish.ts';
import { orThrow } from '../input/command.ts';
import type { Asker } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';
import { planStarter, type StarterPlan, writeStarter } from './starter-policy.ts';

export function writtenText(
  { path, use, why, survey, isUser }: StarterPlan,
  kept?: string,
): string {
  const found = survey.found.length === 0 ? 'nothing that it knows' : survey.found.join(', ');
  const lines = [
    `Found in ${survey.root}: ${found}.`,
    `Wrote ${path}: the starter \`${use}\`, ${why}.${isUser ? ' It holds in every project.' : ''}`,
    ...(kept === undefined ? [] : [`The policy that was there is kept: ${kept}`]),
  ];
  return lines.map(harmlessLine).join('');
}

type Place = Pick<Whereabouts, 'env' | 'paths'>;

/** Warns where the policy is not found by itself; then its path, which has to be named. */
export function unfoundPath(
  { path, survey }: StarterPlan,
  { env, paths }: Place,
  io: Io,
): string | undefined {
  const place = { cwd: survey.root, home: paths.home, userHome: userHome(env) };
  const found = policySources({ ...place, named: null, trusts: false });
  for (const warning of sourceWarnings(found)) warn(io, warning);
  return found.sources.some((source) => source.path === path) ? undefined : path;
}

interface StarterOffer {
  readonly where: Place & Pick<Whereabouts, 'project'>;
  readonly clients: readonly string[];
  readonly io: Io;
  readonly asks: Asker;
}

/** Offers a starter where no policy is found; returns its path where servers have to name it. */
export async function offerStarter({
  where,
  clients,
  io,
  asks,
}: StarterOffer): Promise<string | undefined> {
  warn(io, `no policy is found from ${where.project}, so calls would only be recorded.`);
  const plan = orThrow(planStarter({ ...where, use: undefined, clients }));
  const question = `Write the starter policy \`${plan.use}\` to ${harmless(plan.path)}?`;
  if (!orThrow(await asks.ask(question))) return undefined;
  await writeStarter(plan, false);
  io.out.write(writtenText(plan));
  return unfoundPath(plan, where, io);
}
