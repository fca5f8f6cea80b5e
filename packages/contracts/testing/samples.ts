// Valid values of each contract, and what makes them invalid. Parsers and JSON Schemas read the
// same table, so that neither can be stricter or laxer than the other.
import type { JsonValue } from '../shape/shape.ts';

export type SchemaName = 'event' | 'bundle' | 'decision' | 'error-data';

export interface Sample {
  readonly name: string;
  readonly schema: SchemaName;
  readonly value: JsonValue;
}

export const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
export const POLICY = { policy_id: 'team', policy_version: '1.2.0', policy_hash: HASH };
const CALL = { call_id: 'c1', server_name: 'github', tool_name: 'create_issue', args_hash: HASH };
const TURN = { call_id: 't1', provider: 'anthropic', model: 'claude-opus' };
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
    block_confidence: 'likely',
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
    trace: [{ rule_id: 'r', kind: 'deny', outcome: 'decided', tally: null, note: null }],
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
  change_decision: {
    ...ENVELOPE,
    type: 'change_decision',
    change: {
      id: 'change-1',
      kind: 'files',
      state: 'approved',
      by: 'ann',
      channel: 'terminal',
      title: 'Correct the address in letter.txt.',
      files: [{ path: '/srv/notes/letter.txt', after: HASH }],
    },
  },
  turn_start: {
    ...FULL_ENVELOPE,
    type: 'turn_start',
    call: { ...TURN, transport: 'messages_api', bytes_in: 9, seq: 1, preview: { truncated: true } },
  },
  turn_decision: { ...ENVELOPE, type: 'turn_decision', call: TURN, decision: EVENT_DECISION },
  turn_end: {
    ...ENVELOPE,
    type: 'turn_end',
    call: TURN,
    status: 'OK',
    latency_ms: 12,
    bytes_out: 34,
    preview: { truncated: false },
    usage: { tokens_in: 5, tokens_out: 7, cost_micros: 42 },
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

/** The sample of that name. */
export function sampleOf(name: string): Sample {
  const found = SAMPLES.find((sample) => sample.name === name);
  if (found === undefined) throw new Error(`There is no sample ${name}.`);
  return found;
}
