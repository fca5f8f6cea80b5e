// An untrusted policy where the user has none: against nothing it may only tighten.
import type { Bundle, Profile } from '@subluminal/contracts';
import {
  type CompileOptions,
  compileBundle,
  compileTightened,
  normalizeBundle,
  type Snapshot,
} from '@subluminal/core/policy';
import { sha256 } from '../../os/crypto/index.ts';

/** Without a policy nothing is decided, and everything is recorded. */
const NO_POLICY: Bundle = {
  policy_id: 'none',
  version: '0',
  mode: 'observe',
  defaults: { decision_on_error: 'ALLOW' },
  selectors: {},
  rules: [],
};

export function compileNone(profile: Profile): Promise<Snapshot> {
  return compileBundle(NO_POLICY, { sha256, profile });
}

/**
 * Manifests, Cedar policies and self-protection are enforced without a policy, and only reported under
 * one in the mode `observe`. So such a policy of a project is applied beside no policy at all: it must
 * not let more pass than having none.
 */
export async function untrustedAlone(
  snapshot: Snapshot,
  options: CompileOptions,
): Promise<Snapshot> {
  const { document } = snapshot;
  if (document.mode !== 'observe' || document.tightened_by !== undefined) return snapshot;
  return compileTightened(normalizeBundle(NO_POLICY), document, options);
}

/** Whether somebody has written a policy that says how far things go. */
export function hasPolicy({ document }: Snapshot): boolean {
  return document.policy_id !== NO_POLICY.policy_id || document.rules.length > 0;
}
