// Events in few words, for tests only; parsed, so that only what could be recorded is shown.
import { type Event, parseEvent } from '@subluminal/contracts';
import { type LineOptions, lineFormatter } from './call-lines.ts';
import { CallFold, type Folded, type FoldOptions } from './fold.ts';

const HASH = 'a'.repeat(64);
export const POLICY = { policy_id: 'team', policy_version: '1.0.0', policy_hash: HASH };
const REF = { call_id: 'c1', server_name: 'git', tool_name: 'push', args_hash: HASH };

export interface Parts {
  readonly [field: string]: unknown;
}

/** A local time, so that the tests hold in every time zone. */
export function localTs(second: number, ms = 0): string {
  return new Date(2026, 0, 31, 12, 0, second, ms).toISOString();
}

export function event(type: string, body: Parts, envelope: Parts = {}): Event {
  const source = { host_id: 'h', proc_id: 'p', shim_id: 's' };
  const who = { run_id: 'run-1', agent_id: 'ada', client: 'claude', env: 'dev', source };
  const parsed = parseEvent({ v: '0.2.0', type, ts: localTs(0), ...who, ...envelope, ...body });
  if (!parsed.ok) throw new Error(`not an event: ${JSON.stringify(parsed)}`);
  return parsed.event;
}

export function start(call: Parts = {}, envelope: Parts = {}): Event {
  const rest = { transport: 'mcp_stdio', bytes_in: 2, preview: { truncated: false }, seq: 1 };
  return event('tool_call_start', { call: { ...REF, ...rest, ...call } }, envelope);
}

export function decision(made: Parts = {}, call: Parts = {}, envelope: Parts = {}): Event {
  const whole = {
    action: 'ALLOW',
    rule_id: null,
    severity: 'info',
    explain: { summary: 'No rule stops this call.', reason_code: 'DEFAULT_ALLOW' },
    policy: POLICY,
    ...made,
  };
  return event('tool_call_decision', { call: { ...REF, ...call }, decision: whole }, envelope);
}

export function blocked(made: Parts = {}, call: Parts = {}, envelope: Parts = {}): Event {
  const explain = { summary: 'Nobody pushes here.', reason_code: 'DENYLIST_MATCH' };
  return decision({ action: 'BLOCK', rule_id: 'no-push', explain, ...made }, call, envelope);
}

export function end(body: Parts = {}, call: Parts = {}, envelope: Parts = {}): Event {
  const fixed = { status: 'OK', latency_ms: 12, bytes_out: 3, preview: { truncated: false } };
  return event('tool_call_end', { call: { ...REF, ...call }, ...fixed, ...body }, envelope);
}

export function runStart(envelope: Parts = {}): Event {
  const run = { started_at: localTs(0), mode: 'guardrails', policy: POLICY };
  return event('run_start', { run }, envelope);
}

export function runEnd(envelope: Parts = {}): Event {
  const summary = {
    calls_total: 3,
    calls_allowed: 2,
    calls_blocked: 1,
    calls_throttled: 0,
    errors_total: 1,
    duration_ms: 2_500,
  };
  const run = { ended_at: localTs(9), status: 'SUCCEEDED', summary };
  return event('run_end', { run }, envelope);
}

/** The lines that events complete, as `sub tail` prints them. */
export function createTailRenderer(options: LineOptions, folding: FoldOptions = {}) {
  const fold = new CallFold(folding);
  const format = lineFormatter(options);
  const lines = (folded: readonly Folded[]) => folded.flatMap((one) => format(one));
  return { push: (one: Event) => lines(fold.push(one)), rest: () => lines(fold.rest()) };
}
