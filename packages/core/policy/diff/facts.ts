// What a rule may do to a call that it matches, and what two rules make of the call together.
// A small picture of deciding: just enough to tell which of two outcomes is the stricter one.
import type { Rule } from '@subluminal/contracts';
import type { Effect } from '../changes/change.ts';
import { effectSection } from '../rule-kind/rule-kind.ts';
import { ruleKind } from '../rules/index.ts';

/** From the mildest to the strictest. A question can be answered, so it is milder than a hint. */
const STRICTNESS = {
  ALLOW: 0,
  THROTTLE: 1,
  ASK: 2,
  REJECT_WITH_HINT: 3,
  BLOCK: 4,
  TERMINATE_RUN: 5,
} as const;

/** One thing a rule may do to a call, and how strict that is when no other rule has a say. */
interface Doing {
  readonly kind: 'leaves' | 'fails' | 'asks' | 'settles' | 'reveals';
  readonly strictness: number;
}

/** A set of doings, one bit for each: there are few, and they are compared by the million. */
export type Doings = number;

export interface RuleFacts {
  /** What it may do where it matches. */
  readonly applying: Doings;
  /** The same, and that it may fail to evaluate. */
  readonly all: Doings;
  /** The classes it looks for. */
  readonly classes: ReadonlySet<string>;
  /** Whether its condition may look at the classes. */
  readonly whenReadsClasses: boolean;
}

/**
 * An allow reveals: it keeps a call from a refusal below it. Was a person to be asked about the
 * call, then the refusal had made that needless, and the allow makes it count again.
 */
const DOINGS: readonly Doing[] = [
  { kind: 'leaves', strictness: STRICTNESS.ALLOW },
  { kind: 'fails', strictness: STRICTNESS.BLOCK },
  { kind: 'reveals', strictness: STRICTNESS.ALLOW },
  { kind: 'asks', strictness: STRICTNESS.ASK },
  { kind: 'asks', strictness: STRICTNESS.BLOCK },
  ...Object.values(STRICTNESS).map((strictness): Doing => ({ kind: 'settles', strictness })),
];
export const LEAVES: Doings = 1;
export const FAILS: Doings = 2;
export const REVEALS: Doings = 4;
const ASKS: Doings = 8;
const ASKS_IN_VAIN: Doings = 16;
const SETTLES_FIRST = 5;

/** What a condition reads of the call without reading its classes. */
const OTHER_PARTS = /\bcall\s*\.\s*(?:server_name|tool_name|args_hash|bytes_in)\b/g;

/** Facts depend on the rule and on whether people are asked at all. */
const factsKnown = {
  asking: new WeakMap<Rule, RuleFacts>(),
  blocking: new WeakMap<Rule, RuleFacts>(),
};

export function factsOf(rule: Rule, asking: boolean): RuleFacts {
  const remembered = asking ? factsKnown.asking : factsKnown.blocking;
  const found = remembered.get(rule);
  if (found !== undefined) return found;
  const applying = doingsOf(rule, asking);
  const facts: RuleFacts = {
    applying,
    all: mayFail(rule) ? applying | FAILS : applying,
    classes: new Set(rule.match.risk_class),
    whenReadsClasses: rule.when?.replace(OTHER_PARTS, '').includes('call') === true,
  };
  remembered.set(rule, facts);
  return facts;
}

function doingsOf(rule: Rule, asking: boolean): Doings {
  const { role, actionField = '' } = ruleKind(rule.kind);
  switch (role) {
    case 'allows':
      return settles('ALLOW');
    case 'tags':
      return LEAVES;
    case 'denies': {
      const hasHint = 'hint' in rule.effect && rule.effect.hint !== undefined;
      return settles(asking && hasHint ? 'REJECT_WITH_HINT' : 'BLOCK');
    }
    case 'asks':
      // Where nobody can be asked, a question is a block. And a person may have approved the call.
      return (asking ? ASKS : ASKS_IN_VAIN) | LEAVES;
    case 'counts':
      return settles(effectSection(rule)[actionField]) | LEAVES;
  }
}

function settles(action: unknown): Doings {
  const found = Object.entries(STRICTNESS).find(([name]) => name === action);
  return 1 << (SETTLES_FIRST + (found?.[1] ?? STRICTNESS.BLOCK));
}

/** A rule that looks at arguments, or has a condition, may fail; that stops the call. */
function mayFail(rule: Rule): boolean {
  return rule.when !== undefined || hasPredicates(rule);
}

function hasPredicates({ match }: Rule): boolean {
  return Object.values(match.args ?? {}).some((part) => Object.keys(part).length > 0);
}

/** How strictly a call is treated that the first of two rules sees before the second. */
function strictnessOf(first: Doing, second: Doing, asking: boolean): number {
  switch (first.kind) {
    case 'settles':
    case 'fails':
      return first.strictness;
    case 'leaves':
      return second.strictness;
    case 'asks':
      // A person is asked only about what no other rule stops.
      return stops(second) ? second.strictness : first.strictness;
    case 'reveals':
      if (!stops(second)) return second.strictness;
      return asking ? STRICTNESS.ASK : STRICTNESS.BLOCK;
  }
}

function stops({ kind, strictness }: Doing): boolean {
  return kind === 'fails' || (kind === 'settles' && strictness > 0);
}

/** What happens when a rule's share in a call goes from one doing to others, beside another rule. */
interface Shift {
  readonly from: Doings;
  readonly to: Doings;
  readonly other: Doings;
  /** Whether the rule stands above the other one. */
  readonly isAbove: boolean;
  readonly asking: boolean;
}

/** Directions as bits, so that they add up. */
const LOOSENS = 1;
const TIGHTENS = 2;
const EFFECTS: readonly Effect[] = ['none', 'loosens', 'tightens', 'mixed'];
/** There are few sets of doings, so these stay small. */
const shiftsKnown = new Map<number, number>();
const turnsKnown = new Map<number, number>();

export function shiftBits({ from, to, other, isAbove, asking }: Shift): number {
  const flags = Number(isAbove) * 2 + Number(asking);
  const key = ((from * 2_048 + to) * 2_048 + other) * 4 + flags;
  const known = shiftsKnown.get(key);
  if (known !== undefined) return known;
  let bits = 0;
  for (const second of listed(other)) {
    const total = (doing: Doing) =>
      isAbove ? strictnessOf(doing, second, asking) : strictnessOf(second, doing, asking);
    for (const old of listed(from)) {
      for (const current of listed(to)) bits |= compared(total(old), total(current));
    }
  }
  shiftsKnown.set(key, bits);
  return bits;
}

/** What it does that one rule stands above another, where it stood below. */
export function turnBits(upper: Doings, lower: Doings, asking: boolean): number {
  const key = (upper * 2_048 + lower) * 2 + Number(asking);
  const known = turnsKnown.get(key);
  if (known !== undefined) return known;
  let bits = 0;
  for (const one of listed(upper)) {
    for (const other of listed(lower)) {
      bits |= compared(strictnessOf(other, one, asking), strictnessOf(one, other, asking));
    }
  }
  turnsKnown.set(key, bits);
  return bits;
}

function listed(doings: Doings): readonly Doing[] {
  return DOINGS.filter((_, bit) => (doings & (1 << bit)) !== 0);
}

function compared(was: number, is: number): number {
  if (is === was) return 0;
  return is > was ? TIGHTENS : LOOSENS;
}

export function effectOf(bits: number): Effect {
  return EFFECTS[bits] ?? 'mixed';
}
