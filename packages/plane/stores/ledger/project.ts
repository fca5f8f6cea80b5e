// From events to rows: what each event adds to the tables. Pure; the order of seq is the order here.
import {
  type ContentOutcome,
  type Event,
  type EventOf,
  type PolicyRef,
  parseEventLine,
} from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/json';
import { digestOf, hex } from './chain.ts';
import { OWN_PRODUCER, type PolicyRecord, readPolicy } from './own-events.ts';
import { withoutNul } from './read-line.ts';
import type { EventRow } from './store.ts';
import {
  type Cell,
  type Delta,
  FLAGS,
  type HINTS,
  type POLICY_VERSIONS,
  type PREVIEWS,
  type RUNS,
  type TOOL_CALLS,
} from './tables.ts';

type RunDelta = Delta<typeof RUNS>;
export type CallRowDelta = Delta<typeof TOOL_CALLS>;
type PreviewDelta = Delta<typeof PREVIEWS>;
type HintDelta = Delta<typeof HINTS>;
type PolicyDelta = Delta<typeof POLICY_VERSIONS>;

/** What changes with every event of the row. */
interface RunChange {
  readonly run_id: string;
  agent_id: string;
  client: string;
  env: string;
  principal: string | null;
  first_at: number;
  last_at: number;
  events: number;
  started_at: number | null;
  start: RunDelta | undefined;
  end: RunDelta | undefined;
}

export interface CallChange {
  readonly id: number;
  readonly run_id: string;
  readonly call_id: string;
  readonly agent_id: string;
  readonly server_name: string;
  readonly tool_name: string;
  readonly args_hash: string;
  created_at: number;
  events: number;
  preview_truncated: number;
  risk_json: string | null;
  /** What the last event of each kind says. */
  start: CallRowDelta | undefined;
  decision: CallRowDelta | undefined;
  end: CallRowDelta | undefined;
  /** Filed under the id of the call, which only the store knows. */
  preview: PreviewDelta | undefined;
}

/** What a batch of events changes, each row once. */
export interface Projection {
  readonly runs: Map<string, RunChange>;
  readonly calls: Map<string, CallChange>;
  readonly hints: Map<string, HintDelta>;
  readonly policies: Map<string, PolicyDelta>;
}

/** Goes up when the same events make other rows than before; ledgers are then rebuilt. */
export const PROJECTION_VERSION = '2';

/** The event types that change a row of `tool_calls`. */
export const CALL_TYPES: ReadonlySet<string> = new Set([
  'tool_call_start',
  'tool_call_decision',
  'tool_call_end',
]);

export function emptyProjection(): Projection {
  return { runs: new Map(), calls: new Map(), hints: new Map(), policies: new Map() };
}

export function projectEvent(into: Projection, event: Event, { seq, atMs }: When): void {
  const run = runOf(into, event, atMs);
  switch (event.type) {
    case 'run_start':
      addRunStart(run, event);
      return addPolicy(into, event.run.policy, { mode: event.run.mode, created_at: atMs });
    case 'run_end':
      return addRunEnd(run, event);
    case 'policy_loaded': {
      const rules_json = rulesOf(event);
      return addPolicy(into, event.policy, { mode: event.mode, rules_json, created_at: atMs });
    }
    case 'tool_call_start':
      return addStart(callOf(into, event, { seq, atMs }), event);
    case 'tool_call_decision':
      addDecision(callOf(into, event, { seq, atMs }), event);
      if (event.decision.hint === undefined) return undefined;
      return addHint(into, event, { ...event.decision.hint, call_id: event.call.call_id, atMs });
    case 'tool_call_end':
      return addEnd(callOf(into, event, { seq, atMs }), event);
    case 'hint_issued':
      return addHint(into, event, { ...event.hint, call_id: event.call.call_id, atMs });
    default:
      return undefined;
  }
}

/** The row that a change makes, or merges into. Spelled out: it runs for every call. */
export function callRow(change: CallChange): CallRowDelta {
  const { start, decision, end } = change;
  return {
    id: change.id,
    run_id: change.run_id,
    call_id: change.call_id,
    agent_id: change.agent_id,
    server_name: change.server_name,
    tool_name: change.tool_name,
    args_hash: change.args_hash,
    transport: start?.transport ?? null,
    call_seq: start?.call_seq ?? null,
    bytes_in: start?.bytes_in ?? null,
    risk_json: change.risk_json,
    decision: decision?.decision ?? null,
    rule_id: decision?.rule_id ?? null,
    severity: decision?.severity ?? null,
    reason_code: decision?.reason_code ?? null,
    summary: decision?.summary ?? null,
    would_action: decision?.would_action ?? null,
    would_rule_id: decision?.would_rule_id ?? null,
    args_content_json: decision?.args_content_json ?? null,
    status: end?.status ?? null,
    latency_ms: end?.latency_ms ?? null,
    bytes_out: end?.bytes_out ?? null,
    error_class: end?.error_class ?? null,
    error_message: end?.error_message ?? null,
    result_content_json: end?.result_content_json ?? null,
    preview_truncated: change.preview_truncated,
    created_at: change.created_at,
    events: change.events,
  };
}

