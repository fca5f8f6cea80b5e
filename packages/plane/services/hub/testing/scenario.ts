// Short ways to write policies and calls, for tests only.
import type {
  Bundle,
  EvaluateRequest,
  Rule,
  RuleOf,
  ShimSummary,
  SnapshotFile,
} from '@subluminal/contracts';
import { compileBundle, type Snapshot, sealSnapshot } from '@subluminal/core/policy';
import type { Signer } from '@subluminal/core/ports';
import { sha256 } from '../../../os/crypto/index.ts';

type Budget = RuleOf<'budget'>['effect']['budget'];
type Breaker = RuleOf<'breaker'>['effect']['breaker'];

export interface SealedPolicy {
  readonly snapshot: Snapshot;
  readonly file: SnapshotFile;
  readonly hash: string;
}

export const RUN = 'run-1';
const FRAME = { enabled: true, match: {}, severity: 'warn' } as const;
export const HASH = 'a'.repeat(64);

export function budget(rule_id: string, limits: Partial<Budget>): RuleOf<'budget'> {
  const effect = { budget: { scope: 'run', on_exceed: 'BLOCK', ...limits } } as const;
  return { ...FRAME, rule_id, kind: 'budget', effect };
}

export function breaker(rule_id: string, limits: Partial<Breaker>): RuleOf<'breaker'> {
  const effect = { breaker: { scope: 'run', on_trip: 'BLOCK', ...limits } } as const;
  return { ...FRAME, rule_id, kind: 'breaker', effect };
}

export function deny(rule_id: string, tool: string, when?: string): RuleOf<'deny'> {
  const match = { tool_name: { glob: [tool] } };
  const effect = { action: 'BLOCK' } as const;
  return { ...FRAME, rule_id, kind: 'deny', match, effect, ...(when !== undefined && { when }) };
}

export async function policyOf(
  rules: readonly Rule[],
  { signer, ...options }: Partial<Bundle> & { readonly signer?: Signer } = {},
): Promise<SealedPolicy> {
  const bundle: Bundle = {
    policy_id: 'tests',
    version: '1',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules,
    ...options,
  };
  const snapshot = await compileBundle(bundle, { sha256 });
  return { snapshot, file: sealSnapshot(snapshot, signer), hash: snapshot.ref.policy_hash };
}

let calls = 0;

/** A call of its own; `parts` says what is special about it. */
export function requestOf(
  policy: SealedPolicy,
  parts: Partial<EvaluateRequest> = {},
): EvaluateRequest {
  const { tool_name = 'tool' } = parts;
  return {
    server_id: 'server',
    direction: 'agent_to_server',
    method: 'tools/call',
    params: { name: tool_name, arguments: {} },
    message_type: 'request',
    profile: 'production',
    run_id: RUN,
    identity: { agent_id: 'agent', client: 'custom', env: 'dev' },
    call_id: `call-${++calls}`,
    tool_name,
    args_hash: HASH,
    policy_hash: policy.hash,
    bytes_in: 2,
    ...parts,
  };
}

export function summaryOf(calls_total: number): ShimSummary {
  const none = {
    calls_blocked: 0,
    calls_throttled: 0,
    errors_total: 0,
    calls_spared: 0,
    answers_held_back: 0,
  };
  return { calls_total, calls_allowed: calls_total, ...none };
}
