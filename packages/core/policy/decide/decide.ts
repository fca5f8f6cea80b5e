// Decides one call by a snapshot, a state and a time.
import type { Decision, Mode, Rule } from '@subluminal/contracts';
import {
  type CompiledRule,
  candidatesFor,
  policiesIn,
  type Snapshot,
} from '../compile/snapshot.ts';
import type { CallMoment } from '../counters/scope.ts';
import { LazyInput, type MatchInput, selects } from '../match/match.ts';
import type { Call, CallResult, Outcome, TraceStep } from '../model/call.ts';
import type { Tally, Trip } from '../model/trip.ts';
import type { RuleSlot } from '../rule-kind/rule-kind.ts';
import { overruled, stricterOutcome } from './stricter.ts';
import {
  afterTermination,
  carryState,
  decisionOf,
  enforces,
  INVALID_NAME,
  NOT_SELECTED,
  type PolicyState,
  spared,
  type Verdict,
  withoutMarks,
} from './verdict.ts';

/** The working state of one evaluation, local to a call of `decide`. */
interface Evaluation {
  readonly snapshot: Snapshot;
  readonly input: MatchInput;
  readonly at: CallMoment;
  readonly slots: RuleSlot[];
  readonly riskClass: string[];
  readonly trace: TraceStep[];
  /** Rules that remember the call if it passes. */
  readonly marking: CompiledRule[];
  verdict: Verdict | undefined;
  /** The first approval that is still missing; a later refusal overrides it. */
  asks: Verdict | undefined;
  /** The first rule that could not be evaluated, where that must stop the call. */
  failure: Verdict | undefined;
  /** The first rule that lacked the arguments: it stops the call even where errors let calls pass. */
  uninspected: Verdict | undefined;
}

/**
 * Decides one call. Touches nothing: the same arguments always give the same outcome, and a
 * caller that does not adopt the returned state has only simulated the call.
 */
// The design fixes these four.
// oxlint-disable-next-line max-params
export function decide(
  snapshot: Snapshot,
  call: Call,
  state: PolicyState,
  nowMs: number,
): Outcome<PolicyState> {
  const outcome = decideOne(snapshot, call, { state, nowMs });
  const { tightenedBy } = snapshot;
  if (tightenedBy === undefined) return outcome;
  // The second policy goes on from the state of the first: their counters are in one state.
  const second = decideOne(tightenedBy, call, { state: outcome.state, nowMs });
  const stricter = stricterOutcome(outcome, second);
  if (stricter.decision.action === 'ALLOW') return stricter;
  const before = carryState(state, snapshot);
  return { ...stricter, state: withoutMarks(snapshot, before, stricter.state) };
}

/** Decides by one policy alone. */
function decideOne(
  snapshot: Snapshot,
  call: Call,
  { state, nowMs }: { readonly state: PolicyState; readonly nowMs: number },
): Outcome<PolicyState> {
  const carried = carryState(state, snapshot);
  if (!selects(snapshot.document.selectors, call.identity)) {
    return { decision: NOT_SELECTED, state: carried, trace: [], risk_class: call.risk_class ?? [] };
  }
  if (carried.terminated !== null && enforces(snapshot)) {
    const decision = afterTermination(carried.terminated);
    return { decision, state: carried, trace: [], risk_class: call.risk_class ?? [] };
  }
  const evaluation = evaluationOf(snapshot, call, { state: carried, nowMs });
  if (!isValidName(call.server_name) || !isValidName(call.tool_name)) {
    return refuseName(evaluation, carried);
  }
  for (const compiled of candidatesFor(snapshot, call)) {
    evaluate(compiled, evaluation);
  }
  return conclude(evaluation, call, carried);
}

/** Longer names are no names, and matching them would be a way to keep the shim busy. */
const NAME_LENGTH_MAX = 1_024;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** A line break in a name would slip past `^shell_.*$`, and mislead readers of a log. */
function isValidName(name: string): boolean {
  return name.length > 0 && name.length <= NAME_LENGTH_MAX && !CONTROL.test(name);
}

function refuseName({ snapshot, riskClass }: Evaluation, state: PolicyState): Outcome<PolicyState> {
  const enforced = enforces(snapshot);
  const decision = enforced ? INVALID_NAME : spared(INVALID_NAME);
  return { decision, state, trace: [], risk_class: riskClass };
}