export function runRow(change: RunChange): RunDelta {
  const { run_id, agent_id, client, env, principal, started_at, first_at, last_at } = change;
  const always = { run_id, agent_id, client, env, principal, started_at, first_at, last_at };
  return { ...always, events: change.events, ...change.start, ...change.end };
}

/** Takes in an event as it is stored; what is pruned or of an unknown type changes nothing. */
export function projectRow(into: Projection, row: EventRow): void {
  const { line, seq, producer } = row;
  if (line === null) return;
  if (producer === OWN_PRODUCER) {
    const policy = readPolicy(line);
    if (policy !== undefined) projectPolicy(into, policy);
    return;
  }
  const parsed = parseEventLine(withoutNul(line));
  if (parsed.ok) projectEvent(into, parsed.event, { seq, atMs: Date.parse(parsed.event.ts) });
}

/** Takes in a policy that the ledger itself recorded. */
export function projectPolicy(into: Projection, policy: PolicyRecord): void {
  const { policy_id, version, rules_hash, mode, rules_json, created_at_ms: created_at } = policy;
  const ref = { policy_id, policy_version: version, policy_hash: rules_hash };
  addPolicy(into, ref, { mode, rules_json, created_at });
}

/** Two ids as one key; the length keeps them apart, whatever they hold. */
function pairKey(left: string, right: string): string {
  return `${left.length}:${left}${right}`;
}

interface When {
  readonly seq: number;
  readonly atMs: number;
}

function runOf(into: Projection, event: Event, atMs: number): RunChange {
  const { run_id, agent_id, client, env, principal = null } = event;
  const run = into.runs.get(run_id);
  if (run !== undefined) {
    run.agent_id = agent_id;
    run.client = client;
    run.env = env;
    run.principal = principal ?? run.principal;
    run.first_at = Math.min(run.first_at, atMs);
    run.last_at = Math.max(run.last_at, atMs);
    run.events += 1;
    return run;
  }
  const who = { run_id, agent_id, client, env, principal };
  const times = { first_at: atMs, last_at: atMs, started_at: null };
  const made = { ...who, ...times, events: 1, start: undefined, end: undefined };
  into.runs.set(run_id, made);
  return made;
}

function addRunStart(run: RunChange, event: EventOf<'run_start'>): void {
  const { started_at, mode, policy, meta } = event.run;
  const startedMs = Date.parse(started_at);
  run.started_at = Math.min(run.started_at ?? startedMs, startedMs);
  const metadata = { ...(meta && { meta }), ...(event.workload && { workload: event.workload }) };
  run.start = {
    mode,
    policy_id: policy.policy_id,
    policy_version: policy.policy_version,
    policy_hash: policy.policy_hash,
    metadata_json: JSON.stringify(metadata),
  };
}

function addRunEnd(run: RunChange, event: EventOf<'run_end'>): void {
  const { ended_at, status, summary } = event.run;
  run.end = { ended_at: Date.parse(ended_at), status, summary_json: JSON.stringify(summary) };
}

type CallEvent = EventOf<'tool_call_start' | 'tool_call_decision' | 'tool_call_end'>;

function callOf(into: Projection, event: CallEvent, { seq, atMs }: When): CallChange {
  const { run_id, agent_id } = event;
  const { call_id, server_name, tool_name, args_hash } = event.call;
  const key = pairKey(run_id, call_id);
  const known = into.calls.get(key);
  if (known !== undefined) {
    known.events += 1;
    known.created_at = Math.min(known.created_at, atMs);
    return known;
  }
  const made: CallChange = {
    id: seq,
    run_id,
    call_id,
    agent_id,
    server_name,
    tool_name,
    args_hash,
    created_at: atMs,
    events: 1,
    preview_truncated: 0,
    risk_json: null,
    start: undefined,
    decision: undefined,
    end: undefined,
    preview: undefined,
  };
  into.calls.set(key, made);
  return made;
}

function addStart(change: CallChange, { call }: EventOf<'tool_call_start'>): void {
  const { transport, bytes_in, seq: call_seq, preview, risk_class, tags, call_id } = call;
  change.start = { transport, bytes_in, call_seq };
  addRisk(change, risk_class ?? tags);
  if (preview.truncated) change.preview_truncated = 1;
  const flags =
    (preview.truncated ? FLAGS.argsTruncated : 0) |
    (preview.previews_dropped === true ? FLAGS.argsDropped : 0) |
    (isPruned(preview) ? FLAGS.argsPruned : 0);
  addPreview(change, { call_id, args_preview: preview.args_preview ?? null }, flags);
}

