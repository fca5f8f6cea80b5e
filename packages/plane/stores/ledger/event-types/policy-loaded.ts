import type { EventOf } from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/json';
import { digestOf, hex } from '../chain/hash-chain.ts';
import { addPolicy } from '../store/projection.ts';
import { calm, type EventMember } from './types.ts';

export const policyLoaded: EventMember<'policy_loaded'> = {
  project(into, event, { atMs }) {
    const { mode, policy } = event;
    addPolicy(into, policy, { mode, rules_json: provenRules(event), created_at: atMs });
  },
  notice({ reload, policy, mode }, { serverName }) {
    if (reload !== true) return undefined;
    const { policy_id, policy_version, policy_hash } = policy;
    const named = `${policy_id} ${policy_version} (${policy_hash.slice(0, 12)}…)`;
    const where = serverName === null ? '' : ` for ${serverName}`;
    return calm('↻', `policy reloaded${where}: ${named}, ${mode}`);
  },
};

/** The policy itself when its hash is the one that the event names; the producer may lie. */
function provenRules({ document, policy }: EventOf<'policy_loaded'>): string | null {
  if (document === undefined) return null;
  const written = canonicalize(JSON.stringify(document));
  if (!written.ok) return null;
  return hex(digestOf(written.canonical)) === policy.policy_hash ? written.canonical : null;
}
