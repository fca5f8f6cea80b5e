// A turn, which is a call of a model: it starts, is decided, and ends. Since 0.2.0.
import { open, optional, required } from '../shape/shape.ts';
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

export const TURN_START = {
  call: required(
    open({ ...TURN_REF_FIELDS, ...startFields, risk_class: riskClass }),
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
      tokens_in: required(count, 'Tokens of the request.'),
      tokens_out: required(count, 'Tokens of the answer.'),
      cost_micros: optional(count, 'What it cost, in millionths of a dollar.'),
    }),
    'What the provider counted.',
  ),
} as const;
