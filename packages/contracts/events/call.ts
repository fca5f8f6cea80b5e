// The parts of the events about one tool call.
import {
  ACTION,
  ACTION_NEEDS,
  APPROVAL_REQUEST,
  HINT,
  POLICY_REF,
  SEVERITY,
  TERMINATE,
  WOULD,
} from '../decision/decision.ts';
import {
  array,
  boolean,
  either,
  formatted,
  type Infer,
  integer,
  nullable,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';

/** Messages above this are forwarded without being inspected; the default of the pack. */
export const MAX_INSPECT_BYTES = 1_048_576;
/** A preview holds at most this much UTF-8; the default of the pack. */
export const MAX_PREVIEW_BYTES = 16_384;
/** What may stand in place of the preview of a message that was not inspected. */
export const TRUNCATED_PREVIEW = '[TRUNCATED]';

export const TRANSPORT = oneOf('mcp_stdio', 'mcp_http', 'http', 'messages_api', 'unknown');
export const CALL_STATUS = oneOf('OK', 'ERROR', 'TIMEOUT', 'CANCELLED');
const ERROR_CLASS = oneOf('upstream_error', 'policy_block', 'timeout', 'transport', 'unknown');

const count = integer({ min: 0 });
export const CLASSES_MAX = 1_000;
export const CLASS_LENGTH_MAX = 1_024;
export const FINDINGS_MAX = 100;
export const FINDING_LENGTH_MAX = 200;
const classes = array(string({ lengthMax: CLASS_LENGTH_MAX }), { itemsMax: CLASSES_MAX });

const CALL_REF_FIELDS = {
  call_id: required(string(), 'The call; unique within the run.'),
  server_name: required(string(), 'The server, as it is configured.'),
  tool_name: required(string(), 'The tool, as the server calls it.'),
  args_hash: required(
    formatted('sha256'),
    'SHA-256 of the canonical arguments; of the raw bytes when they were not inspected.',
  ),
} as const;

export const CALL_REF = open(CALL_REF_FIELDS);

const riskClass = optional(classes, 'Since 0.2.0: the risk classes of the call.');
const previewsDropped = optional(
  boolean(),
  'Since 0.2.0: true when the preview was left out because the queue was full.',
);

const ARGS_PREVIEW = open({
  truncated: required(boolean(), 'Whether the preview is not the whole.'),
  args_preview: optional(string({ lengthMin: 0 }), 'The arguments, redacted and cut.'),
  previews_dropped: previewsDropped,
});

export const RESULT_PREVIEW = open({
  truncated: required(boolean(), 'Whether the preview is not the whole.'),
  result_preview: optional(string({ lengthMin: 0 }), 'The result, redacted and cut.'),
  previews_dropped: previewsDropped,
});

export const STARTED_CALL = open({
  ...CALL_REF_FIELDS,
  transport: required(TRANSPORT, 'The adapter the call came by.'),
  bytes_in: required(count, 'The size of the request message.'),
  preview: required(ARGS_PREVIEW, 'What the arguments looked like.'),
  seq: required(integer({ min: 1 }), 'The place of the call among those of its shim, from 1.'),
  tags: optional(classes, 'Tags such as `read_like` and `write_like`.'),
  timeout_ms: optional(count, 'How long the caller waits, if known.'),
  risk_class: riskClass,
  args_stream_hash: optional(
    formatted('sha256'),
    'Since 0.2.0: SHA-256 of the raw bytes of a message that was not inspected.',
  ),
});

/** What became of content on its way. Never the content itself. */
export const CONTENT_OUTCOME = open({
  action: required(oneOf('tag', 'redact', 'ask', 'block'), 'What was done.'),
  findings: required(
    array(string({ lengthMax: FINDING_LENGTH_MAX }), { itemsMax: FINDINGS_MAX }),
    'What was found, as `class:rule`, each once.',
  ),
});

export const DECIDED_CALL = open({
  ...CALL_REF_FIELDS,
  risk_class: riskClass,
  content: optional(CONTENT_OUTCOME, 'Since 0.2.0: what was found in the arguments.'),
});

export const ENDED_CALL = open({
  ...CALL_REF_FIELDS,
  content: optional(CONTENT_OUTCOME, 'Since 0.2.0: what was found in the answer.'),
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
    backoff_ms: optional(count, 'With THROTTLE: how long to wait.'),
    hint: optional(HINT, 'With REJECT_WITH_HINT: how to do better.'),
    terminate: optional(TERMINATE, 'With TERMINATE_RUN: why the run ends.'),
    approval: optional(APPROVAL_REQUEST, 'Since 0.2.0: a person must agree first.'),
    would: optional(
      WOULD,
      'Since 0.2.0: what was spared by observe mode or the development profile.',
    ),
  },
  ACTION_NEEDS,
);

export const CALL_ERROR = open({
  class: required(ERROR_CLASS, 'Where the failure comes from.'),
  message: required(string({ lengthMin: 0 }), 'Safe to show; no secrets.'),
  code: optional(either(string({ lengthMin: 0 }), integer()), "The upstream's code, if known."),
  retryable: optional(boolean(), 'Whether the same call may work later.'),
});

export type CallRef = Infer<typeof CALL_REF>;
export type ContentOutcome = Infer<typeof CONTENT_OUTCOME>;
export type DecidedCall = Infer<typeof DECIDED_CALL>;
export type EndedCall = Infer<typeof ENDED_CALL>;
export type StartedCall = Infer<typeof STARTED_CALL>;
export type EventDecision = Infer<typeof EVENT_DECISION>;
export type CallError = Infer<typeof CALL_ERROR>;
export type CallStatus = Infer<typeof CALL_STATUS>;
export type Transport = Infer<typeof TRANSPORT>;
