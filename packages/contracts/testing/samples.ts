// Valid values of each contract, and what makes them invalid. Parsers and JSON Schemas read the
// same table, so that neither can be stricter or laxer than the other.
import type { JsonValue } from '../shape/shape.ts';

export type SchemaName = 'event' | 'bundle' | 'decision' | 'error-data';

export interface Sample {
  readonly name: string;
  readonly schema: SchemaName;
  readonly value: JsonValue;
}

/** One change to a valid value that makes it invalid; `undefined` removes the field. */
export interface Damage {
  readonly sample: string;
  readonly path: string;
  readonly value: JsonValue | undefined;
}

export const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
export const POLICY = { policy_id: 'team', policy_version: '1.2.0', policy_hash: HASH };
const CALL = { call_id: 'c1', server_name: 'github', tool_name: 'create_issue', args_hash: HASH };
const HINT = {
  hint_text: 'Ask for at most 100.',
  suggested_args: { limit: 100 },
  retry_advice: null,
  hint_kind: 'ARG_FIX',
};
const TERMINATE = { terminate_code: 'LOOP', terminate_message: 'The agent repeats itself.' };

/** An envelope as pack 0.1.0 had it, with nothing that is optional. */
const ENVELOPE = {
  v: '0.1.0',
  ts: '2026-01-31T12:00:00.123Z',
  run_id: '0190c0de-0000-7000-8000-000000000001',
  agent_id: 'repo-fixer',
  client: 'claude',
  env: 'ci',
  source: { host_id: 'h1', proc_id: 'p1', shim_id: 's1' },
};

const FULL_ENVELOPE = {
  ...ENVELOPE,
  v: '0.2.0',
  principal: 'build@example.com',
  profile: 'development',
  workload: {
    user: 'ada',
    repo_path: '/src/app',
    ci_provider: 'github',
    job_id: '7',
    repo: 'o/r',
    branch: 'main',
    namespace: 'n',
    service_account: 'sa',
    pod: 'p',
    labels: { team: '' },
  },
};

const EVENT_DECISION = {
  action: 'ALLOW',
  rule_id: null,
  severity: 'info',
  explain: { summary: 'No rule decided.', reason_code: 'DEFAULT_ALLOW' },
  policy: POLICY,
};

const DECISION = {
  action: 'BLOCK',
  rule_id: 'no-writes',
  severity: 'warn',
  reason_code: 'DENYLIST_MATCH',
  summary: 'Writes are not allowed.',
};

const REFUSAL = {
  v: '0.2.0',
  action: 'BLOCK',
  rule_id: null,
  reason_code: 'R',
  summary: 'No.',
  run_id: 'r1',
  ...CALL,
  policy: POLICY,
};

const RULE = {
  rule_id: 'no-writes',
  kind: 'deny',
  enabled: true,
  match: { tool_name: { glob: ['create_*'] }, args: { numeric_range: { limit: { min: 0.5 } } } },
  effect: { action: 'BLOCK', reason_code: 'NO_WRITES' },
  severity: 'warn',
};

const BUNDLE = {
  policy_id: 'team',
  version: '1.2.0',
  mode: 'control',
  defaults: { decision_on_error: 'BLOCK' },
  selectors: { env: ['ci'], workload: { labels: { team: 'a' } } },
  rules: [RULE],
  content: {
    outbound: { secret: 'block', personal: 'ask' },
    definitions: { injection: 'block' },
    confidence_min: 'hint',
    unscanned: 'ask',
    external_content: 'off',
    max_result_chars: 1,
    approval: { wait: 'hint' },
    suppressions: [
      {
        rule: 'aws-access-key',
        server: 'github',
        tool: 'get_file',
        fingerprint: 'f1',
        expires: '2027-01-01T00:00:00Z',
      },
    ],
  },
  taint: {
    on_taint: 'block',
    sources: [{ server: 'crm', trust: 'trusted' }],
    sinks: [{ kind: 'recipient', args: ['to'] }],
    by_shape: ['path'],
    allow: { hosts: ['*.example.com'] },
    rule_of_two: { mode: 'ask', tools: [{ tool: 'send', adds: ['egress_or_change'] }] },
    approval: { wait: 'hold', timeout_ms: 1 },
  },
};