function evaluationOf(
  snapshot: Snapshot,
  call: Call,
  { state, nowMs }: { readonly state: PolicyState; readonly nowMs: number },
): Evaluation {
  const riskClass = call.risk_class === undefined ? [] : [...call.risk_class];
  return {
    snapshot,
    input: new LazyInput(snapshot.engines, { call, riskClass, nowMs }),
    at: callMoment(call, nowMs, snapshot.document.mode),
    slots: state.slots.slice(),
    riskClass,
    trace: [],
    marking: [],
    verdict: undefined,
    asks: undefined,
    failure: undefined,
    uninspected: undefined,
  };
}

function callMoment(call: Call, nowMs: number, mode: Mode): CallMoment {
  const none = undefined;
  const keys = { tool: none, serverTool: none, toolCall: none, serverToolCall: none };
  return { call, nowMs, mode, keys };
}

function evaluate(compiled: CompiledRule, evaluation: Evaluation): void {
  const { rule, match } = compiled;
  try {
    const matched = match.call === undefined ? 'yes' : match.call(evaluation.input);
    if (matched === 'no') return;
    if (matched === 'yes') return apply(compiled, evaluation);
    if (matched === 'uninspected') return uninspected(rule, evaluation);
    failed(rule, matched.failed, evaluation);
  } catch (cause) {
    // A rule that breaks must never take the shim down, nor pass as one that did not match.
    failed(rule, cause instanceof Error ? cause.message : 'it broke', evaluation);
  }
}

/** The slot of a rule without state. */
const NO_SLOT: RuleSlot = {};

function apply(compiled: CompiledRule, evaluation: Evaluation): void {
  const { rule, kind, slot } = compiled;
  const result = kind.decide(rule, evaluation.at, evaluation.slots[slot] ?? NO_SLOT);
  switch (result.kind) {
    case 'tag':
      addClasses(result.classes, evaluation);
      return note(evaluation, step(rule, 'tagged'));
    case 'allow': {
      const { reasonCode, summary } = result;
      return settle(evaluation, { kind: 'allow', rule, reasonCode, summary });
    }
    case 'stop':
      return settle(evaluation, { kind: 'trip', rule, trip: result.trip });
    case 'ask':
      if (evaluation.verdict === undefined) {
        evaluation.asks ??= { kind: 'trip', rule, trip: result.trip };
      }
      return note(evaluation, step(rule, 'asks'));
    case 'approved':
      return note(evaluation, step(rule, 'approved'));
    case 'count': {
      const { tally, trip } = result;
      evaluation.slots[slot] = result.slot;
      if (kind.passed !== undefined) evaluation.marking.push(compiled);
      if (trip === undefined) return note(evaluation, step(rule, 'counted', tally));
      return settle(evaluation, { kind: 'trip', rule, trip }, tally);
    }
  }
}

/** The limit of an event; every later rule checks all of them. */
const RISK_CLASSES_MAX = 1_000;

function addClasses(names: readonly string[], { input, riskClass }: Evaluation): void {
  for (const name of names) {
    if (input.riskSet.has(name)) continue;
    if (riskClass.length >= RISK_CLASSES_MAX) throw new Error('too many risk classes');
    input.riskSet.add(name);
    riskClass.push(name);
  }
}

/** The first rule that decides wins; the others have only been counted. */
function settle(evaluation: Evaluation, verdict: Verdict, tally: Tally | null = null): void {
  const first = evaluation.verdict === undefined;
  if (first) evaluation.verdict = verdict;
  note(evaluation, step(verdict.rule, first ? 'decided' : 'would_decide', tally));
}

/** Fails closed whatever the bundle says: else padding the arguments would be a way past a rule. */
function uninspected(rule: Rule, evaluation: Evaluation): void {
  const summary = 'The arguments are too large to inspect, and a rule depends on them.';
  const stopped = stop(rule, { reasonCode: 'ARGS_NOT_INSPECTED', summary }, evaluation);
  evaluation.uninspected ??= stopped;
  note(evaluation, { ...step(rule, 'failed'), note: 'the arguments were not inspected' });
}

function failed(rule: Rule, why: string, evaluation: Evaluation): void {
  if (evaluation.snapshot.document.defaults.decision_on_error === 'BLOCK') {
    const summary = 'A rule could not be evaluated for this call.';
    stop(rule, { reasonCode: 'POLICY_ERROR', summary }, evaluation);
  }
  note(evaluation, { ...step(rule, 'failed'), note: why.slice(0, 500) });
}

function stop(
  rule: Rule,
  reason: { readonly reasonCode: string; readonly summary: string },
  evaluation: Evaluation,
): Verdict | undefined {
  if (evaluation.verdict !== undefined) return undefined;
  const trip: Trip = { action: 'BLOCK', hintKind: 'SAFETY', ...reason };
  const stopped: Verdict = { kind: 'trip', rule, trip };
  evaluation.failure ??= stopped;
  return stopped;
}

