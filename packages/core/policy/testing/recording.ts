// Recorded events in few words, for tests only.
import {
  type Decision,
  type Event,
  type EventOf,
  eventDecision,
  parseEvent,
} from '@subluminal/contracts';

/** Stands for SHA-256: tells short texts apart, and looks like one. */
export const sha256 = (text: string) =>
  Array.from(text, (char) => (char.codePointAt(0) ?? 0).toString(16).padStart(2, '0'))
    .join('')
    .padEnd(64, '0')
    .slice(0, 64);
export const EMPTY_HASH = sha256('{}');
const POLICY = { policy_id: 'old', policy_version: '1', policy_hash: EMPTY_HASH };
const NAMES = { server_name: 'git', tool_name: 'push', args_hash: EMPTY_HASH };
const source = { host_id: 'h', proc_id: 'p', shim_id: 's' };
const ALLOWED = { action: 'ALLOW', rule_id: null, severity: 'info' } as const;
export const WORDS = { reason_code: 'CODE', summary: 'Why.' };

interface At {
  readonly run?: string | undefined;
  readonly second?: number | undefined;
}
export type Parts = At & { readonly [field: string]: unknown };

/** What every event of these tests has; parsed, so that the tests replay what could be recorded. */
function event(type: string, { run = 'run', second = 0 }: At, body: object): Event {
  const ts = `2026-01-01T00:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}Z`;
  const who = { run_id: run, agent_id: 'a', client: 'claude', env: 'dev', source };
  const parsed = parseEvent({ v: '0.2.0', type, ts, ...who, ...body });
  if (!parsed.ok) throw new Error(`not an event: ${JSON.stringify(parsed)}`);
  return parsed.event;
}
/** `parts` go into the call; `run` and `second` say when and where. */
export function start(call_id: string, seq: number, { run, second, ...parts }: Parts = {}): Event {
  const preview = { truncated: false, args_preview: '{}' };
  const fixed = { call_id, seq, ...NAMES, transport: 'mcp_stdio', bytes_in: 2, preview };
  return event('tool_call_start', { run, second }, { call: { ...fixed, ...parts } });
}
export function turnStart(call_id: string, seq: number, at: At = {}): Event {
  const fixed = { transport: 'messages_api', bytes_in: 2, preview: { truncated: true } };
  const call = { call_id, seq, provider: 'anthropic', model: 'm', ...fixed };
  return event('turn_start', at, { call });
}
export function decision(call_id: string, made: Partial<Decision> = {}, at: At = {}): Event {
  const whole = eventDecision({ ...ALLOWED, ...WORDS, ...made }, POLICY);
  return event('tool_call_decision', at, { call: { call_id, ...NAMES }, decision: whole });
}
export function end(
  call_id: string,
  status: EventOf<'tool_call_end'>['status'],
  { run, second, ...parts }: Parts = {},
): Event {
  const fixed = { status, latency_ms: 1, bytes_out: 1, preview: { truncated: false } };
  return event(
    'tool_call_end',
    { run, second },
    { call: { call_id, ...NAMES }, ...fixed, ...parts },
  );
}
export const withArgs = (text: string, hashed = text) => ({
  args_hash: sha256(hashed),
  preview: { truncated: false, args_preview: text },
});
