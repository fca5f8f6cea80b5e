// The HTTP API of the ledger daemon: what a UI asks, and what it gets. Read only.
import { ACTION, POLICY_REF } from './decision.ts';
import { CALL_STATUS } from './events/call.ts';
import { EVENT_LINE_LENGTH_MAX } from './events/parse.ts';
import { EVENT, RUN_STATUS } from './events/types.ts';
import { type Parsed, parseAs } from './parse.ts';
import {
  array,
  boolean,
  closed,
  formatted,
  type Infer,
  integer,
  json,
  nullable,
  type ObjectShape,
  oneOf,
  open,
  optional,
  record,
  required,
  STRING_LENGTH_MAX,
  string,
} from './shape.ts';

/** How many rows one page has at most, and without being asked. */
const API_PAGE_LIMIT = { max: 1_000, fallback: 50 } as const;
/** A policy may be large, so fewer of them travel at once. */
const API_POLICIES_LIMIT = { max: 100, fallback: 50 } as const;
/** What a browser offers as the subprotocol of the stream, beside `bearer.TOKEN`. */
const API_STREAM_PROTOCOL = 'subluminal.v1';

const TEXT_LENGTH_MAX = 200;
const CURSOR_LENGTH_MAX = 100_000;
/** So many signs of violations, errors, tools or rules a summary lists. */
const LISTED_MAX = 1_000;

const count = integer({ min: 0 });
const timeMs = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
/** What producers wrote: any text, also an empty one. */
const words = string({ lengthMin: 0 });
const wordsOrNull = nullable(words);
const countOrNull = nullable(count);
/** JSON as text, as the ledger keeps it. */
const jsonText = nullable(string({ lengthMin: 0, lengthMax: EVENT_LINE_LENGTH_MAX }));
const name = string({ lengthMax: STRING_LENGTH_MAX });
const seq = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

const PAGE_FIELDS = {
  limit: optional(integer({ min: 1, max: API_PAGE_LIMIT.max }), 'How many rows; 50.'),
  cursor: optional(
    string({ lengthMax: CURSOR_LENGTH_MAX }),
    'What the page before gave as `next`.',
  ),
} as const;

const RANGE_FIELDS = {
  from_ms: optional(timeMs, 'From this time on.'),
  to_ms: optional(timeMs, 'Before this time.'),
} as const;

const NO_QUERY = closed({});

const RUNS_QUERY = closed({
  agent_id: optional(name, 'The agent.'),
  status: optional(
    oneOf(...RUN_STATUS.values, 'RUNNING'),
    'How the run ended; `RUNNING` has no end on record.',
  ),
  ...RANGE_FIELDS,
  ...PAGE_FIELDS,
});

const DECISION_FILTER = oneOf(...ACTION.values, 'REFUSED');

const CALLS_QUERY = closed({
  run_id: optional(name, 'The run.'),
  agent_id: optional(name, 'The agent.'),
  server_name: optional(name, 'The server, as it is configured.'),
  tool_name: optional(name, 'The tool, as the server calls it.'),
  decision: optional(DECISION_FILTER, 'What was decided; `REFUSED` is all but ALLOW.'),
  status: optional(
    oneOf(...CALL_STATUS.values, 'PENDING', 'FAILED'),
    'How the call ended; `PENDING` has no end on record, `FAILED` is all but OK.',
  ),
  rule_id: optional(name, 'The rule that decided.'),
  args_hash: optional(formatted('sha256'), 'The hash of the canonical arguments.'),
  text: optional(
    string({ lengthMax: TEXT_LENGTH_MAX }),
    'Part of a name, a summary, an error or a preview.',
  ),
  ...RANGE_FIELDS,
  ...PAGE_FIELDS,
});

const STATS_QUERY = closed(RANGE_FIELDS);

const EVENTS_QUERY = closed({ after: optional(seq, 'Only events behind this seq.') });

const POLICIES_QUERY = closed({
  limit: optional(integer({ min: 1, max: API_POLICIES_LIMIT.max }), 'How many; 50.'),
});

const STREAM_QUERY = closed({
  after: optional(seq, 'First everything behind this seq; without it only what is new.'),
  run: optional(name, 'Only events of this run.'),
  agent: optional(name, 'Only events of this agent.'),
  server: optional(name, 'Only events that name this server.'),
  tool: optional(name, 'Only events that name this tool.'),
  decision: optional(DECISION_FILTER, 'Only decisions, and of them only these.'),
});

const API_HEALTH = open({
  status: required(oneOf('ok'), 'That it answers.'),
  version: required(words, 'The version of the product.'),
  v: required(formatted('pack_version'), 'The version of the interface pack.'),
  ledger_id: required(words, 'Which ledger this is.'),
  tip_seq: required(seq, 'The seq of the last event; 0 when there is none.'),
  streams: required(count, 'How many streams are open.'),
  started_at_ms: required(timeMs, 'When the API was opened.'),
  now_ms: required(timeMs, 'What time it is there.'),
});

const CALL_COUNTS = open({
  total: required(count, 'All calls.'),
  allowed: required(count, 'Calls that were forwarded.'),
  blocked: required(count, 'Every decision but ALLOW and THROTTLE.'),
  throttled: required(count, 'Calls that were told to wait.'),
  undecided: required(count, 'Calls without a decision on record.'),
  errors: required(count, 'Allowed calls that did not end well.'),
});

