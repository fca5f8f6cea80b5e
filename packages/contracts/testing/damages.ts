// What makes the valid values of samples.ts invalid.
import type { JsonValue } from '../shape/shape.ts';
import { HASH } from './samples.ts';

/** One change to a valid value that makes it invalid; `undefined` removes the field. */
export interface Damage {
  readonly sample: string;
  readonly path: string;
  readonly value: JsonValue | undefined;
}

const EVENT_DAMAGES: readonly Damage[] = [
  ...['v', 'type', 'ts', 'run_id', 'agent_id', 'client', 'env', 'source'].map((path) => ({
    sample: 'run_start',
    path,
    value: undefined,
  })),
  { sample: 'run_start', path: 'v', value: '1.0.0' },
  { sample: 'run_start', path: 'type', value: 7 },
  { sample: 'run_start', path: 'ts', value: '2026-02-30T12:00:00Z' },
  { sample: 'run_start', path: 'ts', value: '2023-02-29T12:00:00Z' },
  { sample: 'run_start', path: 'ts', value: '2026-01-31T12:00:60Z' },
  { sample: 'run_start', path: 'ts', value: '2026-01-31T12:00:00+01:00' },
  { sample: 'run_start', path: 'run_id', value: '' },
  { sample: 'run_start', path: 'agent_id', value: 'a'.repeat(65_537) },
  { sample: 'run_start', path: 'client', value: 'Claude' },
  { sample: 'run_start', path: 'env', value: 'staging' },
  { sample: 'run_start', path: 'source.shim_id', value: undefined },
  { sample: 'run_start', path: 'run.mode', value: 'enforce' },
  { sample: 'run_start', path: 'run.policy.policy_hash', value: HASH.toUpperCase() },
  { sample: 'tool_call_start', path: 'workload.labels.team', value: 1 },
  { sample: 'tool_call_start', path: 'profile', value: 'staging' },
  { sample: 'tool_call_start', path: 'call.seq', value: 0 },
  { sample: 'tool_call_start', path: 'call.bytes_in', value: -1 },
  { sample: 'tool_call_start', path: 'call.bytes_in', value: 1.5 },
  { sample: 'tool_call_start', path: 'call.bytes_in', value: 2 ** 53 },
  { sample: 'tool_call_start', path: 'call.transport', value: 'carrier_pigeon' },
  { sample: 'tool_call_start', path: 'call.preview.truncated', value: undefined },
  { sample: 'tool_call_start', path: 'call.tags', value: [''] },
  { sample: 'tool_call_start', path: 'call.server_name', value: '' },
  { sample: 'tool_call_start', path: 'call.tool_name', value: '' },
  { sample: 'tool_call_start', path: 'call.tool_name', value: '😀'.repeat(65_537) },
  { sample: 'tool_call_start', path: 'workload.labels', value: { ['k'.repeat(1_025)]: '' } },
  { sample: 'tool_call_decision', path: 'decision.policy', value: undefined },
  { sample: 'tool_call_decision', path: 'decision.explain.reason_code', value: undefined },
  { sample: 'tool_call_decision', path: 'decision.rule_id', value: undefined },
  { sample: 'tool_call_decision', path: 'decision.action', value: 'DENY' },
  { sample: 'tool_call_decision', path: 'counter_scope', value: 'host' },
  { sample: 'tool_call_decision', path: 'trace', value: [{ rule_id: 'r' }] },
  { sample: 'throttled', path: 'decision.backoff_ms', value: undefined },
  { sample: 'throttled', path: 'decision.backoff_ms', value: null },
  { sample: 'hinted', path: 'decision.hint', value: undefined },
  { sample: 'hinted', path: 'decision.hint.suggested_args', value: [1] },
  { sample: 'hinted', path: 'decision.hint.hint_kind', value: 'OTHERS' },
  { sample: 'terminated', path: 'decision.terminate', value: undefined },
  { sample: 'terminated', path: 'decision.terminate.terminate_code', value: undefined },
  { sample: 'tool_call_end', path: 'status', value: 'ok' },
  { sample: 'tool_call_end', path: 'latency_ms', value: '12' },
  { sample: 'tool_call_end', path: 'error.code', value: true },
  { sample: 'tool_call_end', path: 'error.class', value: undefined },
  { sample: 'run_end', path: 'run.summary', value: undefined },
  { sample: 'run_end', path: 'run.summary.duration_ms', value: undefined },
  { sample: 'run_end', path: 'run.status', value: 'DONE' },
  { sample: 'hint_issued', path: 'call.call_id', value: undefined },
  { sample: 'turn_start', path: 'call.model', value: '' },
  { sample: 'turn_decision', path: 'call.provider', value: undefined },
  { sample: 'turn_decision', path: 'decision', value: undefined },
  { sample: 'turn_end', path: 'usage.tokens_in', value: undefined },
  { sample: 'secret_injection', path: 'secret.source', value: 'mind' },
  { sample: 'approval', path: 'approval.state', value: 'maybe' },
  { sample: 'tool_call_decision', path: 'call.content.action', value: 'allow' },
  { sample: 'tool_call_decision', path: 'call.content.findings', value: undefined },
  { sample: 'tool_call_decision', path: 'call.content.findings', value: ['a'.repeat(201)] },
  { sample: 'tool_call_end', path: 'call.content.findings', value: Array(101).fill('a:b') },
  { sample: 'surface', path: 'surface.what', value: 'tool_lost' },
  { sample: 'surface', path: 'surface.server_name', value: undefined },
  { sample: 'surface', path: 'surface.detail', value: 'a'.repeat(4_097) },
  { sample: 'change_decision', path: 'change.state', value: 'proposed' },
  { sample: 'change_decision', path: 'change.by', value: undefined },
  { sample: 'change_decision', path: 'change.title', value: 'a'.repeat(1_025) },
];

