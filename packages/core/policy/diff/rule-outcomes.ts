// What a rule may do to a call that it matches, and which way a call goes that meets two rules.
// A small model of deciding: just enough to tell which of two outcomes is the stricter one.
import type { Rule } from '@subluminal/contracts';
import type { Effect } from '../changes/change.ts';
import { effectSection } from '../rule-kind/rule-kind.ts';
import { ruleKind } from '../rules/index.ts';

/** From the mildest to the strictest. A question can be answered, so it is milder than a hint. */
const STRICTNESS = ['ALLOW', 'THROTTLE', 'ASK', 'REJECT_WITH_HINT', 'BLOCK', 'TERMINATE_RUN'];
const [ALLOW, ASK, BLOCK] = [0, 2, 4];

/** One thing that a rule may do to a call, and how strict that is when no other rule matches. */
export interface RuleOutcome {
  readonly kind: 'leaves' | 'fails' | 'asks' | 'settles' | 'reveals';
  readonly strictness: number;
}

export const LEAVES: RuleOutcome = { kind: 'leaves', strictness: ALLOW };
export const FAILS: RuleOutcome = { kind: 'fails', strictness: BLOCK };
/**
 * An allow keeps a call from a refusal below it. When a rule also asks a person about the call, the
 * refusal made the question needless, and the allow reveals it again.
 */
export const REVEALS: RuleOutcome = { kind: 'reveals', strictness: ALLOW };

/** What a rule may do where it matches; `asking` is true where people are asked at all. */
export function outcomesOf(rule: Rule, asking: boolean): readonly RuleOutcome[] {
  const { role, actionField = '' } = ruleKind(rule.kind);
  const hasHint = 'hint' in rule.effect && rule.effect.hint !== undefined;
  switch (role) {
    case 'allows':
      return [settles('ALLOW')];
    case 'tags':
      return [LEAVES];
    case 'denies':
      return [settles(asking && hasHint ? 'REJECT_WITH_HINT' : 'BLOCK')];
    case 'asks':
      // Where nobody can be asked, a question is a block. And a person may have approved the call.
      return [{ kind: 'asks', strictness: asking ? ASK : BLOCK }, LEAVES];
    case 'counts':
      return [settles(effectSection(rule)[actionField]), LEAVES];
  }
}

function settles(action: unknown): RuleOutcome {
  const strictness = STRICTNESS.findIndex((name) => name === action);
  return { kind: 'settles', strictness: strictness === -1 ? BLOCK : strictness };
}

/** A rule that looks at arguments, or has a condition, may fail; that stops the call. */
export function mayFail({ match, when }: Rule): boolean {
  const predicates = Object.values({
    ...match.args,
    ...(match.any_arg && { any_arg: match.any_arg }),
    ...(match.command && { command: match.command }),
  });
  return when !== undefined || predicates.some((part) => Object.keys(part).length > 0);
}

/** How strictly a call is treated that the first of two rules sees before the second. */
function strictnessOf(first: RuleOutcome, second: RuleOutcome, asking: boolean): number {
  const isStopped =
    second.kind === 'fails' || (second.kind === 'settles' && second.strictness > ALLOW);
  switch (first.kind) {
    case 'settles':
    case 'fails':
      return first.strictness;
    case 'leaves':
      return second.strictness;
    case 'asks':
      // A person is asked only about what no other rule stops.
      return isStopped ? second.strictness : first.strictness;
    case 'reveals':
      if (!isStopped) return second.strictness;
      return asking ? ASK : BLOCK;
  }
}

/** What becomes of calls that meet another rule, when the outcome or the place of a rule changes. */
export interface OutcomeChange {
  readonly from: RuleOutcome;
  readonly to: readonly RuleOutcome[];
  readonly others: readonly RuleOutcome[];
  /** Whether the rule stands above the other one, before and after. */
  readonly wasAbove: boolean;
  readonly isAbove: boolean;
  readonly asking: boolean;
}

/** Directions as bits, so that they add up. */
type DirectionBits = number;
const LOOSENS: DirectionBits = 1;
const TIGHTENS: DirectionBits = 2;

export function directionBits(change: OutcomeChange): DirectionBits {
  const { from, to, others, wasAbove, isAbove, asking } = change;
  let bits = 0;
  for (const other of others) {
    const was = wasAbove ? strictnessOf(from, other, asking) : strictnessOf(other, from, asking);
    for (const one of to) {
      const is = isAbove ? strictnessOf(one, other, asking) : strictnessOf(other, one, asking);
      if (is !== was) bits |= is > was ? TIGHTENS : LOOSENS;
    }
  }
  return bits;
}

export function effectOfBits(bits: DirectionBits): Effect {
  if (bits === 0) return 'none';
  if (bits === LOOSENS) return 'loosens';
  return bits === TIGHTENS ? 'tightens' : 'mixed';
}
