// What a batch of events changes in the tables, each row once. The order of seq is the order here.
import {
  type CallEvent,
  callSubject,
  type Event,
  type Hint,
  type PolicyRef,
} from '@subluminal/contracts';
import type {
  APPROVALS,
  Cell,
  Delta,
  HINTS,
  POLICY_VERSIONS,
  PREVIEWS,
  RUNS,
  TOOL_CALLS,
} from './tables.ts';

/** The place of an event in the ledger, and its time. */
export interface EventPlace {
  readonly seq: number;
  readonly atMs: number;
}

export type RunDelta = Delta<typeof RUNS> & {
  run_id: string;
  first_at: number;
  last_at: number;
  events: number;
};
export type CallDelta = Delta<typeof TOOL_CALLS> & {
  readonly id: number;
  readonly run_id: string;
  readonly call_id: string;
  created_at: number;
  events: number;
};
type ApprovalDelta = Delta<typeof APPROVALS> & {
  readonly run_id: string;
  readonly call_id: string;
  readonly rule_id: string;
};
type PreviewDelta = Delta<typeof PREVIEWS>;

export interface CallChange {
  readonly row: CallDelta;
  /** The event that changes it now. */
  seq: number;
  /** Filed under the id of the call, which only the store knows. */
  preview: PreviewDelta | undefined;
}

export interface Projection {
  readonly runs: Map<string, RunDelta>;
  readonly calls: Map<string, CallChange>;
  readonly hints: Map<string, Delta<typeof HINTS>>;
  readonly approvals: Map<string, ApprovalDelta>;
  readonly policies: Map<string, Delta<typeof POLICY_VERSIONS>>;
}

export function emptyProjection(): Projection {
  return {
    runs: new Map(),
    calls: new Map(),
    hints: new Map(),
    approvals: new Map(),
    policies: new Map(),
  };
}

/** The row of the event's run, with what every event says of it. */
export function runDelta(into: Projection, event: Event, atMs: number): RunDelta {
  const { run_id, agent_id, client, env, principal = null } = event;
  const known = into.runs.get(run_id);
  if (known === undefined) {
    const made = {
      run_id,
      agent_id,
      client,
      env,
      principal,
      first_at: atMs,
      last_at: atMs,
      events: 1,
    };
    into.runs.set(run_id, made);
    return made;
  }
  known.agent_id = agent_id;
  known.client = client;
  known.env = env;
  known.principal = principal ?? known.principal ?? null;
  known.first_at = Math.min(known.first_at, atMs);
  known.last_at = Math.max(known.last_at, atMs);
  known.events += 1;
  return known;
}

/** The row of the event's call. */
export function callChange(
  into: Projection,
  event: CallEvent,
  { seq, atMs }: EventPlace,
): CallChange {
  const { run_id, agent_id, call } = event;
  const { call_id } = call;
  const key = pairKey(run_id, call_id);
  const known = into.calls.get(key);
  if (known !== undefined) {
    known.seq = seq;
    known.row.events += 1;
    known.row.created_at = Math.min(known.row.created_at, atMs);
    return known;
  }
  const row: CallDelta = {
    id: seq,
    run_id,
    call_id,
    agent_id,
    server_name: '',
    tool_name: '',
    args_hash: '',
    created_at: atMs,
    events: 1,
    preview_truncated: 0,
  };
  const made = { row: Object.assign(row, callSubject(event)), seq, preview: undefined };
  into.calls.set(key, made);
  return made;
}

export function addPreview(change: CallChange, added: PreviewDelta, flags: number): void {
  const { args_seq = null, result_seq = null } = added;
  if (args_seq === null && result_seq === null && flags === 0) return;
  const known = change.preview;
  change.preview = {
    args_seq: args_seq ?? known?.args_seq ?? null,
    result_seq: result_seq ?? known?.result_seq ?? null,
    redaction_flags: Number(known?.redaction_flags ?? 0) | flags,
  };
}

export function addHint(
  into: Projection,
  { run_id, call_id }: { readonly run_id: string; readonly call_id: string },
  hint: Hint & { readonly atMs: number },
): void {
  const { hint_text, suggested_args, retry_advice, hint_kind, atMs } = hint;
  const suggested_args_json = suggested_args === null ? null : JSON.stringify(suggested_args);
  const key = pairKey(run_id, call_id);
  const created_at = Math.min(Number(into.hints.get(key)?.created_at ?? atMs), atMs);
  const fields = { hint_text, suggested_args_json, retry_advice, hint_kind, created_at };
  into.hints.set(key, { run_id, call_id, ...fields });
}

export function addApproval(into: Projection, ended: ApprovalDelta): void {
  const { run_id, call_id, rule_id } = ended;
  into.approvals.set(pairKey(run_id, pairKey(call_id, rule_id)), ended);
}

interface PolicyFields {
  readonly mode: string | null;
  readonly rules_json?: string | null;
  readonly created_at: number;
}

/** The smallest of each, as the columns say; see there why. */
export function addPolicy(into: Projection, ref: PolicyRef, fields: PolicyFields): void {
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

/** Two ids as one key; the length keeps them apart, whatever they hold. */
function pairKey(left: string, right: string): string {
  return `${left.length}:${left}${right}`;
}