const EVENTS: { readonly [name: string]: JsonValue } = {
  run_start: {
    ...ENVELOPE,
    type: 'run_start',
    run: { started_at: '2026-01-31T12:00:00Z', mode: 'observe', policy: POLICY, meta: { n: [1] } },
  },
  tool_call_start: {
    ...FULL_ENVELOPE,
    type: 'tool_call_start',
    call: {
      ...CALL,
      transport: 'messages_api',
      bytes_in: 0,
      seq: 1,
      timeout_ms: 5,
      tags: ['read_like'],
      preview: { truncated: true, previews_dropped: true },
      risk_class: [],
      args_stream_hash: HASH,
    },
  },
  long_named: {
    ...ENVELOPE,
    type: 'tool_call_end',
    call: { ...CALL, tool_name: '😀'.repeat(65_536) },
    status: 'OK',
    latency_ms: 0,
    bytes_out: 0,
    preview: { truncated: false },
  },
  tool_call_decision: {
    ...ENVELOPE,
    type: 'tool_call_decision',
    call: { ...CALL, content: { action: 'ask', findings: ['secret:aws-access-key'] } },
    decision: EVENT_DECISION,
    counter_scope: 'shim',
  },
  throttled: {
    ...ENVELOPE,
    type: 'tool_call_decision',
    call: CALL,
    decision: { ...EVENT_DECISION, action: 'THROTTLE', backoff_ms: 0 },
  },
  hinted: {
    ...ENVELOPE,
    type: 'tool_call_decision',
    call: CALL,
    decision: { ...EVENT_DECISION, action: 'REJECT_WITH_HINT', hint: HINT },
  },
  terminated: {
    ...ENVELOPE,
    type: 'tool_call_decision',
    call: CALL,
    decision: { ...EVENT_DECISION, action: 'TERMINATE_RUN', terminate: TERMINATE },
  },
  tool_call_end: {
    ...ENVELOPE,
    type: 'tool_call_end',
    call: { ...CALL, content: { action: 'redact', findings: [] } },
    status: 'ERROR',
    latency_ms: 12,
    bytes_out: 34,
    result_stream_hash: HASH,
    preview: { truncated: false, result_preview: '' },
    error: { class: 'upstream_error', message: '', code: -32603, retryable: false },
  },
  run_end: {
    ...ENVELOPE,
    type: 'run_end',
    run: {
      ended_at: '2026-01-31T12:00:01Z',
      status: 'SUCCEEDED',
      summary: {
        calls_total: 3,
        calls_allowed: 1,
        calls_blocked: 1,
        calls_throttled: 1,
        errors_total: 0,
        duration_ms: 1000,
      },
    },
  },
  hint_issued: { ...ENVELOPE, type: 'hint_issued', call: { call_id: 'c1' }, hint: HINT },
  policy_loaded: { ...ENVELOPE, type: 'policy_loaded', policy: POLICY, mode: 'control' },
  secret_injection: {
    ...ENVELOPE,
    type: 'secret_injection',
    secret: { inject_as: 'TOKEN', secret_ref: 'github_token', source: 'env', success: true },
  },
  shim_health: { ...ENVELOPE, type: 'shim_health', health: { status: 'ok', uptime_ms: 1 } },
  approval: {
    ...ENVELOPE,
    type: 'approval',
    call: { call_id: 'c1' },
    approval: { id: 'a1', rule_id: 'ask', state: 'approved', by: 'ann', channel: 'terminal' },
  },
  surface: {
    ...ENVELOPE,
    type: 'surface',
    surface: {
      what: 'tool_changed',
      enforced: true,
      server_name: 'github',
      name: 'create_issue',
      reason_code: 'PIN_CHANGED',
      detail: 'The description of the tool is another one.',
    },
  },
  breaker_trip: {
    ...ENVELOPE,
    type: 'breaker_trip',
    breaker: {
      rule_id: 'loop',
      scope: 'run',
      cause: 'repeats',
      count: 3,
      window_ms: 1000,
      action: 'TERMINATE_RUN',
    },
  },
};

export const SAMPLES: readonly Sample[] = [
  ...Object.entries(EVENTS).map(([name, value]) => ({ name, schema: 'event', value }) as const),
  { name: 'decision', schema: 'decision', value: DECISION },
  {
    name: 'hint decision',
    schema: 'decision',
    value: { ...DECISION, action: 'REJECT_WITH_HINT', hint: HINT },
  },
  { name: 'refusal', schema: 'error-data', value: { subluminal: REFUSAL } },
  {
    name: 'throttled refusal',
    schema: 'error-data',
    value: { subluminal: { ...REFUSAL, action: 'THROTTLE', backoff_ms: 5, retry_advice: 'Wait.' } },
  },
  { name: 'bundle', schema: 'bundle', value: BUNDLE },
  {
    name: 'bundle with the longest texts',
    schema: 'bundle',
    value: {
      ...BUNDLE,
      rules: [
        { ...RULE, match: { args: { key_equals: { ['😀'.repeat(1_024)]: '😀'.repeat(4_096) } } } },
      ],
    },
  },
];

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
  { sample: 'secret_injection', path: 'secret.source', value: 'mind' },
  { sample: 'approval', path: 'approval.state', value: 'maybe' },
  { sample: 'tool_call_decision', path: 'call.content.action', value: 'allow' },
  { sample: 'tool_call_decision', path: 'call.content.findings', value: undefined },
  { sample: 'tool_call_decision', path: 'call.content.findings', value: ['a'.repeat(201)] },
  { sample: 'tool_call_end', path: 'call.content.findings', value: Array(101).fill('a:b') },
  { sample: 'surface', path: 'surface.what', value: 'tool_lost' },
  { sample: 'surface', path: 'surface.server_name', value: undefined },
  { sample: 'surface', path: 'surface.detail', value: 'a'.repeat(4_097) },
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

/** The sample of that name. */
export function sampleOf(name: string): Sample {
  const found = SAMPLES.find((sample) => sample.name === name);
  if (found === undefined) throw new Error(`There is no sample ${name}.`);
  return found;
}
