// One decision from all rules that match: one primary action, all modifiers, all side effects.
import type { ModelDecision, PrimaryAction, TrustTier } from '@subluminal/contracts';
import type { Sha256 } from '../../ports.ts';
import { seededNumbers } from '../chacha8.ts';
import { PRIVATE_POOL, type RuleEffect, STRONG_POOL, TRUST_TIERS } from './policy-file.ts';
import type { TurnExpression, TurnMoment } from './turn-conditions.ts';
import {
  type TurnContext,
  type TurnPlan,
  type TurnPolicyInput,
  turnContext,
} from './turn-variables.ts';

/** A policy as compiled: its rules in the order in which they are looked at. */
export interface TurnPolicy {
  readonly rules: readonly TurnRule[];
  readonly onNoMatch: DefaultEffect;
  /** Where `allow` goes. */
  readonly defaultPool: string;
  /** What its expressions read. */
  readonly plan: TurnPlan;
  readonly sha256: Sha256;
}

/** What holds when no rule routes or blocks a turn. */
export interface DefaultEffect {
  readonly primary: PrimaryAction;
  readonly pool?: string;
  readonly reasons: readonly string[];
}

export interface TurnRule {
  readonly id: string;
  readonly description: string;
  readonly priority: number;
  readonly when: TurnExpression;
  readonly effect: RuleEffect;
  readonly emits: readonly Emit[];
  readonly reasons: readonly string[];
}

export const EMIT_FIELDS = [
  'required_trust_tier',
  'required_data_residency',
  'required_capabilities',
] as const;

export interface Emit {
  readonly field: (typeof EMIT_FIELDS)[number];
  readonly expression: TurnExpression;
}

export interface TurnDecision {
  readonly decision: ModelDecision;
  /** What the rules that decided say to the person, in their order. */
  readonly messages: readonly string[];
  /** Rules whose condition or constraint could not be evaluated. */
  readonly failures: readonly RuleFailure[];
}

export interface RuleFailure {
  readonly ruleId: string;
  readonly why: string;
  /** Counted as a match, because it restricts; a rule that lets turns pass counts as none. */
  readonly isMatch: boolean;
}

/** A rule that matched, or the part of it that holds. */
interface Hit {
  readonly rule: TurnRule;
  readonly effect: RuleEffect;
}

/** Whether a decision depends on how the budgets stand. */
export function readsBudget({ plan }: TurnPolicy): boolean {
  return plan.some(([name]) => name === 'budget');
}

export function decideTurn(policy: TurnPolicy, input: TurnPolicyInput): TurnDecision {
  const context = turnContext(input, policy.plan);
  const failures: RuleFailure[] = [];
  const hits: Hit[] = [];
  for (const rule of policy.rules) {
    const tested = testRule(rule, turnMoment(policy, input, { rule, context }));
    if (tested.failed === undefined) {
      if (tested.isMatch) hits.push({ rule, effect: rule.effect });
      continue;
    }
    const effect = restrictingPart(rule);
    failures.push({ ruleId: rule.id, why: tested.failed, isMatch: effect !== undefined });
    if (effect !== undefined) hits.push({ rule, effect });
  }
  const block = hits.find(({ effect }) => effect.primary === 'block');
  if (block !== undefined) return blocked([block], failures);
  const required = requiredBy(hits, (rule) => turnMoment(policy, input, { rule, context }));
  failures.push(...required.failures);
  if (required.conflict !== undefined) return blocked(required.conflict, failures);
  return merged(policy, hits, { constraints: required.constraints, failures });
}

/** What an expression of a rule is evaluated with: `rand()` is drawn from the trace and the rule. */
export function turnMoment(
  { sha256 }: TurnPolicy,
  { traceId }: TurnPolicyInput,
  { rule, context }: { readonly rule: TurnRule; readonly context: TurnContext },
): TurnMoment {
  const rand = () => seededNumbers(sha256(`${traceId}:${rule.id}`).slice(0, 32))();
  return { context, rand };
}

export function testRule(
  { when }: TurnRule,
  moment: TurnMoment,
): { readonly isMatch: boolean; readonly failed?: string } {
  const result = when.evaluate(moment);
  if ('failed' in result) return { isMatch: false, failed: result.failed };
  if (typeof result.value === 'boolean') return { isMatch: result.value };
  return { isMatch: false, failed: 'it gave no true or false' };
}

/** What still holds of a rule when nobody knows whether it matches: whatever makes a turn safer. */
export function restrictingPart({ effect, emits }: TurnRule): RuleEffect | undefined {
  const { primary, pool } = effect;
  const isStrict =
    primary === 'block' || primary === 'require_approval' || primary === 'route_to_private_model';
  const modifiers = effect.modifiers.filter((modifier) => modifier === 'redact');
  if (!isStrict && modifiers.length === 0 && emits.length === 0) return undefined;
  return {
    ...(isStrict && { primary }),
    ...(isStrict && pool !== undefined && { pool }),
    modifiers,
    sideEffects: effect.sideEffects.filter((sideEffect) => sideEffect === 'log_only'),
  };
}

/** No more is done for a turn that is blocked. */
function blocked(by: readonly Hit[], failures: readonly RuleFailure[]): TurnDecision {
  return {
    decision: {
      primary_action: 'block',
      modifiers: [],
      side_effects: [],
      reasons: by.map(({ rule }) => rule.id),
    },
    messages: messagesOf(by),
    failures,
  };
}