/** Makes the outcome: failures come first, then the rule that decided, then one that asks. */
function conclude(evaluation: Evaluation, call: Call, state: PolicyState): Outcome<PolicyState> {
  const { snapshot, riskClass } = evaluation;
  const verdict = finalVerdict(evaluation);
  const decision = decisionOf(verdict, call);
  if (decision.action === 'ALLOW') remember(evaluation);
  const enforced = enforces(snapshot);
  return {
    decision: decision.action === 'ALLOW' || enforced ? decision : spared(decision),
    state: {
      layout: snapshot.layout,
      slots: evaluation.slots,
      terminated: enforced ? termination(decision) : state.terminated,
    },
    // A failure or a missing approval came before the rule that seemed to decide.
    trace: verdict === evaluation.verdict ? evaluation.trace : overruled(evaluation.trace),
    risk_class: riskClass,
  };
}

function finalVerdict(evaluation: Evaluation): Verdict | undefined {
  const { verdict, asks, failure, uninspected: unread, riskClass, snapshot } = evaluation;
  const readOnly = riskClass.includes('read_like') && !riskClass.includes('write_like');
  const failsOpen = snapshot.document.defaults.fail_open_read_tools && readOnly;
  const stopped = failsOpen ? unread : failure;
  if (stopped !== undefined) return stopped;
  // A person is asked only about what no later rule refuses anyway.
  if (asks !== undefined && (verdict === undefined || verdict.kind === 'allow')) return asks;
  return verdict;
}

function termination(decision: Decision): PolicyState['terminated'] {
  if (decision.terminate === undefined) return null;
  return { rule_id: decision.rule_id ?? '', ...decision.terminate };
}

function remember(evaluation: Evaluation): void {
  const { marking, slots, at } = evaluation;
  for (const { rule, kind, slot } of marking) {
    const marked = kind.passed?.(rule, at, slots[slot] ?? NO_SLOT);
    if (marked !== undefined) slots[slot] = marked;
  }
}

function step(rule: Rule, outcome: TraceStep['outcome'], tally: Tally | null = null): TraceStep {
  return { rule_id: rule.rule_id, kind: rule.kind, outcome, tally, note: null };
}

function note(evaluation: Evaluation, taken: TraceStep): void {
  evaluation.trace.push(taken);
}

/** Replaces what a turn has reserved by what it cost. `trace` is the one its decision came with. */
export function settleCost(
  snapshot: Snapshot,
  ended: {
    readonly call: Call;
    readonly micros: number;
    readonly trace: readonly TraceStep[];
    readonly nowMs: number;
  },
  state: PolicyState,
): PolicyState {
  const carried = carryState(state, snapshot);
  const counted = ended.trace.filter(({ outcome }) => outcome === 'counted');
  const watching = new Set(counted.map(({ rule_id }) => rule_id));
  const moment = callMoment(ended.call, ended.nowMs, snapshot.document.mode);
  const slots = carried.slots.slice();
  for (const { rule, kind, slot } of policiesIn(snapshot).flatMap(({ rules }) => rules)) {
    if (kind.settled === undefined || !watching.has(rule.rule_id)) continue;
    slots[slot] = kind.settled(rule, { moment, micros: ended.micros }, slots[slot] ?? NO_SLOT);
  }
  return { ...carried, slots };
}

/** Counts how a forwarded call ended. `trace` is the one its decision came with. */
export function recordResult(
  snapshot: Snapshot,
  ended: {
    readonly call: Call;
    readonly result: CallResult;
    readonly trace: readonly TraceStep[];
    readonly nowMs: number;
  },
  state: PolicyState,
): PolicyState {
  const carried = carryState(state, snapshot);
  if (ended.result === 'ok') return carried;
  // A rule that could not be evaluated was skipped for this call: it is not known to watch it.
  const evaluated = ended.trace.filter(({ outcome }) => outcome !== 'failed');
  const watching = new Set(evaluated.map(({ rule_id }) => rule_id));
  const moment = callMoment(ended.call, ended.nowMs, snapshot.document.mode);
  const slots = carried.slots.slice();
  for (const { rule, kind, slot } of policiesIn(snapshot).flatMap(({ rules }) => rules)) {
    if (kind.failed === undefined || !watching.has(rule.rule_id)) continue;
    slots[slot] = kind.failed(rule, moment, slots[slot] ?? NO_SLOT);
  }
  return { ...carried, slots };
}
