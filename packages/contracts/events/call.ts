// What the events of a call share, whatever its subject: a tool call or a turn.
import {
  ACTION,
  ACTION_EXTRAS,
  ACTION_NEEDS,
  type Decision,
  POLICY_REF,
  type PolicyRef,
  SEVERITY,
} from '../decision/decision.ts';
import {
  array,
  boolean,
  either,
  formatted,
  type Infer,
  integer,
  nullable,
  number,
  type ObjectShape,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';

/** Larger messages are decided without their arguments, and stream through while they are checked. */
export const MAX_INSPECT_BYTES = 1_048_576;
/** A preview holds at most this much UTF-8; the default of the pack. */
export const MAX_PREVIEW_BYTES = 16_384;
/** May stand in place of the preview of a message that was not inspected. */
export const TRUNCATED_PREVIEW = '[TRUNCATED]';

export const TRANSPORT = oneOf('mcp_stdio', 'mcp_http', 'http', 'messages_api', 'hook', 'unknown');
/** `LOST`, since 0.2.0: the process that would have recorded the end is gone. */
export const CALL_STATUS = oneOf('OK', 'ERROR', 'TIMEOUT', 'CANCELLED', 'LOST');
export const COUNTER_SCOPE = oneOf('run', 'shim');
const ERROR_CLASS = oneOf('upstream_error', 'policy_block', 'timeout', 'transport', 'unknown');

export const count = integer({ min: 0 });
export const classes = array(string({ lengthMax: 1_024 }), { itemsMax: 1_000 });
const findings = array(string({ lengthMax: 200 }), { itemsMax: 100 });

export const callId = required(string(), 'The call; unique within the run.');

export const TOOL_FIELDS = {
  server_name: required(string(), 'The server, as it is configured.'),
  tool_name: required(string(), 'The tool, as the server calls it.'),
  args_hash: required(
    formatted('sha256'),
    'SHA-256 of the canonical arguments; of the raw bytes when they were not inspected.',
  ),
} as const;

export const TURN_FIELDS = {
  provider: required(string(), 'The provider of the model, as it is configured.'),
  model: required(string(), 'The model, as the provider calls it.'),
} as const;

const previewsDropped = optional(
  boolean(),
  'Since 0.2.0: true when the preview was left out because the queue was full.',
);

const ARGS_PREVIEW = open({
  truncated: required(boolean(), 'Whether the preview is not the whole.'),
  args_preview: optional(string({ lengthMin: 0 }), 'The arguments, redacted and cut.'),
  previews_dropped: previewsDropped,
});

const RESULT_PREVIEW = open({
  truncated: required(boolean(), 'Whether the preview is not the whole.'),
  result_preview: optional(string({ lengthMin: 0 }), 'The result, redacted and cut.'),
  previews_dropped: previewsDropped,
});

/** What became of content on its way. Never the content itself. */
export const CONTENT_OUTCOME = open({
  action: required(oneOf('tag', 'redact', 'ask', 'block'), 'What was done.'),
  findings: required(findings, 'What was found, as `class:rule`, each once.'),
});

/** Contract C's decision, in the nesting that contract A gives it. */
export const EVENT_DECISION = open(
  {
    action: required(ACTION, 'What happens to the call.'),
    rule_id: required(nullable(string()), 'The rule that decided, or null.'),
    severity: required(SEVERITY, 'How much it matters.'),
    explain: required(
      open({
        summary: required(string(), 'The reason for a person.'),
        reason_code: required(string(), 'A stable, enum-like reason.'),
      }),
      'Why.',
    ),
    policy: required(POLICY_REF, 'The policy that decided.'),
    ...ACTION_EXTRAS,
  },
  ACTION_NEEDS,
);

const CALL_ERROR = open({
  class: required(ERROR_CLASS, 'Where the failure comes from.'),
  message: required(string({ lengthMin: 0 }), 'Safe to show; no secrets.'),
  code: optional(either(string({ lengthMin: 0 }), integer()), "The upstream's code, if known."),
  retryable: optional(boolean(), 'Whether the same call may work later.'),
});

export const startFields = {
  transport: required(TRANSPORT, 'The adapter the call came by.'),
  bytes_in: required(count, 'The size of the request message.'),
  preview: required(ARGS_PREVIEW, 'What the arguments looked like.'),
  seq: required(integer({ min: 1 }), 'The place of the call among those of its shim, from 1.'),
} as const;

export const riskClass = optional(classes, 'Since 0.2.0: the risk classes of the call.');

/** How many rules the trace of a decision names. */
export const TRACE_RULES_MAX = 100;

/** What a rule that matches did, in an event and in an answer of the hub. */
export const ruleOutcome = {
  outcome: required(
    oneOf('decided', 'would_decide', 'counted', 'tagged', 'asks', 'approved', 'failed'),
    'What it did.',
  ),
  tally: required(
    nullable(
      open({
        count: required(number(), 'What its counter stands at.'),
        limit: required(number(), 'Where it ends.'),
      }),
    ),
    'Its counter, if it has one.',
  ),
  note: required(nullable(string({ lengthMin: 0 })), 'Why it failed, when it did.'),
} as const;

const TRACED_RULE = open({
  rule_id: required(string(), 'The rule.'),
  kind: required(string(), 'Its kind.'),
  ...ruleOutcome,
});

export const decisionFields = {
  decision: required(EVENT_DECISION, 'What was decided.'),
  counter_scope: optional(
    COUNTER_SCOPE,
    'Since 0.2.0: what the counters of run scope really covered; `shim` without a hub.',
  ),
  trace: optional(
    array(TRACED_RULE, { itemsMax: TRACE_RULES_MAX }),
    'Since 0.2.0: the rules that matched, in their order, and what each did.',
  ),
} as const;

export const endFields = {
  status: required(CALL_STATUS, 'How it ended.'),
  latency_ms: required(count, 'From request to answer.'),
  bytes_out: required(count, 'The size of the answer.'),
  preview: required(RESULT_PREVIEW, 'What the result looked like.'),
  error: optional(CALL_ERROR, 'What went wrong, when the status is not OK.'),
} as const;

/** What a call is about: a tool of a server, or a turn of a model. */
export type CallSubject =
  | ({ readonly kind: 'tool_call' } & Infer<ObjectShape<typeof TOOL_FIELDS>>)
  | ({ readonly kind: 'turn' } & Infer<ObjectShape<typeof TURN_FIELDS>>);
export type ContentOutcome = Infer<typeof CONTENT_OUTCOME>;
export type EventDecision = Infer<typeof EVENT_DECISION>;
export type CallError = Infer<typeof CALL_ERROR>;
export type CallStatus = Infer<typeof CALL_STATUS>;
export type Transport = Infer<typeof TRANSPORT>;

/** Contract C's flat decision in the nesting of contract A. Frozen: it is written many times. */
export function eventDecision(decision: Decision, policy: PolicyRef): EventDecision {
  const { summary, reason_code, ...rest } = decision;
  const explain = Object.freeze({ summary, reason_code });
  return Object.freeze({ ...rest, explain, policy: Object.freeze({ ...policy }) });
}
