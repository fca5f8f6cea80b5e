// Approvals and grants over the HTTP API of the ledger daemon: parameters, bodies and answers.

import {
  array,
  boolean,
  closed,
  formatted,
  type Infer,
  integer,
  nullable,
  oneOf,
  open,
  optional,
  record,
  required,
  string,
  variant,
} from '../shape/shape.ts';
import { APPROVAL, APPROVAL_END, GRANT, GRANT_END } from './approval-records.ts';

/** How many are listed at most, and without being asked. */
export const API_APPROVALS_LIMIT = { max: 1_000, fallback: 200 } as const;
const MINUTES_MAX = 366 * 24 * 60;
const NAMES_MAX = 256;

const STATE = oneOf('pending', 'approved', 'rejected', 'expired', 'cancelled');
const GRANT_STATE = oneOf('active', 'used', 'revoked', 'expired');
const limit = optional(
  integer({ min: 1, max: API_APPROVALS_LIMIT.max }),
  'How many, the newest; 200.',
);

export const APPROVALS_QUERY = closed({
  state: optional(STATE, 'Only those in this state; without it all.'),
  limit,
});

export const GRANTS_QUERY = closed({
  state: optional(GRANT_STATE, 'Only those in this state; without it all.'),
  limit,
});

const words = string({ lengthMin: 0 });

export const API_APPROVAL = open({
  id: required(words, 'Its id.'),
  state: required(STATE, 'What has become of it.'),
  asker: required(oneOf('there', 'gone'), 'Whether the process that asked still runs.'),
  request: required(APPROVAL, 'The whole call, as `sub approvals show` has it.'),
  request_sha256: required(formatted('sha256'), 'Goes back with the verdict: this was seen.'),
  outcome: required(nullable(APPROVAL_END), 'How it ended; null while it waits.'),
});

const DAMAGED = array(
  open({ id: required(words, 'Its id.'), why: required(words, 'What is wrong with it.') }),
);
const damaged = required(DAMAGED, 'Files that are not what was written; they approve nothing.');
const cut = required(boolean(), 'Whether there are more than were read or asked for.');

export const API_APPROVALS = open({
  rows: required(array(API_APPROVAL, { itemsMax: API_APPROVALS_LIMIT.max }), 'Newest first.'),
  damaged,
  cut,
});

export const API_GRANT = open({
  id: required(words, 'Its id.'),
  state: required(GRANT_STATE, 'What has become of it.'),
  covers: required(array(words), 'What it covers in words, exactly as it matches.'),
  grant: required(GRANT, 'The grant.'),
  end: required(nullable(GRANT_END), 'How it ended; null while it is in force.'),
});

export const API_GRANTS = open({
  rows: required(array(API_GRANT, { itemsMax: API_APPROVALS_LIMIT.max }), 'Newest first.'),
  damaged,
  cut,
});

export const API_DECIDED = open({
  changed: required(boolean(), 'False when it had ended before, or nothing was to be changed.'),
  approval: required(API_APPROVAL, 'As it is now.'),
  grant: required(nullable(API_GRANT), 'What lasts of it.'),
  lost: required(nullable(words), 'Approved, but nothing lasts: why.'),
});

export const API_REVOKED = open({
  changed: required(boolean(), 'False when it had ended before.'),
  grant: required(API_GRANT, 'As it is now.'),
});

const ARGS_WISH = variant('kind', {
  exact: closed({ kind: required(oneOf('exact'), 'The arguments that were shown.') }),
  any: closed({ kind: required(oneOf('any'), 'Any arguments.') }),
  pattern: closed({
    kind: required(oneOf('pattern'), 'Those that were shown, but for some.'),
    like: optional(record(string({ lengthMax: 1_024 })), 'Arguments that may be like a glob.'),
    free: optional(
      array(string({ lengthMax: 1_024 }), { itemsMax: NAMES_MAX }),
      'Arguments that may be anything.',
    ),
  }),
});

const GRANT_WISH = variant('kind', {
  once: closed({ kind: required(oneOf('once'), 'The same call once more.') }),
  run: closed({
    kind: required(oneOf('run'), 'For the rest of the run.'),
    args: required(ARGS_WISH, 'With which arguments.'),
  }),
  minutes: closed({
    kind: required(oneOf('minutes'), 'For so long, in any run.'),
    minutes: required(integer({ min: 1, max: MINUTES_MAX }), 'How long.'),
    args: required(ARGS_WISH, 'With which arguments.'),
  }),
  always: closed({
    kind: required(oneOf('always'), 'Until it is revoked.'),
    args: required(ARGS_WISH, 'With which arguments.'),
  }),
});

const seen = required(formatted('sha256'), 'The request that was seen; another is not decided.');
const note = optional(string({ lengthMax: 2_000 }), 'Why; it is recorded.');

export const APPROVE_BODY = closed({
  request_sha256: seen,
  note,
  grant: optional(GRANT_WISH, 'What shall last of it.'),
  dry_run: optional(boolean(), 'Only say what the grant would cover.'),
});

export const REJECT_BODY = closed({ request_sha256: seen, note });

export type ApiApprovalsQuery = Infer<typeof APPROVALS_QUERY>;
export type ApiGrantsQuery = Infer<typeof GRANTS_QUERY>;
export type ApiApproval = Infer<typeof API_APPROVAL>;
export type ApiApprovals = Infer<typeof API_APPROVALS>;
export type ApiGrant = Infer<typeof API_GRANT>;
export type ApiGrants = Infer<typeof API_GRANTS>;
export type ApiDecided = Infer<typeof API_DECIDED>;
export type ApiRevoked = Infer<typeof API_REVOKED>;
export type ApiGrantWish = Infer<typeof GRANT_WISH>;
export type ApiApprove = Infer<typeof APPROVE_BODY>;
export type ApiReject = Infer<typeof REJECT_BODY>;
