// A call of a tool: it starts, is decided, and ends.
import {
  array,
  formatted,
  type Infer,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import {
  CONTENT_OUTCOME,
  callId,
  classes,
  count,
  decisionFields,
  endFields,
  riskClass,
  startFields,
  TOOL_FIELDS,
} from './call.ts';

const CALL_REF_FIELDS = { call_id: callId, ...TOOL_FIELDS } as const;

export const CALL_REF = open(CALL_REF_FIELDS);

const STARTED_CALL = open({
  ...CALL_REF_FIELDS,
  ...startFields,
  tags: optional(classes, 'Tags such as `read_like` and `write_like`.'),
  timeout_ms: optional(count, 'How long the caller waits, if known.'),
  risk_class: riskClass,
  subject: optional(
    oneOf('resource', 'prompt'),
    'Since 0.2.0: a request for a resource or a prompt, governed as a call is.',
  ),
  args_stream_hash: optional(
    formatted('sha256'),
    'Since 0.2.0: SHA-256 of the raw bytes of a message that was not inspected.',
  ),
  tool_use_id: optional(
    string({ lengthMax: 256 }),
    'Since 0.2.0: the id that the model gave to the call, where the client passes it on.',
  ),
});

const DECIDED_CALL = open({
  ...CALL_REF_FIELDS,
  risk_class: riskClass,
  content: optional(CONTENT_OUTCOME, 'Since 0.2.0: what was found in the arguments.'),
  manifest_hash: optional(
    formatted('sha256'),
    'Since 0.2.0: the manifest of the server that was in force, if there was one.',
  ),
});

const ENDED_CALL = open({
  ...CALL_REF_FIELDS,
  content: optional(CONTENT_OUTCOME, 'Since 0.2.0: what was found in the answer.'),
});

/** What somebody beside the policy thinks of a call. It may only tighten. */
export const CALL_JUDGEMENT = open({
  by: required(string({ lengthMax: 64 }), 'Who judged, such as `guardian`.'),
  verdict: required(oneOf('ALLOW', 'BLOCK', 'ESCALATE_TO_HUMAN'), 'What it wants.'),
  reason: required(string({ lengthMin: 0, lengthMax: 1_000 }), 'Why, without secrets.'),
  model: optional(string({ lengthMax: 256 }), 'The model that judged, if one did.'),
});

/** How many judgements of one call are kept. */
export const JUDGEMENTS_MAX = 16;

export const TOOL_CALL_START = { call: required(STARTED_CALL, 'The call that begins.') } as const;

export const TOOL_CALL_DECISION = {
  call: required(DECIDED_CALL, 'The call that was decided.'),
  ...decisionFields,
  judgements: optional(
    array(CALL_JUDGEMENT, { itemsMax: JUDGEMENTS_MAX }),
    'Since 0.2.0: what the agent itself has had judged before the call, such as by a guardian model.',
  ),
} as const;

export const TOOL_CALL_END = {
  call: required(ENDED_CALL, 'The call that ended.'),
  ...endFields,
  result_stream_hash: optional(
    formatted('sha256'),
    'Since 0.2.0: SHA-256 of the raw bytes of an answer that was not inspected.',
  ),
} as const;

export type CallRef = Infer<typeof CALL_REF>;
export type CallJudgement = Infer<typeof CALL_JUDGEMENT>;
export type StartedCall = Infer<typeof STARTED_CALL>;
