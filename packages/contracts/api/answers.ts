// What the HTTP API of the ledger daemon answers, as shapes.
import { ACTION, POLICY_REF } from '../decision/decision.ts';
import { EVENT_LINE_LENGTH_MAX } from '../events/parse.ts';
import { RUN_SUMMARY } from '../events/run.ts';
import { EVENT } from '../events/types.ts';
import {
  array,
  boolean,
  formatted,
  integer,
  json,
  nullable,
  oneOf,
  open,
  optional,
  record,
  required,
  string,
  variant,
} from '../shape/shape.ts';

/** How many rows one page has at most, and without being asked. */
export const API_PAGE_LIMIT = { max: 1_000, fallback: 50 } as const;
/** A policy may be large, so fewer of them travel at once. */
export const API_POLICIES_LIMIT = { max: 100, fallback: 50 } as const;

export const CURSOR_LENGTH_MAX = 100_000;
/** How many violations, errors, tools or rules a summary lists. */
const LISTED_MAX = 1_000;

const count = integer({ min: 0 });
export const SEQ = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
export const TIME_MS = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
/** What producers wrote: any text, also an empty one. */
const words = string({ lengthMin: 0 });
const wordsOrNull = nullable(words);
const countOrNull = nullable(count);
/** JSON as text, as the ledger keeps it. */
const jsonText = nullable(string({ lengthMin: 0, lengthMax: EVENT_LINE_LENGTH_MAX }));

export const API_HEALTH = open({
  status: required(oneOf('ok'), 'That it answers.'),
  version: required(words, 'The version of the product.'),
  v: required(formatted('pack_version'), 'The version of the interface pack.'),
  ledger_id: required(words, 'Which ledger this is.'),
  tip_seq: required(SEQ, 'The seq of the last event; 0 when there is none.'),
  streams: required(count, 'How many streams are open.'),
  started_at_ms: required(TIME_MS, 'When the API was opened.'),
  now_ms: required(TIME_MS, 'What time it is there.'),
});

export const API_TAKEN = open({
  accepted: required(count, 'Events that are in the ledger now.'),
  duplicates: required(count, 'Events that were there already.'),
  rejected: required(count, 'Lines that are no events.'),
});

const CALL_COUNTS = open({
  total: required(count, 'All calls.'),
  allowed: required(count, 'Calls that were forwarded.'),
  blocked: required(count, 'Every decision but ALLOW and THROTTLE.'),
  throttled: required(count, 'Calls that were told to wait.'),
  undecided: required(count, 'Calls without a decision on record.'),
  errors: required(count, 'Allowed calls that did not end well.'),
});

const RUN_FIELDS = {
  agent_id: required(wordsOrNull, 'The agent.'),
  client: required(wordsOrNull, 'The agent client.'),
  env: required(wordsOrNull, 'The environment.'),
  principal: required(wordsOrNull, 'Who started it.'),
  status: required(wordsOrNull, 'How it ended; null while there is no end on record.'),
  mode: required(wordsOrNull, 'How far its policy went.'),
} as const;

export const API_RUN = open({
  run_id: required(words, 'The run.'),
  ...RUN_FIELDS,
  started_at_ms: required(nullable(integer()), 'When it said that it began.'),
  ended_at_ms: required(nullable(integer()), 'When it said that it ended.'),
  first_at_ms: required(integer(), 'Its first event.'),
  last_at_ms: required(integer(), 'Its last event.'),
  policy_id: required(wordsOrNull, 'Its policy.'),
  policy_version: required(wordsOrNull, 'The version of it.'),
  policy_hash: required(wordsOrNull, 'The hash of it.'),
  metadata_json: required(jsonText, 'What else `run_start` said, as JSON.'),
  summary_json: required(jsonText, 'The summary of `run_end`, as JSON.'),
  degraded_reason: required(
    wordsOrNull,
    'Why it was last decided or recorded by less than it should be; null where it never was.',
  ),
  calls: required(CALL_COUNTS, 'Its calls.'),
  hints: required(count, 'Hints that it was given.'),
  turns: required(count, 'Calls of models; they are among its calls, too.'),
  tokens_in: required(count, 'Tokens of their requests.'),
  tokens_out: required(count, 'Tokens of their answers.'),
  cost_micros: required(count, 'What they cost, in millionths of a dollar.'),
});

