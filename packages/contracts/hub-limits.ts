// The limits of manifests, as a shim asks the hub of its run to count for them.
import { integer, number, oneOf, open, optional, required, string } from './shape/shape.ts';

/** A limit of a manifest: so many calls in a time, or a pause between two. */
export const CALL_LIMIT = open({
  key: required(string({ lengthMax: 2_048 }), 'Which counter of the server.'),
  calls: optional(integer({ min: 1 }), 'With `period_ms`: how many calls may pass in it.'),
  period_ms: optional(integer({ min: 1 }), 'With `calls`: the time that they are spread over.'),
  cooldown_ms: optional(integer({ min: 1 }), 'How long one call must wait after another.'),
});

/** What a call must wait for. */
export const LIMIT_WAIT = open({
  kind: required(oneOf('rate', 'cooldown'), 'What must be waited for.'),
  wait_ms: required(number({ min: 0 }), 'How long.'),
  words: required(string({ lengthMax: 256 }), 'The limit in words.'),
});
