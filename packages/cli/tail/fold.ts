// From events to calls: three or four events become one call, returned when it is refused or has ended.
// What is remembered is bounded in number and in length, however many calls never end.
import {
  type Action,
  type CallEvent,
  type CallStatus,
  type CallSubject,
  type ContentOutcome,
  callSubject,
  type Event,
  type EventOf,
  isCallEvent,
  type JsonObject,
} from '@subluminal/contracts';
import { eventMember, mainArgument, readArgs } from '@subluminal/plane/ledger';
import { usageText } from '../ledger/turn-text.ts';

export interface FoldedCall {
  readonly kind: 'call';
  readonly run_id: string;
  readonly agent_id: string;
  readonly call_id: string;
  readonly principal: string | null;
  readonly client: string;
  readonly subject: CallSubject;
  /** The argument that tells most, as `name=value`; null when it is not on record. */
  readonly argument: string | null;
  /** All of them, where they are asked for. */
  readonly args_preview?: string | null;
  /** Whether the arguments are those that a filter asks for. */
  readonly fits_args: boolean;
  /** Null where the event was before the first one that was seen. */
  readonly started_at: string | null;
  readonly decided_at: string | null;
  /** Null for a call that was refused, or that still runs. */
  readonly ended_at: string | null;
  readonly decision: Action | null;
  readonly rule_id: string | null;
  readonly reason_code: string | null;
  /** The hint of a refusal with one, else the reason for a person. */
  readonly summary: string | null;
  readonly hint: string | null;
  readonly backoff_ms: number | null;
  /** What an enforcing policy would have done. */
  readonly would: { readonly action: Action; readonly rule_id: string | null } | null;
  readonly status: CallStatus | null;
  readonly latency_ms: number | null;
  readonly error: string | null;
  /** What was found in the arguments, and in the answer. */
  readonly args_content: ContentOutcome | null;
  readonly result_content: ContentOutcome | null;
}

/** An event beside the calls that is worth a line. */
export interface FoldedNotice {
  readonly kind: 'notice';
  readonly event: Event;
  /** The server behind the shim that sent it; null when no event has named it. */
  readonly server_name: string | null;
}

export type Folded = FoldedCall | FoldedNotice;

export interface FoldLimits {
  readonly pendingMax: number;
  readonly toldMax: number;
  readonly shimsMax: number;
}

export interface FoldOptions {
  readonly limits?: Partial<FoldLimits>;
  /** Keep all arguments of a call, not only the one that tells most. */
  readonly allArgs?: boolean;
  /** Which arguments are asked for, and the folder that their relative names begin in. */
  readonly fitsArgs?: ((args: JsonObject, folder: string | undefined) => boolean) | undefined;
}

const LIMITS: FoldLimits = { pendingMax: 10_000, toldMax: 10_000, shimsMax: 1_000 };
const NAME_LENGTH_MAX = 1_024;
const TEXT_LENGTH_MAX = 4_096;

type Draft = { -readonly [K in keyof FoldedCall]: FoldedCall[K] };

interface Pending {
  readonly call: Draft;
  readonly shimId: string;
}

export class CallFold {
  readonly #limits: FoldLimits;
  readonly #options: FoldOptions;
  /** Calls that were not returned yet, the oldest first. */
  readonly #pending = new Map<string, Pending>();
  /** Calls that were returned when they were refused: their end adds nothing. */
  readonly #shown = new Map<string, true>();
  /** The server that each shim stands in front of. */
  readonly #servers = new Map<string, string>();

  constructor(options: FoldOptions = {}) {
    this.#limits = { ...LIMITS, ...options.limits };
    this.#options = options;
  }