const CALL_FIELDS = {
  id: required(count, 'Grows with the time at which the ledger first heard of the call.'),
  run_id: required(words, 'The run.'),
  call_id: required(words, 'The call; unique within the run.'),
  agent_id: required(words, 'The agent.'),
  principal: required(wordsOrNull, 'Who started its run.'),
  client: required(wordsOrNull, 'The agent client.'),
  approved_by: required(array(words), 'Who approved it, each once.'),
  transport: required(wordsOrNull, 'The adapter it came by.'),
  call_seq: required(countOrNull, 'Its place among the calls of its shim.'),
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

const TOOL_CALL_FIELDS = {
  kind: required(oneOf('tool_call'), 'Since 0.2.0: a call of a tool.'),
  server_name: required(words, 'The server.'),
  tool_name: required(words, 'The tool.'),
  args_hash: required(words, 'The hash of the canonical arguments.'),
} as const;

const TURN_FIELDS = {
  kind: required(oneOf('turn'), 'Since 0.2.0: a call of a model.'),
  provider: required(words, 'The provider of the model.'),
  model: required(words, 'The model.'),
  tokens_in: required(countOrNull, 'Tokens of the request.'),
  tokens_out: required(countOrNull, 'Tokens of the answer.'),
  cost_micros: required(countOrNull, 'What it cost, in millionths of a dollar.'),
} as const;

export const API_CALL = variant('kind', {
  tool_call: open({
    ...CALL_FIELDS,
    ...TOOL_CALL_FIELDS,
    argument: required(
      wordsOrNull,
      'The argument that tells most, as `name=value`, redacted and cut; null without one.',
    ),
  }),
  turn: open({ ...CALL_FIELDS, ...TURN_FIELDS }),
});

export const CALL_HINT = open({
  hint_text: required(words, 'What the agent should do instead.'),
  suggested_args_json: required(jsonText, 'Corrected arguments, as JSON.'),
  retry_advice: required(wordsOrNull, 'When and how to try again.'),
  hint_kind: required(wordsOrNull, 'What kind of correction this is.'),
  created_at_ms: required(integer(), 'When it was given.'),
});

const CALL_DETAIL_FIELDS = {
  ...CALL_FIELDS,
  args_preview: required(wordsOrNull, 'The arguments, redacted and cut.'),
  result_preview: required(wordsOrNull, 'The result, redacted and cut.'),
  redaction_flags: required(
    count,
    'Why a preview is not whole: 1 and 2 cut, 4 and 8 left out, 16 and 32 pruned; arguments, result.',
  ),
  hint: required(nullable(CALL_HINT), 'The hint it was refused with.'),
} as const;

export const API_CALL_DETAIL = variant('kind', {
  tool_call: open({ ...CALL_DETAIL_FIELDS, ...TOOL_CALL_FIELDS }),
  turn: open({ ...CALL_DETAIL_FIELDS, ...TURN_FIELDS }),
});

const next = required(
  nullable(string({ lengthMax: CURSOR_LENGTH_MAX })),
  'The cursor of the next page; null at the end.',
);
export const API_RUNS_PAGE = open({
  rows: required(array(API_RUN, { itemsMax: API_PAGE_LIMIT.max }), 'Newest first.'),
  next,
});
export const API_CALLS_PAGE = open({
  rows: required(array(API_CALL, { itemsMax: API_PAGE_LIMIT.max }), 'Newest first.'),
  next,
  unseen: optional(
    count,
    'With `path` or `arg`: calls that may fit, but whose arguments are not all in the ledger.',
  ),
});

/** How many tools and rules the statistics list. */
const TALLIES_MAX = 50;
const callsCounted = required(count, 'How many calls.');

export const API_STATS = open({
  calls: required(CALL_COUNTS, 'All calls.'),
  runs: required(count, 'All runs.'),
  events: required(count, 'All events of the ledger, whatever the time.'),
  decisions: required(
    array(open({ decision: required(wordsOrNull, 'The decision.'), count: callsCounted })),
    'Calls by decision.',
  ),
  statuses: required(
    array(open({ status: required(wordsOrNull, 'The status.'), count: callsCounted })),
    'Calls by status.',
  ),
  tools: required(
    array(
      open({
        server_name: required(wordsOrNull, 'The server.'),
        tool_name: required(words, 'The tool.'),
        count: callsCounted,
      }),
      { itemsMax: TALLIES_MAX },
    ),
    'The most frequent first.',
  ),
  rules: required(
    array(open({ rule_id: required(wordsOrNull, 'The rule.'), count: callsCounted }), {
      itemsMax: TALLIES_MAX,
    }),
    'The most frequent first.',
  ),
});

export const API_POLICIES = open({
  rows: required(
    array(
      open({
        policy_id: required(words, 'The policy.'),
        version: required(words, 'Its version.'),
        rules_hash: required(words, 'The hash of its compiled snapshot.'),
        mode: required(wordsOrNull, 'How far it goes.'),
        rules_json: required(jsonText, 'Its rules as JSON, when they were recorded.'),
        created_at_ms: required(integer(), 'When it was first seen.'),
      }),
      { itemsMax: API_POLICIES_LIMIT.max },
    ),
    'Newest first.',
  ),
});

const SUBJECT_NAMES = {
  server_name: required(words, 'The server; of a turn, its provider.'),
  tool_name: required(words, 'The tool; of a turn, its model.'),
} as const;

const NAMED_CALL = {
  ts: required(words, 'When.'),
  call_id: required(words, 'The call.'),
  ...SUBJECT_NAMES,
} as const;

const VIOLATION = open({
  ...NAMED_CALL,
  action: required(ACTION, 'What was decided, or would have been.'),
  rule_id: required(wordsOrNull, 'The rule.'),
  severity: required(words, 'How much it matters.'),
  reason_code: required(words, 'A stable reason.'),
  summary: required(words, 'The reason for a person.'),
});

const FAILED_CALL = open({
  ...NAMED_CALL,
  status: required(words, 'How it ended.'),
  class: required(words, 'Where the failure comes from.'),
  message: required(words, 'What went wrong.'),
});

const listed = { itemsMax: LISTED_MAX } as const;

/** `summary.json` of a trace bundle, made from the events of the run alone. */
export const API_RUN_SUMMARY = open({
  format: required(oneOf('subluminal.summary.v1'), 'The format.'),
  run_id: required(wordsOrNull, 'The run.'),
  ...RUN_FIELDS,
  policy: required(nullable(POLICY_REF), 'The policy it began with.'),
  policies: required(
    array(
      open({
        policy_id: required(words, 'The policy.'),
        policy_version: required(words, 'Its version.'),
        policy_hash: required(words, 'The hash of its compiled snapshot.'),
        calls: required(count, 'Calls that it decided.'),
        refused: required(count, 'Those that did not pass.'),
      }),
      listed,
    ),
    'All that were in force; a server may have one of its own.',
  ),
  started_at: required(wordsOrNull, 'When it began.'),
  ended_at: required(wordsOrNull, 'When it ended.'),
  totals: required(RUN_SUMMARY, 'As `run_end` has them.'),
  calls_undecided: required(count, 'Calls without a decision on record.'),
  answers_held_back: required(count, 'Answers of forwarded calls that the agent did not get.'),
  definitions_changed: required(
    array(
      open({
        ts: required(words, 'When it was first seen in the run.'),
        server_name: required(words, 'The server.'),
        tool_name: required(wordsOrNull, 'The tool; null for the instructions of the server.'),
        enforced: required(boolean(), 'Whether calls were refused because of it.'),
      }),
      listed,
    ),
    'What is not as it was pinned, and has to be accepted by a person.',
  ),
  warnings_total: required(
    count,
    'How often it was decided or recorded by less than it should be.',
  ),
  warnings: required(
    array(open({ ts: required(words, 'When.'), reason: required(words, 'In which way.') }), listed),
    'The first of them.',
  ),
  decisions: required(record(count), 'Calls by action.'),
  rules: required(
    array(open({ rule_id: required(words, 'The rule.'), count: callsCounted }), listed),
    'The most frequent first.',
  ),
  tools: required(
    array(
      open({
        ...SUBJECT_NAMES,
        calls: required(count, 'Its calls.'),
        refused: required(count, 'Those that were refused.'),
        errors: required(count, 'Those that failed.'),
      }),
      listed,
    ),
    'The most frequent first.',
  ),
  violations_total: required(count, 'Decisions other than ALLOW.'),
  violations: required(array(VIOLATION, listed), 'The first of them.'),
  spared_total: required(count, 'What observe mode or the development profile let pass.'),
  spared: required(array(VIOLATION, listed), 'The first of them.'),
  errors: required(array(FAILED_CALL, listed), 'Allowed calls that did not end well.'),
  turns: optional(
    open({
      total: required(count, 'Turns, refused ones included; they are among the calls, too.'),
      tokens_in: required(count, 'Tokens of their requests.'),
      tokens_out: required(count, 'Tokens of their answers.'),
      cost_micros: required(count, 'What they cost, in millionths of a dollar.'),
    }),
    'Since 0.2.0: the calls of models, where there were some.',
  ),
  events_total: required(count, 'All events that were read.'),
  lines_malformed: required(count, 'Lines that are no events.'),
  events_unknown: required(count, 'Events of a type that this version does not know.'),
  incomplete: required(boolean(), 'Whether there was more than is kept track of.'),
});

/** One line of the events of a run; the event may be of a type that this version does not know. */
export const API_EVENT_LINE = open({
  seq: required(SEQ, 'Its place in the ledger.'),
  event: required(record(json()), 'The event, as contract A has it.'),
});

/** One message of the stream. */
export const API_STREAM_MESSAGE = open({
  seq: required(SEQ, 'Its place in the ledger.'),
  event: required(EVENT, 'The event.'),
});

export const API_ERROR = open({
  error: required(
    open({
      code: required(string(), 'A stable code; docs/reference/errors.md has them all.'),
      message: required(string(), 'What is wrong, with the parameter if it is one.'),
      fix: required(string(), 'What helps.'),
    }),
    'Why there is no answer.',
  ),
});
