// What a shim counts for the metrics of its hub.
import { RULE_KINDS } from './bundle.ts';
import { PROFILE } from './decision/decision.ts';
import { ruleOutcome } from './events/call.ts';
import {
  array,
  type Infer,
  integer,
  number,
  oneOf,
  open,
  optional,
  required,
  string,
} from './shape/shape.ts';

export const DIRECTION = oneOf('agent_to_server', 'server_to_agent');

/** Methods that are counted by name; whatever else is counted as `other`. */
export const HUB_METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'roots/list',
  'sampling/createMessage',
  'elicitation/create',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
  'subscriptions/listen',
  'server/discover',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/message',
  'notifications/resources/updated',
  'notifications/resources/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/roots/list_changed',
  'notifications/tasks/status',
  'notifications/tasks',
  'notifications/subscriptions/acknowledged',
  'notifications/elicitation/complete',
  // What has no method.
  'response',
  'batch',
  'invalid',
  'other',
] as const;

/** How decided calls are counted; `WOULD_…` is what the development profile let pass. */
export const HUB_DECISIONS = [
  'forward',
  'deny',
  'WOULD_BLOCK',
  'WOULD_THROTTLE',
  'WOULD_REJECT_WITH_HINT',
  'WOULD_TERMINATE_RUN',
  'other',
] as const;

const LABEL_LENGTH_MAX = 64;
const LABELS_MAX = 64;
const LABEL = string({ lengthMax: LABEL_LENGTH_MAX });
const COUNT = integer({ min: 0 });

/** What one shim has counted since it started, for the metrics of the hub. */
export const SHIM_COUNTS = open({
  profile: required(PROFILE, 'Whether its decisions are enforced.'),
  server_state: required(oneOf('running', 'exited', 'failed'), '`failed`: it never ran.'),
  messages: required(
    array(
      open({
        direction: required(DIRECTION, 'Which way they went.'),
        method: required(LABEL, 'The method, or what they are without one.'),
        count: required(COUNT, 'How many.'),
      }),
      { itemsMax: 2 * LABELS_MAX },
    ),
    'Messages by direction and method.',
  ),
  decisions: required(
    array(
      open({
        decision: required(LABEL, '`forward`, `deny`, or `WOULD_…` in development.'),
        count: required(COUNT, 'How many.'),
      }),
      { itemsMax: LABELS_MAX },
    ),
    'Decided calls.',
  ),
  framing_errors: required(
    array(
      open({
        error_type: required(LABEL, 'What was wrong.'),
        count: required(COUNT, 'How many.'),
      }),
      { itemsMax: LABELS_MAX },
    ),
    'Messages that broke a rule of the protocol.',
  ),
  approvals: optional(
    open({
      count: required(COUNT, 'Calls that have waited.'),
      waited_ms: required(COUNT, 'How long, all together.'),
    }),
    'Calls that have waited for a person.',
  ),
});

export type ShimCounts = Infer<typeof SHIM_COUNTS>;

/** What the summary of a shim counts, by name. */
export const SHIM_COUNTERS = [
  'calls_total',
  'calls_allowed',
  'calls_blocked',
  'calls_throttled',
  'errors_total',
  'calls_spared',
  'answers_held_back',
] as const;

// The limits of manifests, as a shim asks the hub of its run to count for them.

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

// The results of the rules for a call, as the hub reports them.

/** The result of one matching rule; see `sub policy explain`. */
export const TRACE_STEP = open({
  rule_id: required(string(), 'The rule.'),
  kind: required(oneOf(...RULE_KINDS), 'Its kind.'),
  ...ruleOutcome,
});