  /** The calls and notices that this event completes. */
  push(event: Event): readonly Folded[] {
    this.#learn(event);
    if (isCallEvent(event)) return this.#onCall(event);
    const notice = this.#notice(event);
    return event.type === 'run_end' ? [...this.#leftBy(event), ...notice] : notice;
  }

  /** Calls that still wait for their decision or their end. */
  rest(): readonly FoldedCall[] {
    const calls = [...this.#pending.values()].map(({ call }) => call);
    this.#pending.clear();
    return calls;
  }

  /** Only some events name a server; for the others, the shim that sent them tells it. */
  #learn(event: Event): void {
    const name = eventMember(event.type).names?.(event).server_name;
    const shimId = event.source.shim_id;
    if (name === undefined || this.#servers.has(shimId)) return;
    dropOldest(this.#servers, this.#limits.shimsMax);
    this.#servers.set(shimId, bounded(name, NAME_LENGTH_MAX));
  }

  #notice(event: Event): readonly FoldedNotice[] {
    const serverName = this.#servers.get(event.source.shim_id) ?? null;
    const text = eventMember(event.type).notice?.(event, { runName: event.run_id, serverName });
    return text === undefined ? [] : [{ kind: 'notice', event, server_name: serverName }];
  }

  #onCall(event: CallEvent): readonly Folded[] {
    const key = keyOf(event);
    if (this.#shown.has(key)) {
      if ('status' in event) this.#shown.delete(key);
      return [];
    }
    const known = this.#pending.get(key);
    const call = known?.call ?? draftOf(event, this.#options);
    if ('decision' in event) addDecision(call, event);
    else if ('status' in event) addEnd(call, event);
    else addStart(call, event, this.#options);
    if (call.ended_at !== null || isRefused(call)) {
      this.#pending.delete(key);
      if (call.ended_at !== null) return [call];
      dropOldest(this.#shown, this.#limits.toldMax);
      this.#shown.set(key, true);
      return [call];
    }
    if (known !== undefined) return [];
    // A call that never ends must not be kept for ever: it is returned as it is.
    const oldest = dropOldest(this.#pending, this.#limits.pendingMax);
    this.#pending.set(key, { call, shimId: event.source.shim_id });
    return oldest === undefined ? [] : [oldest.call];
  }

  /** A run has a shim per server; those of the others may still go on. */
  #leftBy({ run_id, source }: EventOf<'run_end'>): readonly FoldedCall[] {
    const left = [...this.#pending].filter(
      ([, { call, shimId }]) => call.run_id === run_id && shimId === source.shim_id,
    );
    for (const [key] of left) this.#pending.delete(key);
    return left.map(([, { call }]) => call);
  }
}

/** Makes room for one entry in a map that may hold `max`; returns the value that had to go. */
function dropOldest<V>(map: Map<string, V>, max: number): V | undefined {
  const [oldest] = map;
  if (oldest === undefined || map.size < max) return undefined;
  map.delete(oldest[0]);
  return oldest[1];
}

/** Ids may hold any character: the length says where the first ends. */
function keyOf({ run_id, call }: CallEvent): string {
  return `${run_id.length} ${run_id}${call.call_id}`;
}

function isRefused({ decision }: FoldedCall): boolean {
  return decision !== null && decision !== 'ALLOW';
}

function draftOf(event: CallEvent, { fitsArgs }: FoldOptions): Draft {
  const { run_id, agent_id, principal, client, call } = event;
  return {
    kind: 'call',
    run_id: bounded(run_id, NAME_LENGTH_MAX),
    agent_id: bounded(agent_id, NAME_LENGTH_MAX),
    call_id: bounded(call.call_id, NAME_LENGTH_MAX),
    principal: principal === undefined ? null : bounded(principal, NAME_LENGTH_MAX),
    client,
    subject: boundedSubject(callSubject(event)),
    argument: null,
    fits_args: fitsArgs === undefined,
    started_at: null,
    decided_at: null,
    ended_at: null,
    decision: null,
    rule_id: null,
    reason_code: null,
    summary: null,
    hint: null,
    backoff_ms: null,
    would: null,
    status: null,
    latency_ms: null,
    error: null,
    args_content: null,
    result_content: null,
  };
}

function boundedSubject(subject: CallSubject): CallSubject {
  const cut = (text: string) => bounded(text, NAME_LENGTH_MAX);
  return subject.kind === 'turn'
    ? { ...subject, provider: cut(subject.provider), model: cut(subject.model) }
    : { ...subject, server_name: cut(subject.server_name), tool_name: cut(subject.tool_name) };
}

function addStart(
  call: Draft,
  event: EventOf<'tool_call_start' | 'turn_start'>,
  { fitsArgs, allArgs = false }: FoldOptions,
): void {
  const { args_preview = null } = event.call.preview;
  call.started_at = event.ts;
  if (allArgs) call.args_preview = args_preview;
  const args = args_preview === null ? undefined : readArgs(args_preview);
  if (args === undefined) return;
  call.argument = mainArgument(args);
  if (fitsArgs !== undefined) call.fits_args = fitsArgs(args, event.workload?.repo_path);
}

function addEnd(call: Draft, event: EventOf<'tool_call_end' | 'turn_end'>): void {
  call.ended_at = event.ts;
  call.status = event.status;
  call.latency_ms = event.latency_ms;
  call.error = event.error ? bounded(event.error.message, TEXT_LENGTH_MAX) : null;
  call.result_content = contentOf(event.call);
  if (event.type === 'turn_end' && event.usage !== undefined) {
    const { tokens_in, tokens_out, cost_micros = null } = event.usage;
    call.argument = usageText({ tokens_in, tokens_out, cost_micros });
  }
}

function addDecision(call: Draft, event: EventOf<'tool_call_decision' | 'turn_decision'>): void {
  const { ts, decision } = event;
  const { action, rule_id, explain, hint, terminate, backoff_ms, would } = decision;
  call.decided_at = ts;
  call.args_content = contentOf(event.call);
  call.decision = action;
  call.rule_id = rule_id === null ? null : bounded(rule_id, NAME_LENGTH_MAX);
  call.reason_code = bounded(explain.reason_code, NAME_LENGTH_MAX);
  call.summary = bounded(terminate?.terminate_message ?? explain.summary, TEXT_LENGTH_MAX);
  call.hint = hint === undefined ? null : bounded(hint.hint_text, TEXT_LENGTH_MAX);
  call.backoff_ms = backoff_ms ?? null;
  call.would =
    would === undefined
      ? null
      : { action: would.action, rule_id: would.rule_id && bounded(would.rule_id, NAME_LENGTH_MAX) };
}

/** Only the fields that the contract bounds. */
function contentOf({ content }: { readonly content?: ContentOutcome }): ContentOutcome | null {
  return content ? { action: content.action, findings: content.findings } : null;
}

function bounded(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}
