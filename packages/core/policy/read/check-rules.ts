// What the shape of a bundle cannot say: fields that need each other, exclude each other, or
// contradict each other.
import { isObject, type Rule, type RuleOf } from '@subluminal/contracts';
import type { Finding, Path } from '../../source/problem.ts';
import { quote } from '../../text/visible.ts';

export interface RuleAt {
  readonly rule: Rule;
  readonly path: Path;
}
type RuleCheck = (rule: Rule, path: Path) => readonly Finding[];

const CHECKS: readonly RuleCheck[] = [
  reservedId,
  emptyNames,
  rangeOrder,
  budgetLimit,
  throttleBackoff,
  bucketCost,
  breakerPairs,
  terminateCode,
  hintTwice,
];

/** Everything that is wrong within rules whose shape is right. */
export function ruleFindings(rules: readonly RuleAt[]): readonly Finding[] {
  return rules.flatMap(({ rule, path }) => CHECKS.flatMap((check) => check(rule, path)));
}

/** Rules that share an id, whatever else may be wrong with them. */
export function duplicateRuleIds(rules: readonly unknown[]): readonly Finding[] {
  const first = new Map<string, number>();
  const found: Finding[] = [];
  for (const [index, rule] of rules.entries()) {
    const id = isObject(rule) ? rule['rule_id'] : undefined;
    if (typeof id !== 'string') continue;
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, index);
    else {
      const message = `the rule_id ${quote(id)} is already taken by rules[${earlier}]`;
      const path = ['rules', index, 'rule_id'];
      const fix = 'Give each rule an id of its own.';
      found.push({ code: 'SUB_BUNDLE_DUPLICATE_RULE', path, message, fix });
    }
  }
  return found;
}

function missing(path: Path, message: string, fix: string): Finding {
  return { code: 'SUB_BUNDLE_MISSING_FIELD', path, message, fix };
}

function conflict(path: Path, message: string, fix: string): Finding {
  return { code: 'SUB_BUNDLE_CONFLICT', path, message, fix };
}

/** The gates beside the rules decide under such names; a grant for one must not answer the other. */
const RESERVED = /^(?:gate|cedar):/i;

function reservedId({ rule_id }: Rule, path: Path): readonly Finding[] {
  const prefix = RESERVED.exec(rule_id)?.[0];
  if (prefix === undefined) return [];
  const message = `the rule_id ${quote(rule_id)} starts with \`${prefix}\`, which is kept for what decides beside the rules`;
  const fix = 'Give the rule another id.';
  return [{ code: 'SUB_BUNDLE_VALUE', path: [...path, 'rule_id'], message, fix }];
}

function emptyNames(rule: Rule, path: Path): readonly Finding[] {
  const fields = ['server_name', 'tool_name'] as const;
  return fields.flatMap((field) => {
    const names = rule.match[field];
    if (names === undefined || names.glob !== undefined || names.regex !== undefined) return [];
    const message = `\`${field}\` has neither \`glob\` nor \`regex\``;
    const fix = `Add \`glob: ["*"]\`, or remove \`${field}\` to match every name.`;
    return [missing([...path, 'match', field], message, fix)];
  });
}

type Range = { readonly min?: number; readonly max?: number };

function rangeOrder(rule: Rule, path: Path): readonly Finding[] {
  const clamp = 'hint' in rule.effect ? rule.effect.hint?.suggest?.clamp : undefined;
  return [
    ...rangesIn(rule.match.args?.numeric_range, [...path, 'match', 'args', 'numeric_range']),
    ...rangesIn(clamp, [...path, 'effect', 'hint', 'suggest', 'clamp']),
  ];
}

function rangesIn(
  ranges: { readonly [key: string]: Range } | undefined,
  path: Path,
): readonly Finding[] {
  return Object.entries(ranges ?? {}).flatMap(([key, { min, max }]): Finding[] => {
    const at = [...path, key];
    if (min === undefined && max === undefined) {
      return [missing(at, 'a range needs `min`, `max` or both', 'Add `min: 0` or `max: 100`.')];
    }
    if (min === undefined || max === undefined || min <= max) return [];
    const message = `\`min\` ${min} is greater than \`max\` ${max}`;
    return [conflict([...at, 'min'], message, 'Swap the two.')];
  });
}

