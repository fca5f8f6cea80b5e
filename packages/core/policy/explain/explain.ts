// A decision, with the result of every rule.

import type {
  Decision,
  Mode,
  PolicyRef,
  Profile,
  Rule,
  RuleKindName,
  Severity,
} from '@subluminal/contracts';
import { policiesIn, type Snapshot } from '../compile/snapshot.ts';
import { decide } from '../decide/decide.ts';
import { enforces, type PolicyState } from '../decide/verdict.ts';
import { onFirstUse, selects } from '../match/match.ts';
import type { Call, Outcome, TraceStep } from '../model/call.ts';
import { ruleClasses } from '../rules/index.ts';
import { ruleReview } from '../rules/reviews.ts';
import {
  commandParts,
  conditionsOf,
  conditionWords,
  listed,
  type Mismatch,
  mismatchOf,
  quotedText,
  selectorMismatch,
} from './why.ts';

export interface ExplainedRule {
  readonly rule_id: string;
  readonly kind: RuleKindName;
  readonly severity: Severity;
  /** `skipped`: no rule was evaluated, because the policy or the run decided before. */
  readonly outcome: 'disabled' | 'no_match' | 'skipped' | TraceStep['outcome'];
  /** Harmless text, whatever the call holds. */
  readonly why: string;
  readonly tally: TraceStep['tally'];
  /** With `no_match`: the part that the call did not fit. */
  readonly unmet?: Omit<Mismatch, 'why'>;
}

export interface Explanation {
  readonly decision: Decision;
  readonly policy: PolicyRef;
  readonly mode: Mode;
  readonly profile: Profile;
  readonly call: Pick<Call, 'server_name' | 'tool_name' | 'subject' | 'args_hash'>;
  /** Whether the policy is for this agent, and if not, why. */
  readonly selected: boolean;
  readonly selector: string;
  readonly risk_class: readonly string[];
  /** Every rule of the policy, in order. */
  readonly rules: readonly ExplainedRule[];
  /** Sections that decide only while a run goes on. */
  readonly not_evaluated: readonly Section[];
  /** A second policy that is applied as well; its rules stand behind those of the first. */
  readonly tightened_by?: SecondPolicy;
}

interface SecondPolicy {
  readonly policy_id: string;
  readonly policy_version: string;
  readonly mode: Mode;
  readonly selected: boolean;
}

