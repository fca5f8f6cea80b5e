// A hint that an agent got with a refusal.
import { HINT } from '../decision/decision.ts';
import { open, required } from '../shape/shape.ts';
import { callId } from './call.ts';

export const HINT_ISSUED = {
  call: required(open({ call_id: callId }), 'The call that was hinted.'),
  hint: required(HINT, 'The hint, as the agent got it.'),
} as const;