function merged(
  { onNoMatch, defaultPool }: TurnPolicy,
  hits: readonly Hit[],
  { constraints, failures }: { constraints: RequiredConstraints; failures: readonly RuleFailure[] },
): TurnDecision {
  const approval = hits.find(({ effect }) => effect.primary === 'require_approval');
  const route = hits.find(({ effect }) => isRoute(effect));
  const routed = route?.effect ?? onNoMatch;
  const primary = approval?.effect.primary ?? routed.primary ?? 'block';
  const isDefault = approval === undefined && route === undefined;
  if (primary === 'block') return blockedByDefault(onNoMatch, failures);
  const modifiers = collected(hits, ({ modifiers: own }) => own);
  const pool = approval?.effect.pool ?? routed.pool ?? defaultPool;
  const shadowPool = hits.find(({ effect }) => effect.shadowPool !== undefined)?.effect.shadowPool;
  const contributing = hits.filter((hit) => contributes(hit, { approval, route }));
  return {
    decision: {
      primary_action: primary,
      modifiers,
      side_effects: collected(hits, ({ sideEffects: own }) => own),
      model_pool: modifiers.includes('escalate_to_strong_model') ? escalated(pool) : pool,
      ...(shadowPool !== undefined && { shadow_pool: shadowPool }),
      reasons: [
        ...contributing.map(({ rule }) => rule.id),
        ...(isDefault ? onNoMatch.reasons : []),
      ],
      ...constraints,
      // A turn for a private model must not leave for another one by a fallback.
      ...(routed.primary === 'route_to_private_model' && { required_trust_tier: 'private' }),
    },
    messages: messagesOf(contributing),
    failures,
  };
}

function blockedByDefault(
  { reasons }: DefaultEffect,
  failures: readonly RuleFailure[],
): TurnDecision {
  const { decision, messages } = blocked([], failures);
  return { decision: { ...decision, reasons }, messages, failures };
}

function isRoute({ primary }: RuleEffect): boolean {
  return primary === 'route' || primary === 'route_to_private_model' || primary === 'allow';
}

/** Of the rules that route, only the first decided; all others add what they have. */
function contributes(
  { rule, effect }: Hit,
  { approval, route }: { readonly approval: Hit | undefined; readonly route: Hit | undefined },
): boolean {
  if (rule === route?.rule || rule === approval?.rule) return true;
  return effect.modifiers.length > 0 || effect.sideEffects.length > 0 || rule.emits.length > 0;
}

function collected<T>(hits: readonly Hit[], part: (effect: RuleEffect) => readonly T[]): T[] {
  return [...new Set(hits.flatMap(({ effect }) => part(effect)))];
}

function escalated(pool: string): string {
  return pool === PRIVATE_POOL ? pool : STRONG_POOL;
}

function messagesOf(hits: readonly Hit[]): readonly string[] {
  return hits.flatMap(({ rule }) => rule.reasons);
}

type RequiredConstraints = Pick<ModelDecision, (typeof EMIT_FIELDS)[number]>;

interface Required {
  readonly constraints: RequiredConstraints;
  readonly failures: readonly RuleFailure[];
  /** Rules that no endpoint can satisfy together, or whose constraint nobody knows. */
  readonly conflict?: readonly Hit[];
}

/** All constraints hold at once: the highest trust, the common places, every capability. */
function requiredBy(hits: readonly Hit[], momentFor: (rule: TurnRule) => TurnMoment): Required {
  let tier: TrustTier | undefined;
  let places: readonly string[] | undefined;
  const capabilities = new Set<string>();
  const failures: RuleFailure[] = [];
  const placing: Hit[] = [];
  for (const hit of hits) {
    for (const emit of hit.rule.emits) {
      const emitted = emittedValue(emit, momentFor(hit.rule));
      if ('failed' in emitted) {
        failures.push({ ruleId: hit.rule.id, why: emitted.failed, isMatch: true });
        return { constraints: {}, failures, conflict: [hit] };
      }
      if (emitted.field === 'required_trust_tier') tier = higher(tier, emitted.tier);
      else if (emitted.field === 'required_capabilities') {
        for (const name of emitted.names) capabilities.add(name);
      } else {
        places = places?.filter((place) => emitted.names.includes(place)) ?? emitted.names;
        placing.push(hit);
      }
    }
  }
  // No place is left. An empty list would mean anywhere.
  if (places?.length === 0) return { constraints: {}, failures, conflict: placing };
  return {
    constraints: {
      ...(tier !== undefined && { required_trust_tier: tier }),
      ...(places !== undefined && { required_data_residency: places }),
      ...(capabilities.size > 0 && { required_capabilities: [...capabilities] }),
    },
    failures,
  };
}

function higher(one: TrustTier | undefined, other: TrustTier): TrustTier {
  return one !== undefined && TRUST_TIERS.indexOf(one) > TRUST_TIERS.indexOf(other) ? one : other;
}

type Emitted =
  | { readonly field: 'required_trust_tier'; readonly tier: TrustTier }
  | {
      readonly field: 'required_data_residency' | 'required_capabilities';
      readonly names: readonly string[];
    }
  | { readonly failed: string };

const NAMES_MAX = 256;

export function emittedValue({ field, expression }: Emit, moment: TurnMoment): Emitted {
  const result = expression.evaluate(moment);
  if ('failed' in result) return { failed: `${field}: ${result.failed}` };
  const { value } = result;
  if (field === 'required_trust_tier') {
    const tier = TRUST_TIERS.find((one) => one === value);
    return tier === undefined
      ? { failed: `${field} is none of ${TRUST_TIERS.join(', ')}` }
      : { field, tier };
  }
  const names: unknown = typeof value === 'string' ? [value] : value;
  return isNames(names) ? { field, names } : { failed: `${field} is no list of names` };
}

/** A list that is empty would mean that anything goes. */
function isNames(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > NAMES_MAX) return false;
  return value.every((name) => typeof name === 'string' && name !== '');
}