function budgetLimit(rule: Rule, path: Path): readonly Finding[] {
  if (rule.kind !== 'budget') return [];
  const { limit_calls, limit_cost_units } = rule.effect.budget;
  if (limit_calls !== undefined || limit_cost_units !== undefined) return [];
  const message = 'a budget needs `limit_calls`, `limit_cost_units` or both';
  return [missing([...path, 'effect', 'budget'], message, 'Add `limit_calls: 100`.')];
}

function throttleBackoff(rule: Rule, path: Path): readonly Finding[] {
  if (rule.kind !== 'rate_limit') return [];
  const { on_limit, backoff_ms } = rule.effect.rate_limit;
  if (on_limit !== 'THROTTLE' || backoff_ms !== undefined) return [];
  const message = 'THROTTLE needs `backoff_ms`: how long the agent should wait';
  return [missing([...path, 'effect', 'rate_limit'], message, 'Add `backoff_ms: 1000`.')];
}

function bucketCost(rule: Rule, path: Path): readonly Finding[] {
  if (rule.kind !== 'rate_limit') return [];
  const { capacity, cost_tokens_per_call: cost = 1 } = rule.effect.rate_limit;
  if (cost <= capacity) return [];
  const message = `one call costs ${cost} tokens, but the bucket holds ${capacity}: none ever passes`;
  const fix = 'Raise `capacity`, or lower `cost_tokens_per_call`.';
  return [conflict([...path, 'effect', 'rate_limit', 'cost_tokens_per_call'], message, fix)];
}

type Breaker = RuleOf<'breaker'>['effect']['breaker'];
const PAIRS = [
  ['error_threshold', 'window_ms'],
  ['repeat_threshold', 'repeat_window_ms'],
] as const;

function breakerPairs(rule: Rule, path: Path): readonly Finding[] {
  if (rule.kind !== 'breaker') return [];
  const breaker: Breaker = rule.effect.breaker;
  const at = [...path, 'effect', 'breaker'];
  const given = PAIRS.flat().filter((field) => breaker[field] !== undefined);
  if (given.length === 0) {
    const message =
      'a breaker needs `error_threshold` with `window_ms`, or `repeat_threshold` with `repeat_window_ms`';
    return [missing(at, message, 'Add `error_threshold: 5` and `window_ms: 60000`.')];
  }
  return PAIRS.flatMap(([threshold, window]) => {
    const hasThreshold = breaker[threshold] !== undefined;
    if (hasThreshold === (breaker[window] !== undefined)) return [];
    const [has, lacks] = hasThreshold ? [threshold, window] : [window, threshold];
    const example = hasThreshold ? 60_000 : 5;
    const message = `\`${has}\` needs \`${lacks}\``;
    const fix = `Add \`${lacks}: ${example}\`.`;
    return [conflict([...at, has], message, fix)];
  });
}

function terminateCode(rule: Rule, path: Path): readonly Finding[] {
  if (rule.kind !== 'breaker') return [];
  const { on_trip, terminate_code } = rule.effect.breaker;
  if (terminate_code === undefined || on_trip === 'TERMINATE_RUN') return [];
  const message = `\`terminate_code\` has no meaning with \`on_trip: ${on_trip}\``;
  const fix = 'Remove it, or write `on_trip: TERMINATE_RUN`.';
  return [conflict([...path, 'effect', 'breaker', 'terminate_code'], message, fix)];
}

/** The pack has `hint_text` beside the limits, our `hint` has it in full: one of them, not both. */
function hintTwice(rule: Rule, path: Path): readonly Finding[] {
  const short = shortHint(rule);
  const full = 'hint' in rule.effect ? rule.effect.hint?.hint_text : undefined;
  if (short === undefined || full === undefined) return [];
  const message = `\`hint_text\` is given twice, here and in \`effect.${rule.kind}\``;
  return [conflict([...path, 'effect', 'hint', 'hint_text'], message, 'Remove one of the two.')];
}

function shortHint(rule: Rule): string | undefined {
  switch (rule.kind) {
    case 'budget':
      return rule.effect.budget.hint_text;
    case 'rate_limit':
      return rule.effect.rate_limit.hint_text;
    case 'breaker':
      return rule.effect.breaker.hint_text;
    case 'dedupe':
      return rule.effect.dedupe.hint_text;
    default:
      return undefined;
  }
}
