// The open connection between a shim and its hub: one line of JSON for each frame, after an HTTP upgrade.
// It carries what HUB_ENDPOINTS answer, and what only an open connection can: calls that are leased in
// advance, and words of the hub that nobody asked for.
import type { HUB_ENDPOINTS } from './hub.ts';
import { parserFor } from './shape/check.ts';
import {
  array,
  boolean,
  formatted,
  type Infer,
  integer,
  open,
  optional,
  required,
  string,
} from './shape/shape.ts';

export const HUB_CONNECTION = {
  path: '/governance/connection',
  protocol: 'subluminal-hub',
} as const;

/** How long a shim waits for a lease: the hub may have to ask for leases of others back first. */
export const HUB_LEASE_TIMES = { totalMs: 4_000, recallMs: 1_500 } as const;

/** Calls of one counter that are leased at once. */
export const HUB_LEASE_CALLS_MAX = 256;

const COUNTERS_MAX = 1_000;
/** The hub keeps them for as long as the run lasts. */
const NAME_LENGTH_MAX = 1_024;

/** A rule by its place in the state of a policy, and the key under which it counts. */
const COUNTER = {
  rule: required(
    string({ lengthMax: NAME_LENGTH_MAX }),
    'The rule, as the state of its policy names it.',
  ),
  key: required(string({ lengthMax: NAME_LENGTH_MAX }), 'The key under which it counts.'),
};

const LEASE = open({ ...COUNTER, calls: required(integer({ min: 0 }), 'How many calls.') });

const LEASE_REQUEST = open({
  run_id: required(string(), 'The run.'),
  policy_hash: required(formatted('sha256'), 'The policy of the rules.'),
  leases: required(array(LEASE, { itemsMax: COUNTERS_MAX }), 'The calls that are needed now.'),
});

const TERMINATION = open({
  rule_id: required(string({ lengthMin: 0 }), 'The rule; empty when a shim or a person ended it.'),
  terminate_code: required(string(), 'The code of the reason.'),
  terminate_message: required(string({ lengthMin: 0 }), 'The reason for a person.'),
});

const LEASE_RESPONSE = open({
  shutdown: required(boolean(), 'True: finish what is in flight and stop.'),
  needs_policy: optional(boolean(), 'The hub does not have that policy; send it, then ask again.'),
  leases: required(
    array(LEASE, { itemsMax: COUNTERS_MAX }),
    'What the shim may count by itself now: fewer calls than it needs when there are no more.',
  ),
  terminated: optional(TERMINATION, 'The run has been ended: nothing passes.'),
});

const RETURN_REQUEST = open({
  policy_hash: required(formatted('sha256'), 'The policy that they were leased by.'),
  leases: required(array(LEASE, { itemsMax: COUNTERS_MAX }), 'Leased calls that were not used.'),
  recall: optional(integer({ min: 0 }), 'The recall that this answers.'),
});

const RECALL = open({
  recall: required(integer({ min: 0 }), 'Its number.'),
  leases: required(array(open(COUNTER), { itemsMax: COUNTERS_MAX }), 'What others need.'),
});

export type LeaseRequest = Infer<typeof LEASE_REQUEST>;
export type LeaseResponse = Infer<typeof LEASE_RESPONSE>;
export type ReturnRequest = Infer<typeof RETURN_REQUEST>;
export type Recall = Infer<typeof RECALL>;
/** Calls of one counter: needed, leased or returned. */
export type Lease = Infer<typeof LEASE>;
export type LeaseCounter = Pick<Lease, 'rule' | 'key'>;

export const parseLeaseRequest = parserFor<LeaseRequest>(LEASE_REQUEST);
export const parseLeaseResponse = parserFor<LeaseResponse>(LEASE_RESPONSE);
export const parseReturnRequest = parserFor<ReturnRequest>(RETURN_REQUEST);
export const parseRecall = parserFor<Recall>(RECALL);

/** What a frame of a shim asks for; `return` gets no answer. */
export type HubFrameName = keyof typeof HUB_ENDPOINTS | 'lease' | 'return';
