// Answers about many calls at once, about one call with all that is known, and about the ledger itself.
import { APPROVAL } from '../events/approval.ts';
import { decisionFields } from '../events/call.ts';
import { TOOL_CALL_DECISION } from '../events/tool-call.ts';
import { TURN_END } from '../events/turn.ts';
import { parserFor } from '../shape/check.ts';
import {
  array,
  boolean,
  type Infer,
  integer,
  json,
  nullable,
  oneOf,
  open,
  optional,
  record,
  required,
  string,
} from '../shape/shape.ts';
import { API_CALL_DETAIL, API_EVENT_LINE, API_RUN, SEQ, TIME_MS } from './answers.ts';
import {
  API_ACTIVITY,
  API_BUCKETS,
  API_COST_BUCKETS_MAX,
  COST_BUCKET,
  COST_GROUP,
} from './record-queries.ts';

/** Dearer rows than this many are listed one by one; the rest is one row. */
export const API_COST_ROWS_MAX = 50;
/** How many events of one call, and how many findings about the ledger, are listed. */
export const API_RECORD_EVENTS_MAX = 1_000;
const FINDINGS_MAX = 100;

const count = integer({ min: 0 });
const words = string({ lengthMin: 0 });
const wordsOrNull = nullable(words);
const bucketMs = required(integer({ min: 1 }), 'How long each part is.');

function counts(itemsMax: number) {
  return array(count, { itemsMax });
}

export const API_HISTOGRAM = open({
  from_ms: required(TIME_MS, 'Where the first part begins.'),
  to_ms: required(TIME_MS, 'Where the last part ends.'),
  bucket_ms: bucketMs,
  calls: required(counts(API_BUCKETS.max), 'Calls that began in each part.'),
  refused: required(counts(API_BUCKETS.max), 'Those that were refused.'),
  asked: required(counts(API_BUCKETS.max), 'Those that needed a person, or wait for one.'),
  complete_from_ms: required(
    TIME_MS,
    'All calls from this time on were looked at; later than `from_ms` where a search in texts or arguments was cut.',
  ),
});

export const API_RUNS_ACTIVITY = open({
  rows: required(
    array(
      open({
        run_id: required(words, 'The run.'),
        from_ms: required(integer(), 'Its first event.'),
        bucket_ms: bucketMs,
        calls: required(counts(API_ACTIVITY.buckets), 'Its calls by time: 32 parts.'),
        refused: required(counts(API_ACTIVITY.buckets), 'Those that were refused.'),
      }),
      { itemsMax: API_ACTIVITY.runsMax },
    ),
    'The runs that the ledger knows, as they were asked for.',
  ),
});

const COST_SUMS = {
  turns: required(count, 'Turns, refused ones included.'),
  refused: required(count, 'Turns that were refused.'),
  failed: required(count, 'Turns that passed and did not end well.'),
  tokens_in: required(count, 'Tokens of the requests.'),
  tokens_out: required(count, 'Tokens of the answers.'),
  cost_micros: required(count, 'What they cost, in millionths of a dollar.'),
  unpriced: required(count, 'Turns that used tokens whose price is not known.'),
} as const;

export const API_COST = open({
  by: required(COST_GROUP, 'What turns are added up by.'),
  bucket: required(COST_BUCKET, 'Parts of the time, in UTC.'),
  from_ms: required(TIME_MS, 'Where the first part begins: a whole hour or day.'),
  to_ms: required(TIME_MS, 'Where the last part ends.'),
  bucket_ms: bucketMs,
  total: required(open(COST_SUMS), 'All turns.'),
  rows: required(
    array(
      open({
        name: required(
          wordsOrNull,
          'The model as `provider/model`, the agent, …; empty when it is not known, null for all rows that are not listed.',
        ),
        ...COST_SUMS,
        turns_by_time: required(counts(API_COST_BUCKETS_MAX), 'Turns in each part.'),
        cost_micros_by_time: required(counts(API_COST_BUCKETS_MAX), 'What each part cost.'),
      }),
      { itemsMax: API_COST_ROWS_MAX + 1 },
    ),
    'The dearest first, at most 50; what is left is added up in one more.',
  ),
});

