// The policy of one channel, ready to decide.
import { STEWARD_CHANNELS } from '@subluminal/contracts';
import { compileBundle, parseWithEngines, type Snapshot } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { type CompileChoice, compilePermissions } from './compile-permissions.ts';
import type { Permissions } from './types.ts';

/** For permissions and guardrails without a `policyFault`. */
export function permissionsSnapshot(
  permissions: Permissions,
  choice: CompileChoice,
): Promise<Snapshot> {
  return compileBundle(compilePermissions(permissions, choice), { sha256 });
}

/** Policies that were found to be right, by their hash: a configuration is read often, and they seldom change. */
const RIGHT = new Set<string>();
const RIGHT_MAX = 100;

/** Why permissions, each right by itself, make no policy on some channel: there are too many of them, for one. */
export async function policyFault(
  permissions: Permissions,
  guardrails: CompileChoice['guardrails'],
): Promise<string | undefined> {
  const { channels } = permissions.file;
  const differing = STEWARD_CHANNELS.filter((name) => name === 'terminal' || channels[name]);
  for (const channel of differing) {
    const text = JSON.stringify(compilePermissions(permissions, { channel, guardrails }));
    const hash = sha256(text);
    if (RIGHT.has(hash)) continue;
    const parsed = await parseWithEngines({ file: `steward-${channel}`, text });
    if (!parsed.ok) return `${channel}: ${parsed.problems[0]?.message ?? 'no policy'}`;
    if (RIGHT.size >= RIGHT_MAX) RIGHT.clear();
    RIGHT.add(hash);
  }
  return undefined;
}
