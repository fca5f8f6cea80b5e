// A question to a person, or its answer.
import { oneOf, open, optional, required, string } from '../shape/shape.ts';
import { callId, count } from './call.ts';

const APPROVAL_FIELDS = open({
  id: optional(string({ lengthMax: 64 }), 'The request; absent when nobody was asked.'),
  rule_id: required(string(), 'The rule that asks.'),
  state: required(
    oneOf('asked', 'approved', 'rejected', 'expired', 'cancelled', 'auto_approved'),
    'How far it is. `auto_approved`: the development profile let the call pass, nobody was asked.',
  ),
  by: optional(string({ lengthMax: 256 }), 'Who decided.'),
  channel: optional(string({ lengthMax: 64 }), 'By which channel.'),
  grant_id: optional(string({ lengthMax: 64 }), 'The grant that came of it, or that was used.'),
  waited_ms: optional(count, 'How long the call waited.'),
});

export const APPROVAL = {
  call: required(open({ call_id: callId }), 'The call that a person is asked about.'),
  approval: required(APPROVAL_FIELDS, 'Since 0.2.0: what was asked, or what came of it.'),
} as const;