const GATE_RECORD = open({
  gate: required(words, 'content, taint, pins, manifest, …; `cedar` for a Cedar policy.'),
  about: required(oneOf('call', 'arguments', 'result'), 'What it looked at.'),
  outcome: required(oneOf('stopped', 'would_stop', 'asked', 'redacted', 'tagged'), 'What it did.'),
  findings: required(array(words, { itemsMax: FINDINGS_MAX }), 'What it found, as `class:rule`.'),
});

export const API_CALL_RECORD = open({
  call: required(API_CALL_DETAIL, 'The call.'),
  run: required(nullable(API_RUN), 'Its run.'),
  why: required(words, 'In one sentence: what was decided, by what, and why.'),
  arguments: required(nullable(record(json())), 'Its arguments as far as they are kept.'),
  not_whole: required(
    open({
      arguments: required(wordsOrNull, 'Why the arguments are not there as a whole.'),
      result: required(wordsOrNull, 'The same of the result.'),
    }),
    'Null for what is whole.',
  ),
  decision: required(
    nullable(decisionFields.decision.shape),
    'The decision as it was recorded; null when none is on record.',
  ),
  trace: required(
    nullable(decisionFields.trace.shape),
    'The rules that matched, and what each did; null when none were recorded.',
  ),
  judgements: optional(
    TOOL_CALL_DECISION.judgements.shape,
    'What its agent has had judged before the call, if it has.',
  ),
  gates: required(array(GATE_RECORD), 'What gates found or did; empty when none said anything.'),
  approvals: required(
    array(open({ ts: required(words, 'When.'), ...APPROVAL.approval.shape.fields }), {
      itemsMax: API_RECORD_EVENTS_MAX,
    }),
    'Who was asked, and what came of it.',
  ),
  usage: optional(nullable(TURN_END.usage.shape), 'Of a turn: what the provider counted.'),
  tool_calls: optional(
    array(
      open({
        id: required(words, 'The id that the model gave it.'),
        name: required(words, 'The tool, as the model names it.'),
        call_id: required(wordsOrNull, 'The call, once it has come.'),
      }),
    ),
    'Of a turn: the calls that it asked for.',
  ),
  asked_by: optional(
    nullable(
      open({
        turn: required(words, 'The turn.'),
        id: required(words, 'The id that the model gave the call.'),
      }),
    ),
    'Of a tool call: the turn that asked for it, if it is known.',
  ),
  events: required(
    array(API_EVENT_LINE, { itemsMax: API_RECORD_EVENTS_MAX }),
    'Its events, as they were recorded.',
  ),
  has_more_events: required(boolean(), 'Whether there are more than were looked at.'),
});

const JOB_FIELDS = {
  state: required(oneOf('running', 'done', 'failed'), 'How far it is.'),
  started_at_ms: required(TIME_MS, 'When it was started.'),
  ended_at_ms: required(nullable(TIME_MS), 'When it ended.'),
  error: required(
    nullable(
      open({
        code: required(words, 'A stable code.'),
        message: required(words, 'What is wrong.'),
        fix: required(words, 'What helps.'),
      }),
    ),
    'Why it failed.',
  ),
} as const;

const LEDGER_FINDING = open({
  kind: required(words, 'What kind of finding: changed, removed, added, …'),
  level: required(oneOf('error', 'warning', 'note'), 'How much it matters.'),
  from_seq: required(nullable(integer()), 'The first event concerned.'),
  to_seq: required(nullable(integer()), 'The last one.'),
  message: required(words, 'What was found.'),
});

