// What a run did, from its events alone: for trace bundles, with or without a ledger. Pure.
import {
  type Action,
  type CallEvent,
  callSubject,
  type Event,
  type EventOf,
  isCallEvent,
  type PolicyRef,
  parseEventLine,
  subjectNames,
} from '@subluminal/contracts';
import { degradedReason } from '../event-types/shim-health.ts';
import type {
  ChangedDefinition,
  FailedCall,
  NamedCall,
  PolicyTally,
  RunSummary,
  RunWarning,
  ToolTally,
  Violation,
} from './run-summary.ts';

const LISTED_MAX = 1_000;
const NAMES_MAX = 1_000;
const CALLS_MAX = 1_000_000;
const POLICIES_MAX = 100;
const STARTED = 1;
const DECIDED = 2;
const ALLOWED = 4;
/** It ended with an error of ours; of a call that was allowed, its answer was held back. */
const STOPPED = 8;

/** Counts everything, and keeps the first of it. */
class BoundedList<T> {
  readonly entries: T[] = [];
  total = 0;

  add(entry: T): void {
    this.total += 1;
    if (this.entries.length < LISTED_MAX) this.entries.push(entry);
  }
}

/** Takes the lines of one run in any order; lines of other runs are the caller's mistake. */
export class RunSummarizer {
  #first: Event | undefined;
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;
  #start: EventOf<'run_start'> | undefined;
  #end: EventOf<'run_end'> | undefined;
  readonly #calls = new Map<string, number>();
  readonly #decisions: { [A in Action]: number } = {
    ALLOW: 0,
    BLOCK: 0,
    THROTTLE: 0,
    REJECT_WITH_HINT: 0,
    TERMINATE_RUN: 0,
  };
  readonly #rules = new Map<string, number>();
  readonly #policies = new Map<string, PolicyTally>();
  readonly #tools = new Map<string, ToolTally>();
  readonly #changed = new Map<string, ChangedDefinition>();
  readonly #warnings = new BoundedList<RunWarning>();
  readonly #violations = new BoundedList<Violation>();
  readonly #spared = new BoundedList<Violation>();
  readonly #errors = new BoundedList<FailedCall>();
  readonly #totals = { events: 0, malformed: 0, unknown: 0 };
  readonly #turns = { total: 0, tokens_in: 0, tokens_out: 0, cost_micros: 0 };
  #undecided = 0;
  #heldBack = 0;
  #incomplete = false;

  addLine(line: string): void {
    const parsed = parseEventLine(line);
    if (parsed.ok) this.add(parsed.event);
    else if (parsed.kind === 'unknown_type') this.#totals.unknown += 1;
    else this.#totals.malformed += 1;
  }

  add(event: Event): void {
    this.#totals.events += 1;
    this.#first ??= event;
    const atMs = Date.parse(event.ts);
    this.#firstMs = Math.min(this.#firstMs, atMs);
    this.#lastMs = Math.max(this.#lastMs, atMs);
    if (event.type === 'turn_end') this.#addTurn(event);
    if (event.type === 'run_start') {
      this.#start ??= event;
      this.#policyTally(event.run.policy);
    } else if (event.type === 'policy_loaded') this.#policyTally(event.policy);
    else if (event.type === 'surface') this.#addChange(event);
    else if (event.type === 'shim_health') this.#addWarning(event);
    else if (event.type === 'run_end') this.#end = event;
    else if (isCallEvent(event)) {
      if ('decision' in event) this.#addDecision(event);
      else if ('status' in event) this.#addEnd(event);
      else this.#addCall(event, STARTED);
    }
  }

  finish(): RunSummary {
    const [first, start, end] = [this.#first, this.#start, this.#end];
    const { events, malformed, unknown } = this.#totals;
    return {
      format: 'subluminal.summary.v1',
      run_id: first?.run_id ?? null,
      agent_id: first?.agent_id ?? null,
      client: first?.client ?? null,
      env: first?.env ?? null,
      principal: first?.principal ?? null,
      status: end?.run.status ?? null,
      mode: start?.run.mode ?? null,
      policy: start?.run.policy ?? null,
      policies: mostCalls(this.#policies.values()),
      started_at: start?.run.started_at ?? isoOf(this.#firstMs),
      ended_at: end?.run.ended_at ?? null,
      totals: this.#callTotals(),
      calls_undecided: this.#undecided,
      answers_held_back: this.#heldBack,
      definitions_changed: [...this.#changed.values()],
      warnings_total: this.#warnings.total,
      warnings: this.#warnings.entries,
      decisions: { ...this.#decisions },
      rules: Array.from(this.#rules, ([rule_id, count]) => ({ rule_id, count })).toSorted(
        (left, right) => right.count - left.count,
      ),
      tools: mostCalls(this.#tools.values()),
      violations_total: this.#violations.total,
      violations: this.#violations.entries,
      spared_total: this.#spared.total,
      spared: this.#spared.entries,
      errors: this.#errors.entries,
      ...(this.#turns.total > 0 && { turns: { ...this.#turns } }),
      events_total: events,
      lines_malformed: malformed,
      events_unknown: unknown,
      incomplete: this.#incomplete,
    };
  }

  #addTurn({ usage }: EventOf<'turn_end'>): void {
    const turns = this.#turns;
    turns.total += 1;
    turns.tokens_in += usage?.tokens_in ?? 0;
    turns.tokens_out += usage?.tokens_out ?? 0;
    turns.cost_micros += usage?.cost_micros ?? 0;
  }

  #callTotals(): RunSummary['totals'] {
    const { ALLOW, BLOCK, THROTTLE, REJECT_WITH_HINT, TERMINATE_RUN } = this.#decisions;
    const blocked = BLOCK + REJECT_WITH_HINT + TERMINATE_RUN;
    const startMs =
      this.#start === undefined ? this.#firstMs : Date.parse(this.#start.run.started_at);
    const endMs = this.#end === undefined ? this.#lastMs : Date.parse(this.#end.run.ended_at);
    const spanMs = endMs - startMs;
    return {
      calls_total: ALLOW + blocked + THROTTLE + this.#undecided,
      calls_allowed: ALLOW,
      calls_blocked: blocked,
      calls_throttled: THROTTLE,
      errors_total: this.#errors.total,
      duration_ms: Number.isFinite(spanMs) ? Math.max(0, spanMs) : 0,
    };
  }

  /** The marks that the call had before. A call is counted once, however many events it has. */
  #addCall(event: CallEvent, flag: number): number {
    const { call_id } = event.call;
    const marks = this.#calls.get(call_id) ?? 0;
    if (marks === 0 && this.#calls.size >= CALLS_MAX) this.#incomplete = true;
    else this.#calls.set(call_id, marks | flag);
    const known = marks & (STARTED | DECIDED);
    if (known === 0) {
      const tool = this.#toolTally(event);
      if (tool !== undefined) tool.calls += 1;
    }
    if (flag === STARTED && known === 0) this.#undecided += 1;
    if (flag === DECIDED && known === STARTED) this.#undecided -= 1;
    return known;
  }

  #addDecision(event: EventOf<'tool_call_decision' | 'turn_decision'>): void {
    const known = this.#addCall(event, DECIDED);
    if ((known & DECIDED) !== 0) return;
    const { action, rule_id, would, severity, policy, explain } = event.decision;
    const isRefused = action !== 'ALLOW';
    this.#decisions[action] += 1;
    const tally = this.#policyTally(policy);
    if (tally !== undefined) {
      tally.calls += 1;
      if (isRefused) tally.refused += 1;
    }
    if (rule_id !== null) this.#countRule(rule_id);
    if (isRefused) {
      const { reason_code, summary } = explain;
      const tool = this.#toolTally(event);
      if (tool !== undefined) tool.refused += 1;
      const why = { action, rule_id, severity, reason_code, summary };
      this.#violations.add({ ...namedCall(event), ...why });
      return;
    }
    this.#mark(event.call.call_id, ALLOWED);
    if (would === undefined || would.action === 'ALLOW') return;
    const { action: spared, rule_id: rule, reason_code, summary } = would;
    const why = { action: spared, rule_id: rule, severity, reason_code, summary };
    this.#spared.add({ ...namedCall(event), ...why });
  }

  /** A refused call ends with an error of ours; only what the server did wrong counts here. */
  #addEnd(event: EventOf<'tool_call_end' | 'turn_end'>): void {
    const { status, error } = event;
    if (error?.class === 'policy_block') return this.#mark(event.call.call_id, STOPPED);
    if (status === 'OK') return;
    const tool = this.#toolTally(event);
    if (tool !== undefined) tool.errors += 1;
    const why = { class: error?.class ?? 'unknown', message: error?.message ?? '' };
    this.#errors.add({ ...namedCall(event), status, ...why });
  }

  /** The decision and the end of a call may come in any order. */
  #mark(callId: string, flag: number): void {
    const known = this.#calls.get(callId) ?? 0;
    if (known === 0 && this.#calls.size >= CALLS_MAX) return;
    const both = ALLOWED | STOPPED;
    this.#calls.set(callId, known | flag);
    if ((known & both) !== both && ((known | flag) & both) === both) this.#heldBack += 1;
  }

  #addWarning(event: EventOf<'shim_health'>): void {
    const reason = degradedReason(event);
    if (reason !== undefined) this.#warnings.add({ ts: event.ts, reason });
  }

  #addChange(event: EventOf<'surface'>): void {
    const tally = changedDefinition(event);
    if (tally === undefined) return;
    const { server_name, tool_name } = tally;
    const key = `${server_name.length}:${server_name}${tool_name ?? ''}`;
    this.#known(this.#changed, key, { tally, max: NAMES_MAX });
  }

  #countRule(ruleId: string): void {
    const known = this.#rules.get(ruleId);
    if (known === undefined && this.#rules.size >= NAMES_MAX) this.#incomplete = true;
    else this.#rules.set(ruleId, (known ?? 0) + 1);
  }

  #toolTally(event: CallEvent): ToolTally | undefined {
    const { server_name, tool_name } = namedCall(event);
    const key = `${server_name.length}:${server_name}${tool_name}`;
    const tally = { server_name, tool_name, calls: 0, refused: 0, errors: 0 };
    return this.#known(this.#tools, key, { tally, max: NAMES_MAX });
  }

  /** Also of a policy that was in force and has decided nothing. */
  #policyTally({ policy_id, policy_version, policy_hash }: PolicyRef): PolicyTally | undefined {
    const tally = { policy_id, policy_version, policy_hash, calls: 0, refused: 0 };
    return this.#known(this.#policies, policy_hash, { tally, max: POLICIES_MAX });
  }

  /** The tally of a key, or the given one; undefined when there are too many. */
  #known<T>(
    tallies: Map<string, T>,
    key: string,
    { tally, max }: { readonly tally: T; readonly max: number },
  ): T | undefined {
    const known = tallies.get(key);
    if (known !== undefined) return known;
    if (tallies.size >= max) {
      this.#incomplete = true;
      return undefined;
    }
    tallies.set(key, tally);
    return tally;
  }
}

/** Undefined for what needs no person. */
export function changedDefinition(event: EventOf<'surface'>): ChangedDefinition | undefined {
  const { what, server_name, name = null, enforced } = event.surface;
  if (what !== 'tool_changed' && what !== 'instructions_changed') return undefined;
  return { ts: event.ts, server_name, tool_name: what === 'tool_changed' ? name : null, enforced };
}

function namedCall(event: CallEvent): NamedCall {
  const [server_name, tool_name] = subjectNames(callSubject(event));
  return { ts: event.ts, call_id: event.call.call_id, server_name, tool_name };
}

function mostCalls<T extends { readonly calls: number }>(tallies: Iterable<T>): readonly T[] {
  return [...tallies].toSorted((left, right) => right.calls - left.calls);
}

function isoOf(ms: number): string | null {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : null;
}

/** The summary of all lines at once. */
export function summarize(lines: Iterable<string>): RunSummary {
  const summarizer = new RunSummarizer();
  for (const line of lines) summarizer.addLine(line);
  return summarizer.finish();
}