function addDecision(change: CallChange, event: EventOf<'tool_call_decision'>): void {
  const { action, rule_id, severity, explain, would } = event.decision;
  change.decision = {
    decision: action,
    rule_id,
    severity,
    reason_code: explain.reason_code,
    summary: explain.summary,
    would_action: would?.action ?? null,
    would_rule_id: would?.rule_id ?? null,
    args_content_json: contentJson(event.call.content),
  };
  addRisk(change, event.call.risk_class);
}

function addEnd(change: CallChange, event: EventOf<'tool_call_end'>): void {
  const { status, latency_ms, bytes_out, preview, error, call } = event;
  const [error_class, error_message] = [error?.class ?? null, error?.message ?? null];
  const result_content_json = contentJson(call.content);
  const failure = { error_class, error_message };
  change.end = { status, latency_ms, bytes_out, ...failure, result_content_json };
  if (preview.truncated) change.preview_truncated = 1;
  const flags =
    (preview.truncated ? FLAGS.resultTruncated : 0) |
    (preview.previews_dropped === true ? FLAGS.resultDropped : 0) |
    (isPruned(preview) ? FLAGS.resultPruned : 0);
  const { call_id } = call;
  addPreview(change, { call_id, result_preview: preview.result_preview ?? null }, flags);
}

/** Of what later versions may add, nothing is kept. */
function contentJson(content: ContentOutcome | undefined): string | null {
  if (content === undefined) return null;
  return JSON.stringify({ action: content.action, findings: content.findings });
}

function addRisk(change: CallChange, classes: readonly string[] | undefined): void {
  if (classes !== undefined) change.risk_json = JSON.stringify(classes);
}

/** The mark that pruning leaves where a preview was. */
function isPruned(preview: object): boolean {
  return 'pruned' in preview && preview.pruned === true;
}

function addPreview(change: CallChange, added: PreviewDelta, flags: number): void {
  const { call_id = null, args_preview = null, result_preview = null } = added;
  if (args_preview === null && result_preview === null && flags === 0) return;
  const known = change.preview;
  change.preview = {
    call_id: known?.call_id ?? call_id,
    args_preview: args_preview ?? known?.args_preview ?? null,
    result_preview: result_preview ?? known?.result_preview ?? null,
    redaction_flags: Number(known?.redaction_flags ?? 0) | flags,
  };
}

interface HintParts {
  readonly call_id: string;
  readonly hint_text: string;
  readonly suggested_args: unknown;
  readonly retry_advice: string | null;
  readonly hint_kind: string;
  readonly atMs: number;
}

function addHint(into: Projection, { run_id }: Event, hint: HintParts): void {
  const { call_id, hint_text, suggested_args, retry_advice, hint_kind, atMs } = hint;
  const suggested_args_json = suggested_args === null ? null : JSON.stringify(suggested_args);
  const key = pairKey(run_id, call_id);
  const created_at = Math.min(Number(into.hints.get(key)?.created_at ?? atMs), atMs);
  const fields = { hint_text, suggested_args_json, retry_advice, hint_kind, created_at };
  into.hints.set(key, { run_id, call_id, ...fields });
}

/** The policy itself, when it is the one that its hash names; whoever wrote the line may lie. */
function rulesOf({ document, policy }: EventOf<'policy_loaded'>): string | null {
  if (document === undefined) return null;
  const written = canonicalize(JSON.stringify(document));
  if (!written.ok) return null;
  return hex(digestOf(written.canonical)) === policy.policy_hash ? written.canonical : null;
}

interface PolicyFields {
  readonly mode: string | null;
  readonly rules_json?: string | null;
  readonly created_at: number;
}

/** The smallest of each, as the columns say; see there why. */
function addPolicy(into: Projection, ref: PolicyRef, fields: PolicyFields): void {
  const { policy_id, policy_version: version, policy_hash: rules_hash } = ref;
  const key = pairKey(policy_id, pairKey(version, rules_hash));
  const known = into.policies.get(key);
  const mode = least(known?.mode, fields.mode);
  const rules_json = least(known?.rules_json, fields.rules_json);
  const created_at = least(known?.created_at, fields.created_at);
  into.policies.set(key, { policy_id, version, rules_hash, mode, rules_json, created_at });
}

function least(left: Cell | undefined, right: Cell | undefined): Cell {
  const [first, second] = [left ?? null, right ?? null];
  if (first === null || second === null) return first ?? second;
  return second < first ? second : first;
}