/** As `sub ledger verify --json` prints it. */
const VERIFY_REPORT = open({
  ok: required(boolean(), 'Whether nothing was changed, removed or added.'),
  events: required(count, 'Events that were checked.'),
  pruned: required(count, 'Those of them that were pruned.'),
  heads: required(count, 'Signed heads.'),
  signed_seq: required(integer(), 'The last event that a head covers.'),
  key_id: required(wordsOrNull, 'Who signed the last head.'),
  signatures: required(oneOf('checked', 'unchecked'), 'Whether there was a key to check with.'),
  rows: required(oneOf('counted', 'compared'), 'How the rows were checked.'),
  first: required(nullable(LEDGER_FINDING), 'The first error.'),
  findings: required(array(LEDGER_FINDING, { itemsMax: FINDINGS_MAX }), 'At most 100.'),
  findings_total: required(count, 'All of them.'),
});

export const parseVerifyReport = parserFor<ApiVerifyReport>(VERIFY_REPORT);

export const API_VERIFY_JOB = open({
  ...JOB_FIELDS,
  quick: required(boolean(), 'Whether rows are only counted.'),
  checked: required(count, 'Events that were checked so far.'),
  total: required(count, 'Events there were when it began.'),
  report: required(nullable(VERIFY_REPORT), 'What came of it.'),
});

export const API_PRUNE_JOB = open({
  ...JOB_FIELDS,
  dry_run: required(boolean(), 'Whether it only counts.'),
  steps: required(
    array(
      open({
        what: required(oneOf('all', 'previews'), 'Whole runs, or only their previews.'),
        older_than_ms: required(nullable(TIME_MS), 'Of runs whose last event is older.'),
        keep_runs: required(nullable(count), 'Of all but so many of the newest runs.'),
        runs: required(count, 'Runs that were removed, or would be.'),
        events: required(nullable(count), 'Their events; null where nothing was removed.'),
      }),
      { itemsMax: 2 },
    ),
    'What it did so far.',
  ),
});

export const API_LEDGER = open({
  ledger_id: required(words, 'Which ledger this is.'),
  file: required(wordsOrNull, 'Where it is.'),
  size_bytes: required(nullable(count), 'How large the file is, with its log.'),
  events: required(count, 'Events, pruned ones included.'),
  pruned: required(count, 'Events that were pruned, wholly or of their previews.'),
  rejected: required(count, 'Lines that were no events.'),
  runs: required(count, 'Runs.'),
  calls: required(count, 'Calls and turns.'),
  oldest_ms: required(nullable(integer()), 'The first event of the oldest run.'),
  newest_ms: required(nullable(integer()), 'The last event of the newest run.'),
  tip: required(
    open({ seq: required(SEQ, 'The last event.'), hash: required(words, 'Its hash.') }),
    'Where the chain ends.',
  ),
  head: required(
    nullable(
      open({
        n: required(count, 'How many heads there are.'),
        seq: required(SEQ, 'The last event that it covers.'),
        created_at_ms: required(TIME_MS, 'When it was signed.'),
        key_id: required(words, 'Who signed it.'),
      }),
    ),
    'The last signed head; null before the first.',
  ),
  retention: required(
    nullable(
      open({
        days: required(count, 'How long runs are kept.'),
        previews_days: required(count, 'How long previews are kept.'),
        last_at_ms: required(nullable(TIME_MS), 'When it was last applied.'),
      }),
    ),
    'What the configuration says; null where it is not known.',
  ),
  verify: required(nullable(API_VERIFY_JOB), 'The last verify since the daemon began.'),
  prune: required(nullable(API_PRUNE_JOB), 'The last prune since the daemon began.'),
});

export type ApiHistogram = Infer<typeof API_HISTOGRAM>;
export type ApiRunsActivity = Infer<typeof API_RUNS_ACTIVITY>;
export type ApiCost = Infer<typeof API_COST>;
export type ApiCallRecord = Infer<typeof API_CALL_RECORD>;
export type ApiVerifyReport = Infer<typeof VERIFY_REPORT>;
export type ApiVerifyJob = Infer<typeof API_VERIFY_JOB>;
export type ApiPruneJob = Infer<typeof API_PRUNE_JOB>;
export type ApiLedger = Infer<typeof API_LEDGER>;
