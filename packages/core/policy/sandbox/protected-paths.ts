// What governs the agent, as paths that its sandbox keeps it from writing.
import { isUnder } from '../../paths/lexical-path.ts';
import type { DeniedPath, SandboxPath, SandboxPlaces, SandboxPlan } from './settings.ts';

/** The rule that a protected path is denied by. */
export const SELF_PROTECTION = 'gate:self-protection';

/** The plan with these files, which are absolute and normalised. */
export function withProtected(
  plan: SandboxPlan,
  files: readonly string[],
  places: SandboxPlaces,
): SandboxPlan {
  const isInside = (path: string) => files.some((other) => other !== path && isUnder(path, other));
  const denied = files
    .filter((path) => !isInside(path))
    .map(
      (path): DeniedPath => ({
        ...placed(path, places),
        access: 'write',
        rule_id: SELF_PROTECTION,
      }),
    );
  return { ...plan, denied: [...plan.denied, ...denied] };
}

/** The settings are for every project, so what is in this one is said as such. */
function placed(path: string, places: SandboxPlaces): SandboxPath {
  for (const folder of ['project', 'home'] as const) {
    const start = places[folder];
    if (start !== '/' && path !== start && isUnder(path, start)) {
      return { folder, rest: path.slice(start.length + 1), isGlob: false };
    }
  }
  return { folder: 'root', rest: path.slice(1), isGlob: false };
}
