// The registry of rule kinds. A further kind is a folder here, a line below, one in `reviews.ts`, and
// one in contract B.
import type { Rule, RuleKindName, RuleOf } from '@subluminal/contracts';
import type { TraceStep } from '../model/call.ts';
import type { RuleRole } from '../model/rule-role.ts';
import type { RuleKind } from '../rule-kind/rule-kind.ts';
import { allow } from './allow/index.ts';
import { approval } from './approval/index.ts';
import { breaker } from './breaker/index.ts';
import { budget } from './budget/index.ts';
import { dedupe } from './dedupe/index.ts';
import { deny } from './deny/index.ts';
import { rateLimit } from './rate_limit/index.ts';
import { tag } from './tag/index.ts';

export const RULE_KINDS: { readonly [K in RuleKindName]: RuleKind<RuleOf<K>> } = {
  allow,
  deny,
  budget,
  rate_limit: rateLimit,
  breaker,
  dedupe,
  approval,
  tag,
};

const byName: { readonly [K in RuleKindName]: RuleKind } = RULE_KINDS;

/** The handlers of a kind. Compiling looks them up once per rule, so that deciding does not. */
export function ruleKind(name: RuleKindName): RuleKind {
  return byName[name];
}

/** The handlers of a kind by a name that anybody may have written. */
export function findRuleKind(name: string): RuleKind | undefined {
  return Object.entries(byName).find(([known]) => known === name)?.[1];
}

export function ruleRole({ kind }: Rule): RuleRole {
  return ruleKind(kind).role;
}

/** The risk classes that a rule adds; none for most kinds. */
export function ruleClasses(rule: Rule): readonly string[] {
  return ruleKind(rule.kind).classes?.(rule) ?? [];
}

/** Whether a rule counts calls of several servers together. */
export function countsAcrossServers(rule: Rule): boolean {
  return ruleKind(rule.kind).countsAcrossServers?.(rule) === true;
}

/** Whether a rule that has looked at a call counts its failure. */
export function awaitsResult({ kind }: TraceStep): boolean {
  return ruleKind(kind).failed !== undefined;
}
