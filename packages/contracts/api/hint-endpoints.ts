// Hints over the HTTP API of the ledger daemon: calls that were refused with advice, and letting one pass.

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
} from '../shape/shape.ts';
import { CALL_HINT, CURSOR_LENGTH_MAX, TIME_MS } from './answers.ts';
import { API_GRANT } from './approval-endpoints.ts';

export const API_HINTS_LIMIT = { max: 200, fallback: 50 } as const;
const NAME_LENGTH_MAX = 1_024;
const NAMES_MAX = 256;
const DIFF_LENGTH_MAX = 4_194_304;

const words = string({ lengthMin: 0 });
const wordsOrNull = nullable(words);

export const HINTS_QUERY = closed({
  run_id: optional(string(), 'The run.'),
  server_name: optional(string(), 'The server.'),
  from_ms: optional(TIME_MS, 'From this time on.'),
  to_ms: optional(TIME_MS, 'Before this time.'),
  limit: optional(integer({ min: 1, max: API_HINTS_LIMIT.max }), 'How many rows; 50.'),
  cursor: optional(
    string({ lengthMax: CURSOR_LENGTH_MAX }),
    'What the page before gave as `next`.',
  ),
});

const HINTED_CALL = open({
  run_id: required(words, 'The run.'),
  call_id: required(words, 'The call.'),
  agent_id: required(words, 'The agent.'),
  server_name: required(words, 'The server.'),
  tool_name: required(words, 'The tool.'),
  args_hash: required(words, 'The hash of the canonical arguments.'),
  args_preview: required(wordsOrNull, 'The arguments, redacted and cut.'),
  rule_id: required(wordsOrNull, 'The rule that refused.'),
  reason_code: required(wordsOrNull, 'A stable reason.'),
  summary: required(wordsOrNull, 'The reason for a person.'),
  run_ended: required(boolean(), 'Whether its run has ended: then nothing lasts for the run.'),
  hint: required(CALL_HINT, 'What the agent was told.'),
});

export const API_HINTS = open({
  rows: required(array(HINTED_CALL, { itemsMax: API_HINTS_LIMIT.max }), 'Newest first.'),
  next: required(
    nullable(string({ lengthMax: CURSOR_LENGTH_MAX })),
    'The cursor of the next page; null at the end.',
  ),
});

export const PROMOTE_BODY = closed({
  to: required(
    oneOf('session', 'policy'),
    'A grant for the rest of its run, or an allow rule in the policy that refused.',
  ),
  any_args: optional(boolean(), 'Any arguments, not only those of the call.'),
  like: optional(
    record(string({ lengthMax: NAME_LENGTH_MAX })),
    'Of a grant: arguments that may be like a glob.',
  ),
  free: optional(
    array(string({ lengthMax: NAME_LENGTH_MAX }), { itemsMax: NAMES_MAX }),
    'Of a grant: arguments that may be anything.',
  ),
  this_run_only: optional(boolean(), 'Of a rule: it holds for the run of the call alone.'),
  base_sha256: optional(
    formatted('sha256'),
    'Of a rule: the file that the shown change was made from; needed unless `dry_run`.',
  ),
  dry_run: optional(boolean(), 'Only say what would be done.'),
});

const POLICY_CHANGE = open({
  path: required(words, 'The file.'),
  base_sha256: required(formatted('sha256'), 'The file as it was before.'),
  rule_id: required(words, 'The new rule.'),
  diff: required(string({ lengthMin: 0, lengthMax: DIFF_LENGTH_MAX }), 'The change, unified.'),
  notes: required(array(words), 'What the person must know; whole sentences.'),
});

export const API_PROMOTED = open({
  changed: required(boolean(), 'False with `dry_run`.'),
  policy: required(nullable(POLICY_CHANGE), 'The change of the policy.'),
  grant: required(nullable(API_GRANT), 'The grant.'),
});

export type ApiHintsQuery = Infer<typeof HINTS_QUERY>;
export type ApiHintedCall = Infer<typeof HINTED_CALL>;
export type ApiHints = Infer<typeof API_HINTS>;
export type ApiPromote = Infer<typeof PROMOTE_BODY>;
export type ApiPromoted = Infer<typeof API_PROMOTED>;
