// What can be asked of the ledger about runs and calls: filters, pages, times.
import { ACTION } from '../decision/decision.ts';
import { CALL_STATUS } from '../events/call.ts';
import { RUN_STATUS } from '../events/run.ts';
import {
  array,
  boolean,
  closed,
  formatted,
  type Infer,
  integer,
  oneOf,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import { API_PAGE_LIMIT, CURSOR_LENGTH_MAX, SEQ, TIME_MS } from './answers.ts';

/** The longest text that can be searched for. */
export const TEXT_LENGTH_MAX = 200;
export const PATH_LENGTH_MAX = 4_096;
export const ARG_LENGTH_MAX = 2_048;
/** How many arguments one question names. */
export const ARGS_MAX = 10;
/** How many bars a histogram has at most, and without being asked. */
export const API_BUCKETS = { max: 500, fallback: 120 } as const;
/** How many runs are asked about at once, and how many parts the time of each has. */
export const API_ACTIVITY = { runsMax: 100, buckets: 32 } as const;
/** How many hours or days one question about cost covers: a month of hours. */
export const API_COST_BUCKETS_MAX = 750;

const name = string();

const PAGE_FIELDS = {
  limit: optional(integer({ min: 1, max: API_PAGE_LIMIT.max }), 'How many rows; 50.'),
  cursor: optional(
    string({ lengthMax: CURSOR_LENGTH_MAX }),
    'What the page before gave as `next`.',
  ),
} as const;

export const RANGE_FIELDS = {
  from_ms: optional(TIME_MS, 'From this time on.'),
  to_ms: optional(TIME_MS, 'Before this time.'),
} as const;

export const RUNS_QUERY = closed({
  agent_id: optional(name, 'The agent.'),
  principal: optional(name, 'Who started the run; may be a glob.'),
  client: optional(name, 'The agent client.'),
  status: optional(
    oneOf(...RUN_STATUS.values, 'RUNNING'),
    'How the run ended; `RUNNING` has no end on record.',
  ),
  ...RANGE_FIELDS,
  ...PAGE_FIELDS,
});

export const CALL_DECISION_FILTER = oneOf(...ACTION.values, 'REFUSED', 'ASKED');
export const CALL_STATUS_FILTER = oneOf(...CALL_STATUS.values, 'PENDING', 'FAILED');
export const CALL_KIND_FILTER = oneOf('tool_call', 'turn');

const CALL_FILTERS = {
  run_id: optional(name, 'The run; `last` is the one that began last.'),
  agent_id: optional(name, 'The agent.'),
  kind: optional(CALL_KIND_FILTER, 'Calls of tools, or of models, alone.'),
  server_name: optional(name, 'The server, as it is configured; may be a glob.'),
  tool_name: optional(name, 'The tool, as the server calls it; may be a glob.'),
  principal: optional(name, 'Who started the run; may be a glob.'),
  approved_by: optional(name, 'Who approved the call; may be a glob.'),
  provider: optional(name, 'The provider of a model.'),
  model: optional(name, 'The model, as the provider calls it.'),
  decision: optional(
    CALL_DECISION_FILTER,
    'What was decided; `REFUSED` is all but ALLOW, `ASKED` needed or needs a person.',
  ),
  status: optional(
    CALL_STATUS_FILTER,
    'How the call ended; `PENDING` has no end on record, `FAILED` is all but OK.',
  ),
  rule_id: optional(name, 'The rule that decided.'),
  args_hash: optional(formatted('sha256'), 'The hash of the canonical arguments.'),
  path: optional(
    string({ lengthMax: PATH_LENGTH_MAX }),
    'A path that the arguments name, or a folder above it; a relative one begins anywhere.',
  ),
  arg: optional(
    array(string({ lengthMax: ARG_LENGTH_MAX }), { itemsMin: 1, itemsMax: ARGS_MAX }),
    'An argument, as `NAME=GLOB`; may be repeated, and then all must be there.',
  ),
  text: optional(
    string({ lengthMax: TEXT_LENGTH_MAX }),
    'Part of a name, a summary, an error or a preview.',
  ),
  ...RANGE_FIELDS,
} as const;

const CALL_FILTER_QUERY = closed(CALL_FILTERS);
export const CALLS_QUERY = closed({ ...CALL_FILTERS, ...PAGE_FIELDS });

export const HISTOGRAM_QUERY = closed({
  ...CALL_FILTERS,
  buckets: optional(integer({ min: 1, max: API_BUCKETS.max }), 'How many parts; 120.'),
});

export const ACTIVITY_QUERY = closed({
  run_ids: required(
    array(name, { itemsMin: 1, itemsMax: API_ACTIVITY.runsMax }),
    'A run; may be repeated.',
  ),
});

export const COST_GROUP = oneOf(
  ...(['model', 'provider', 'agent', 'principal', 'rule', 'run', 'repo'] as const),
);
export const COST_BUCKET = oneOf('hour', 'day');

export const COST_QUERY = closed({
  by: optional(COST_GROUP, 'What turns are added up by; model.'),
  bucket: optional(COST_BUCKET, 'Parts of the time, in UTC; day.'),
  ...RANGE_FIELDS,
});

export const EVENTS_QUERY = closed({
  after: optional(SEQ, 'Only events behind this seq.'),
  call_id: optional(name, 'Only events about this call.'),
});

export const VERIFY_BODY = closed({
  quick: optional(boolean(), 'Only count the rows, instead of deriving each again.'),
});

export const PRUNE_BODY = closed({
  older_than_ms: optional(TIME_MS, 'Runs whose last event is older than this time.'),
  keep_runs: optional(integer({ min: 0, max: 999_999_999 }), 'All but so many of the newest runs.'),
  previews_only: optional(boolean(), 'Only what arguments and results looked like.'),
  dry_run: optional(boolean(), 'Only count what would be removed.'),
});

export type ApiRunsQuery = Infer<typeof RUNS_QUERY>;
/** What `/calls` and `/histogram` have in common. */
export type ApiCallFilter = Infer<typeof CALL_FILTER_QUERY>;
export type ApiCallsQuery = Infer<typeof CALLS_QUERY>;
export type ApiHistogramQuery = Infer<typeof HISTOGRAM_QUERY>;
export type ApiActivityQuery = Infer<typeof ACTIVITY_QUERY>;
export type ApiCostQuery = Infer<typeof COST_QUERY>;
export type ApiVerify = Infer<typeof VERIFY_BODY>;
export type ApiPrune = Infer<typeof PRUNE_BODY>;
