// Which members of a pool a turn tries, and in which order. The order is drawn from a seed, so that a session
// stays with its model and a choice can be made again from its record.
import type { ModelDecision, TrustTier } from '@subluminal/contracts';
import type { Sha256 } from '../ports.ts';
import {
  type ChoiceRecord,
  type ChoiceRecordInputs,
  drawChain,
  fits,
  linkOf,
  memberKey,
  poolSeed,
  type RecordedMember,
} from './choice-record.ts';
import type { Endpoint, Pool, PoolMember } from './types.ts';

/** What an endpoint must have to be chosen at all. */
export interface Constraints {
  readonly trustTier?: TrustTier;
  /** Where the data may go; anywhere when absent. */
  readonly residency?: readonly string[];
  readonly capabilities: readonly string[];
}

export interface ChoiceInput {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly pool: string;
  readonly constraints: Constraints;
  /** The session where there is one, else the trace: turns with the same key go to the same member. */
  readonly seedKey: string;
  /** Grows when a turn chooses again after its whole chain failed. */
  readonly attempt?: number;
  /** Whether the breaker of an endpoint and model lets nothing pass. */
  readonly isOpen: (endpointId: string, model: string) => boolean;
  readonly sha256: Sha256;
}

export interface ChainMember {
  readonly pool: Pool;
  readonly member: PoolMember;
  readonly endpoint: Endpoint;
}

export type NoChainReason =
  | 'routing_unknown_pool'
  | 'routing_no_candidate_after_constraints'
  | 'routing_all_breakers_open';

export type Choice =
  | {
      readonly kind: 'chain';
      readonly chain: readonly ChainMember[];
      readonly record: ChoiceRecord;
    }
  | { readonly kind: 'none'; readonly reason: NoChainReason; readonly record: ChoiceRecord };

/** Chains of pools end here even when nobody checked the configuration. */
const POOLS_MAX = 16;

/** What the policy requires of an endpoint. */
export function constraintsOf(decision: ModelDecision): Constraints {
  const { required_trust_tier, required_data_residency = [], required_capabilities } = decision;
  return {
    ...(required_trust_tier !== undefined && { trustTier: required_trust_tier }),
    ...(required_data_residency.length > 0 && { residency: required_data_residency }),
    capabilities: required_capabilities ?? [],
  };
}

/** The members to try, the first first, or why there is none. */
export function chooseChain(input: ChoiceInput): Choice {
  const candidates = candidatesIn(input);
  const inputs = recordedInputs(input, candidates);
  const drawn = drawChain(inputs);
  const record = { ...inputs, chain: drawn.map((one) => linkOf(one, inputs)) };
  const chain = drawn.flatMap(({ poolNo, memberNo }) => {
    return candidates[poolNo]?.members[memberNo] ?? [];
  });
  return chain.length > 0
    ? { kind: 'chain', chain, record }
    : { kind: 'none', reason: reasonFor(inputs), record };
}

interface PoolCandidates {
  readonly pool: Pool;
  readonly members: readonly ChainMember[];
  readonly recorded: readonly RecordedMember[];
}

/** The pool that is asked for and those it falls back to, each once, as long as attempts are left. */
function candidatesIn(input: ChoiceInput): readonly PoolCandidates[] {
  const { pools, endpoints } = input;
  const found = new Map<string, PoolCandidates>();
  let pool = pools.get(input.pool);
  while (pool !== undefined && !found.has(pool.name) && found.size < POOLS_MAX) {
    const members = registeredMembers(pool, endpoints);
    const recorded = members.map((member) => recordedMember(member, input.isOpen));
    found.set(pool.name, { pool, members, recorded });
    const able = recorded.filter((one) => !one.is_open && fits(one, recordedConstraints(input)));
    const isEnough = new Set(able.map(memberKey)).size >= pool.attemptsMax;
    pool = isEnough || pool.fallbackPool === undefined ? undefined : pools.get(pool.fallbackPool);
  }
  return [...found.values()];
}

/** Only a registered endpoint is ever called. */
function registeredMembers(
  pool: Pool,
  endpoints: ReadonlyMap<string, Endpoint>,
): readonly ChainMember[] {
  return pool.members.flatMap((member) => {
    const endpoint = endpoints.get(member.endpointId);
    return endpoint === undefined ? [] : [{ pool, member, endpoint }];
  });
}

function recordedInputs(
  input: ChoiceInput,
  candidates: readonly PoolCandidates[],
): ChoiceRecordInputs {
  const { seedKey, attempt = 0, sha256 } = input;
  const key = { seed_key: seedKey, attempt };
  return {
    version: 1,
    ...key,
    constraints: recordedConstraints(input),
    pools: candidates.map(({ pool, recorded }) => ({
      name: pool.name,
      max_attempts: pool.attemptsMax,
      seed: poolSeed(key, pool.name, sha256),
      members: recorded,
    })),
  };
}

function recordedConstraints({ constraints }: ChoiceInput): ChoiceRecord['constraints'] {
  const { trustTier, residency, capabilities } = constraints;
  return {
    ...(trustTier !== undefined && { trust_tier: trustTier }),
    ...(residency !== undefined && { data_residency: residency }),
    capabilities,
  };
}

function recordedMember(
  { member, endpoint }: ChainMember,
  isOpen: ChoiceInput['isOpen'],
): RecordedMember {
  return {
    endpoint_id: endpoint.id,
    model: member.model,
    ...(member.deployment !== undefined && { deployment: member.deployment }),
    weight: member.weight,
    trust_tier: endpoint.trustTier,
    data_residency: endpoint.dataResidency,
    supports: [...endpoint.supports],
    is_open: isOpen(endpoint.id, member.model),
  };
}

function reasonFor({ pools, constraints }: ChoiceRecordInputs): NoChainReason {
  if (pools.length === 0) return 'routing_unknown_pool';
  const isBroken = pools.some(({ members }) => members.some((member) => fits(member, constraints)));
  return isBroken ? 'routing_all_breakers_open' : 'routing_no_candidate_after_constraints';
}