interface ExplainQuestion {
  readonly call: Call;
  readonly state: PolicyState;
  readonly nowMs: number;
  /** Takes secrets out of the values that are shown. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Decides a call without counting it, and explains the decision. */
export function explain(snapshot: Snapshot, question: ExplainQuestion): Explanation {
  const { call, state, nowMs } = question;
  const outcome = decide(snapshot, call, state, nowMs);
  const { document, ref: policy, profile, tightenedBy } = snapshot;
  const left = selectorMismatch(document.selectors, call.identity);
  const second = tightenedBy === undefined ? {} : { tightened_by: secondOf(tightenedBy, call) };
  const { server_name, tool_name, subject, args_hash } = call;
  return {
    decision: outcome.decision,
    policy,
    mode: document.mode,
    profile,
    call: { server_name, tool_name, ...(subject !== undefined && { subject }), args_hash },
    selected: left === undefined,
    selector: left ?? 'the policy is for this agent',
    risk_class: outcome.risk_class,
    rules: explainRules(snapshot, question, outcome),
    not_evaluated: sectionsOf(snapshot),
    ...second,
  };
}

function secondOf({ document }: Snapshot, { identity }: Call): SecondPolicy {
  const left = selectorMismatch(document.selectors, identity);
  const { policy_id, version: policy_version, mode } = document;
  return { policy_id, policy_version, mode, selected: left === undefined };
}

function explainRules(
  snapshot: Snapshot,
  { call, state, nowMs, redact = String }: ExplainQuestion,
  outcome: Outcome<PolicyState>,
): readonly ExplainedRule[] {
  let taken = 0;
  return policiesIn(snapshot).flatMap((policy) => {
    const skipped = skippedBecause(policy, { call, state }, outcome.decision);
    const riskClass = [...(call.risk_class ?? [])];
    const { engines } = policy;
    const disk = onFirstUse(engines.diskView);
    const command = onFirstUse(() => engines.commandOf(call));
    const seen = { call, riskClass, nowMs, engines, disk, command, redact };
    return policy.written.map((rule) => {
      if (!rule.enabled) return explained(rule, 'disabled', 'the rule is switched off');
      if (skipped !== undefined) return explained(rule, 'skipped', skipped);
      const step = outcome.trace[taken];
      if (step?.rule_id !== rule.rule_id) {
        const { why, ...unmet } = mismatchOf(rule, seen);
        return { ...explained(rule, 'no_match', why), unmet };
      }
      taken += 1;
      // What a tag adds is seen by the rules below it only.
      if (step.outcome === 'tagged') riskClass.push(...ruleClasses(rule));
      const fails = step.outcome === 'failed' && rule.when !== undefined;
      const where = fails ? `: ${conditionWords(conditionsOf(rule.when, seen))}` : '';
      const why = whyOf(step, rule, outcome.decision) + where + commandParts(rule, seen);
      return { ...explained(rule, step.outcome, why), tally: step.tally };
    });
  });
}

/** Why no rule was looked at; undefined when they were. */
function skippedBecause(
  snapshot: Snapshot,
  { call, state }: Pick<ExplainQuestion, 'call' | 'state'>,
  decision: Decision,
): string | undefined {
  const { selectors } = snapshot.document;
  if (!selects(selectors, call.identity)) return 'the policy is not for this agent';
  if (state.terminated !== null && enforces(snapshot)) return 'the run had been ended before';
  // A rule may give the same reason, but then the decision names the rule.
  const { reason_code, rule_id } = decision.would ?? decision;
  return reason_code === 'INVALID_NAME' && rule_id === null ? 'the name is not valid' : undefined;
}

function explained(rule: Rule, outcome: ExplainedRule['outcome'], why: string): ExplainedRule {
  const { rule_id, kind, severity } = rule;
  return { rule_id, kind, severity, outcome, why, tally: null };
}

function whyOf(step: TraceStep, rule: Rule, decision: Decision): string {
  const { action, rule_id, reason_code } = decision.would ?? decision;
  // Nothing is enforced in observe mode and in development: a rule then only would have acted.
  const spared = decision.would !== undefined;
  const final = rule_id === step.rule_id;
  const winner = quotedText(rule_id ?? 'another rule');
  switch (step.outcome) {
    case 'decided':
      return `it ${spared ? 'would decide' : 'decides'}: ${action}, ${quotedText(reason_code)}`;
    case 'would_decide':
      return `it matches too, but ${winner} ${spared ? 'would decide' : 'decides'}`;
    case 'counted':
      return (
        (step.tally && ruleReview(rule.kind).explainCount?.(step.tally)) ?? 'it counted the call'
      );
    case 'tagged':
      return `it adds ${listed(ruleClasses(rule))}`;
    case 'asks':
      if (!final) return `it asks a person, but ${winner} ${spared ? 'would decide' : 'decides'}`;
      return `it ${spared ? 'would need' : 'needs'} a person to approve`;
    case 'approved':
      return 'a person has approved it';
    case 'failed': {
      const stopped = `so the call ${spared ? 'would be' : 'is'} stopped`;
      const then = final ? stopped : 'and it does not count here';
      return `it could not be evaluated (${quotedText(step.note ?? 'unknown')}), ${then}`;
    }
  }
}

// What a policy has beside its rules. It looks at what calls and answers hold, and at what the run has
// read before: neither is known when a call is explained or replayed.

export type Section = 'content' | 'taint';

/** The sections of a policy that an explanation or a replay leaves out. */
export function sectionsOf(snapshot: Snapshot): readonly Section[] {
  const sections: readonly Section[] = ['content', 'taint'];
  const policies = policiesIn(snapshot);
  return sections.filter((name) => policies.some(({ document }) => document[name] !== undefined));
}

/** The lines that name these sections; none when there are none. */
export function sectionLines(sections: readonly Section[]): readonly string[] {
  if (sections.length === 0) return [];
  const named = sections.map((section) => `\`${section}\``).join(' and ');
  return ['', `Not evaluated here: ${named}, which may stop more.`];
}