export const DAMAGES: readonly Damage[] = [
  ...EVENT_DAMAGES,
  ...['action', 'rule_id', 'severity', 'reason_code', 'summary'].map((path) => ({
    sample: 'decision',
    path,
    value: undefined,
  })),
  { sample: 'decision', path: 'action', value: 'THROTTLE' },
  { sample: 'decision', path: 'action', value: 'REJECT_WITH_HINT' },
  { sample: 'decision', path: 'action', value: 'TERMINATE_RUN' },
  { sample: 'hint decision', path: 'hint.hint_text', value: undefined },
  ...['v', 'action', 'rule_id', 'reason_code', 'summary', 'run_id', 'call_id', 'server_name'].map(
    (path) => ({ sample: 'refusal', path: `subluminal.${path}`, value: undefined }),
  ),
  ...['tool_name', 'args_hash', 'policy'].map((path) => ({
    sample: 'refusal',
    path: `subluminal.${path}`,
    value: undefined,
  })),
  { sample: 'refusal', path: 'subluminal.action', value: 'ALLOW' },
  { sample: 'refusal', path: 'subluminal.action', value: 'REJECT_WITH_HINT' },
  { sample: 'throttled refusal', path: 'subluminal.backoff_ms', value: undefined },
  { sample: 'bundle', path: 'polcy', value: 'typo' },
  { sample: 'bundle', path: 'rules.0.kind', value: 'rate-limit' },
  { sample: 'bundle', path: 'rules.0.kind', value: 'budget' },
  { sample: 'bundle', path: 'rules.0.effect.acton', value: 'BLOCK' },
  { sample: 'bundle', path: 'selectors.env', value: [] },
  { sample: 'bundle', path: 'selectors.workload.labels.team', value: 'a'.repeat(4_097) },
  { sample: 'bundle', path: 'rules.0.match.args.key_equals', value: { a: 'a'.repeat(4_097) } },
  { sample: 'bundle', path: 'rules.0.match.args.key_in', value: { a: ['a'.repeat(4_097)] } },
  { sample: 'bundle', path: 'rules.0.match.args.key_in', value: { ['k'.repeat(1_025)]: [1] } },
  { sample: 'bundle', path: 'defaults.decision_on_error', value: undefined },
  { sample: 'bundle', path: 'content.outbond', value: {} },
  { sample: 'bundle', path: 'content.outbound.secret', value: 'deny' },
  { sample: 'bundle', path: 'content.definitions.injection', value: 'redact' },
  { sample: 'bundle', path: 'content.unscanned', value: 'redact' },
  { sample: 'bundle', path: 'content.max_result_chars', value: 0 },
  { sample: 'bundle', path: 'content.suppressions.0.fingerprint', value: undefined },
  { sample: 'bundle', path: 'content.suppressions.0.expires', value: 'never' },
  { sample: 'bundle', path: 'taint.on_taint', value: 'allow' },
  { sample: 'bundle', path: 'taint.sinks.0.args', value: [] },
  { sample: 'bundle', path: 'taint.rule_of_two.mode', value: undefined },
];

/** The damaged value, leaving the sample itself alone. */
export function damaged(sample: JsonValue, damage: Pick<Damage, 'path' | 'value'>): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(sample));
  const keys = damage.path.split('.');
  const last = keys.pop() ?? '';
  const holder = keys.reduce(childOf, copy);
  if (typeof holder !== 'object' || holder === null) throw new Error(`No ${damage.path} there.`);
  if (damage.value === undefined) Reflect.deleteProperty(holder, last);
  else Reflect.set(holder, last, damage.value);
  return copy;
}

function childOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
