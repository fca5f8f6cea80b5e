// Makes the decision for the agent from the verdict of a rule: modes, profiles, hints.
import type { Decision, Hint, HintRecipe, Rule } from '@subluminal/contracts';
import { type CompiledRule, type Layout, policiesIn, type Snapshot } from '../compile/snapshot.ts';
import { type CounterTable, emptyTable, type TableLimits, withLimits } from '../counters/table.ts';
import type { Call } from '../model/call.ts';
import type { Trip } from '../model/trip.ts';
import type { RuleSlot } from '../rule-kind/rule-kind.ts';
import { suggestArgs } from './suggest.ts';

/** The outcome of the rules: some rule decided, or none did. */
export type Verdict =
  | {
      readonly kind: 'allow';
      readonly rule: Rule;
      readonly reasonCode: string;
      readonly summary: string;
    }
  | { readonly kind: 'trip'; readonly rule: Rule; readonly trip: Trip };

const DEFAULT_ALLOW: Decision = {
  action: 'ALLOW',
  rule_id: null,
  severity: 'info',
  reason_code: 'DEFAULT_ALLOW',
  summary: 'No rule stops this call.',
};

export const NOT_SELECTED: Decision = {
  action: 'ALLOW',
  rule_id: null,
  severity: 'info',
  reason_code: 'NOT_SELECTED',
  summary: 'The policy is not for this agent.',
};

/** No rule is asked about an invalid name. */
export const INVALID_NAME: Decision = {
  action: 'BLOCK',
  rule_id: null,
  severity: 'warn',
  reason_code: 'INVALID_NAME',
  summary: 'The name of the server or tool is empty, too long, or has control characters in it.',
};

/** Whether refusals are carried out, or only recorded. */
export function enforces(snapshot: Snapshot): boolean {
  return snapshot.document.mode !== 'observe' && snapshot.profile === 'production';
}

/** The decision of an enforcing policy. */
export function decisionOf(verdict: Verdict | undefined, call: Call): Decision {
  if (verdict === undefined) return DEFAULT_ALLOW;
  const { rule } = verdict;
  if (verdict.kind === 'allow') return allowedBy(verdict);
  return refusalOf(rule, verdict.trip, call);
}

/** What each rule said when it last let a call pass: most say the same each time, and events show it by one text. */
const ALLOWED = new WeakMap<Rule, Decision>();

function allowedBy(verdict: Extract<Verdict, { kind: 'allow' }>): Decision {
  const { rule, reasonCode: reason_code, summary } = verdict;
  const known = ALLOWED.get(rule);
  if (known?.reason_code === reason_code && known.summary === summary) return known;
  const { rule_id, severity } = rule;
  const decision = Object.freeze({
    action: 'ALLOW',
    rule_id,
    severity,
    reason_code,
    summary,
  } as const);
  ALLOWED.set(rule, decision);
  return decision;
}

function refusalOf(rule: Rule, trip: Trip, call: Call): Decision {
  const base = {
    action: trip.action,
    rule_id: rule.rule_id,
    severity: rule.severity,
    reason_code: trip.reasonCode,
    summary: trip.summary,
  };
  switch (trip.action) {
    case 'BLOCK':
      return base;
    case 'THROTTLE':
      return { ...base, backoff_ms: trip.backoffMs ?? 0 };
    case 'TERMINATE_RUN': {
      const code = trip.terminateCode ?? trip.reasonCode;
      return { ...base, terminate: { terminate_code: code, terminate_message: trip.summary } };
    }
    case 'REJECT_WITH_HINT': {
      const { approval } = trip;
      const hinted = { ...base, hint: hintOf(rule, trip, call) };
      return approval === undefined ? hinted : { ...hinted, approval };
    }
  }
}

function hintOf(rule: Rule, trip: Trip, call: Call): Hint {
  const recipe: HintRecipe = ('hint' in rule.effect ? rule.effect.hint : undefined) ?? {};
  const suggested =
    recipe.suggest && call.args !== undefined ? suggestArgs(recipe.suggest, call.args) : null;
  return {
    hint_text: recipe.hint_text ?? trip.hintText ?? trip.summary,
    suggested_args: suggested,
    retry_advice: recipe.retry_advice ?? trip.retryAdvice ?? null,
    hint_kind: recipe.hint_kind ?? (suggested === null ? trip.hintKind : 'ARG_FIX'),
  };
}

/** Observe mode and the development profile let the call pass, and record the refusal that it was spared. */
export function spared(decision: Decision): Decision {
  const { action, rule_id, severity, reason_code, summary } = decision;
  return {
    action: 'ALLOW',
    rule_id,
    severity,
    reason_code: 'WOULD_BLOCK',
    summary: `Would be refused: ${summary}`,
    would: { action, rule_id, reason_code, summary },
  };
}

/** The decision on every call after the run has been ended. */
export function afterTermination(terminated: Termination): Decision {
  const { rule_id, terminate_code, terminate_message } = terminated;
  return {
    action: 'TERMINATE_RUN',
    rule_id,
    severity: 'critical',
    reason_code: 'RUN_TERMINATED',
    summary: `The run has been ended: ${terminate_message}`,
    terminate: { terminate_code, terminate_message },
  };
}

// The state of a policy in one run: an immutable value that `decide` takes and returns anew.

export interface Termination {
  readonly rule_id: string;
  readonly terminate_code: string;
  readonly terminate_message: string;
}

export interface PolicyState {
  readonly layout: Layout;
  readonly slots: readonly RuleSlot[];
  /** Set once an enforcing rule has ended the run: nothing passes after that. */
  readonly terminated: Termination | null;
}

/** The state of a run that has not made a call yet. */
export function initialState(snapshot: Snapshot): PolicyState {
  const slots = statefulRules(snapshot).map((rule) => slotFor(rule, undefined));
  return { layout: snapshot.layout, slots, terminated: null };
}

/** Carries counters into another snapshot: a rule of the same id and kind keeps its own. */
export function carryState(state: PolicyState, snapshot: Snapshot): PolicyState {
  if (state.layout === snapshot.layout) return state;
  const slots = statefulRules(snapshot).map((rule, index) => {
    const owner = snapshot.layout.owners[index] ?? '';
    return slotFor(rule, state.slots[state.layout.owners.indexOf(owner)]);
  });
  return { layout: snapshot.layout, slots, terminated: state.terminated };
}

/** In the order of the layout. */
function statefulRules(snapshot: Snapshot): readonly CompiledRule[] {
  const rules = policiesIn(snapshot).flatMap((policy) => policy.rules);
  return rules.filter(({ slot }) => slot >= 0);
}

/** The state after a call that did not pass in the end: no rule remembers that it let it pass. */
export function withoutMarks(
  snapshot: Snapshot,
  before: PolicyState,
  after: PolicyState,
): PolicyState {
  if (before.layout !== after.layout) return after;
  const slots = after.slots.slice();
  for (const { kind, slot } of policiesIn(snapshot).flatMap(({ rules }) => rules)) {
    const old = before.slots[slot];
    if (kind.passed !== undefined && old !== undefined) slots[slot] = old;
  }
  return { ...after, slots };
}

/** A rule's slot, with its counts so far. */
function slotFor({ rule, kind }: CompiledRule, known: RuleSlot | undefined): RuleSlot {
  const limits = Object.entries(kind.tables?.(rule) ?? {});
  return Object.fromEntries(limits.map(([name, one]) => [name, tableFor(known?.[name], one)]));
}

function tableFor<V>(known: CounterTable<V> | undefined, limits: TableLimits): CounterTable<V> {
  return known === undefined ? emptyTable(limits) : withLimits(known, limits);
}
