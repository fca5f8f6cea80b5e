// A turn, which is a call of a model: it starts, is decided, and ends. Since 0.2.0.
import { array, boolean, open, optional, required, string } from '../shape/shape.ts';
import {
  CONTENT_OUTCOME,
  callId,
  count,
  decisionFields,
  endFields,
  riskClass,
  startFields,
  TURN_FIELDS,
} from './call.ts';

const TURN_REF_FIELDS = { call_id: callId, ...TURN_FIELDS } as const;

/** More are left out. */
export const TURN_TOOL_CALLS_MAX = 256;

export const TURN_START = {
  call: required(
    open({
      ...TURN_REF_FIELDS,
      ...startFields,
      risk_class: riskClass,
      session_id: optional(
        string({ lengthMax: 256 }),
        'The session of the agent, as its client names it.',
      ),
      estimate_micros: optional(count, 'What was reserved for it, in millionths of a dollar.'),
    }),
    'The turn that begins.',
  ),
} as const;

export const TURN_DECISION = {
  call: required(
    open({
      ...TURN_REF_FIELDS,
      risk_class: riskClass,
      content: optional(CONTENT_OUTCOME, 'What was found in the request.'),
    }),
    'The turn that was decided.',
  ),
  ...decisionFields,
} as const;

export const TURN_END = {
  call: required(
    open({
      ...TURN_REF_FIELDS,
      content: optional(CONTENT_OUTCOME, 'What was found in the answer.'),
    }),
    'The turn that ended.',
  ),
  ...endFields,
  usage: optional(
    open({
      tokens_in: required(count, 'Tokens of the request, those of a cache included.'),
      tokens_out: required(count, 'Tokens of the answer.'),
      cost_micros: optional(count, 'What it cost, in millionths of a dollar.'),
      cache_read_tokens: optional(count, 'The part of `tokens_in` that was read from a cache.'),
      cache_write_tokens: optional(count, 'The part of `tokens_in` that was written to a cache.'),
      reasoning_tokens: optional(count, 'The part of `tokens_out` that was spent on thinking.'),
      estimated: optional(boolean(), 'True when the provider counted nothing and we did.'),
    }),
    'What the provider counted.',
  ),
  tool_calls: optional(
    array(
      open({
        id: required(string({ lengthMin: 0, lengthMax: 256 }), 'The id that the model gave it.'),
        name: required(
          string({ lengthMin: 0, lengthMax: 256 }),
          'The tool, as the model names it.',
        ),
      }),
      { itemsMax: TURN_TOOL_CALLS_MAX },
    ),
    'The tool calls that the answer asks for.',
  ),
  stop_reason: optional(string({ lengthMax: 64 }), 'Why the model stopped.'),
  first_byte_ms: optional(count, 'From request to the first byte of the answer.'),
} as const;
