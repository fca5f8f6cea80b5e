// A circuit breaker that tripped.
import { ACTION } from '../decision/decision.ts';
import { integer, oneOf, open, optional, required, string } from '../shape/shape.ts';
import { count } from './call.ts';

const BREAKER_TRIP_FIELDS = open({
  rule_id: required(string(), 'The rule that tripped.'),
  scope: required(oneOf('run', 'tool', 'server_tool'), 'What shared the window.'),
  cause: required(oneOf('errors', 'repeats'), 'What there was too much of.'),
  count: required(count, 'How many fell into the window.'),
  window_ms: required(integer({ min: 1 }), 'The length of the window.'),
  action: required(ACTION, 'What was done.'),
  call_id: optional(string(), 'The call that tripped it.'),
  server_name: optional(string(), 'Its server.'),
  tool_name: optional(string(), 'Its tool.'),
});

export const BREAKER_TRIP = {
  breaker: required(BREAKER_TRIP_FIELDS, 'Which breaker tripped, and why.'),
} as const;