const API_RUN = open({
  run_id: required(words, 'The run.'),
  agent_id: required(wordsOrNull, 'The agent.'),
  client: required(wordsOrNull, 'The agent client.'),
  env: required(wordsOrNull, 'The environment.'),
  principal: required(wordsOrNull, 'Who started it.'),
  started_at_ms: required(nullable(integer()), 'When it said that it began.'),
  ended_at_ms: required(nullable(integer()), 'When it said that it ended.'),
  first_at_ms: required(integer(), 'Its first event.'),
  last_at_ms: required(integer(), 'Its last event.'),
  status: required(wordsOrNull, 'How it ended; null while there is no end on record.'),
  mode: required(wordsOrNull, 'How far its policy went.'),
  policy_id: required(wordsOrNull, 'Its policy.'),
  policy_version: required(wordsOrNull, 'The version of it.'),
  policy_hash: required(wordsOrNull, 'The hash of it.'),
  metadata_json: required(jsonText, 'What else `run_start` said, as JSON.'),
  summary_json: required(jsonText, 'The summary of `run_end`, as JSON.'),
  calls: required(CALL_COUNTS, 'Its calls.'),
});

const CALL_FIELDS = {
  id: required(count, 'Grows with the time at which the ledger first heard of the call.'),
  run_id: required(words, 'The run.'),
  call_id: required(words, 'The call; unique within the run.'),
  agent_id: required(words, 'The agent.'),
  server_name: required(words, 'The server.'),
  tool_name: required(words, 'The tool.'),
  args_hash: required(words, 'The hash of the canonical arguments.'),
  transport: required(wordsOrNull, 'The adapter it came by.'),
  call_seq: required(countOrNull, 'Its place in the run.'),
  risk_class: required(array(words), 'Its risk classes.'),
  decision: required(wordsOrNull, 'What was decided.'),
  rule_id: required(wordsOrNull, 'The rule that decided.'),
  severity: required(wordsOrNull, 'How much it matters.'),
  reason_code: required(wordsOrNull, 'A stable reason.'),
  summary: required(wordsOrNull, 'The reason for a person.'),
  would_action: required(wordsOrNull, 'What an enforcing policy would have done.'),
  would_rule_id: required(wordsOrNull, 'The rule that would have decided.'),
  status: required(wordsOrNull, 'How it ended.'),
  latency_ms: required(countOrNull, 'From request to answer.'),
  bytes_in: required(countOrNull, 'The size of the request.'),
  bytes_out: required(countOrNull, 'The size of the answer.'),
  error_class: required(wordsOrNull, 'Where a failure comes from.'),
  error_message: required(wordsOrNull, 'What went wrong.'),
  preview_truncated: required(boolean(), 'Whether a preview is not the whole.'),
  created_at_ms: required(integer(), 'Its first event.'),
} as const;

const API_CALL = open(CALL_FIELDS);

const CALL_HINT = open({
  hint_text: required(words, 'What the agent should do instead.'),
  suggested_args_json: required(jsonText, 'Corrected arguments, as JSON.'),
  retry_advice: required(wordsOrNull, 'When and how to try again.'),
  hint_kind: required(wordsOrNull, 'What kind of correction this is.'),
  created_at_ms: required(integer(), 'When it was given.'),
});

const API_CALL_DETAIL = open({
  ...CALL_FIELDS,
  args_preview: required(wordsOrNull, 'The arguments, redacted and cut.'),
  result_preview: required(wordsOrNull, 'The result, redacted and cut.'),
  redaction_flags: required(
    count,
    'Why a preview is not whole: 1 and 2 cut, 4 and 8 left out, 16 and 32 pruned; arguments, result.',
  ),
  hint: required(nullable(CALL_HINT), 'The hint it was refused with.'),
});

const next = required(
  nullable(string({ lengthMax: CURSOR_LENGTH_MAX })),
  'The cursor of the next page; null at the end.',
);
const API_RUNS_PAGE = open({
  rows: required(array(API_RUN, { itemsMax: API_PAGE_LIMIT.max }), 'Newest first.'),
  next,
});
const API_CALLS_PAGE = open({
  rows: required(array(API_CALL, { itemsMax: API_PAGE_LIMIT.max }), 'Newest first.'),
  next,
});

const TALLIES_MAX = 50;
function tallies<N extends string>(field: N, doc: string) {
  const fields = { [field]: required(wordsOrNull, doc) } as {
    readonly [K in N]: ReturnType<typeof required<typeof wordsOrNull>>;
  };
  return open({ ...fields, count: required(count, 'How many calls.') });
}

const API_STATS = open({
  calls: required(CALL_COUNTS, 'All calls.'),
  runs: required(count, 'All runs.'),
  events: required(count, 'All events.'),
  decisions: required(array(tallies('decision', 'The decision.')), 'Calls by decision.'),
  statuses: required(array(tallies('status', 'The status.')), 'Calls by status.'),
  tools: required(
    array(
      open({
        server_name: required(wordsOrNull, 'The server.'),
        tool_name: required(words, 'The tool.'),
        count: required(count, 'How many calls.'),
      }),
      { itemsMax: TALLIES_MAX },
    ),
    'The most frequent first.',
  ),
  rules: required(
    array(tallies('rule_id', 'The rule.'), { itemsMax: TALLIES_MAX }),
    'The most frequent first.',
  ),
});
