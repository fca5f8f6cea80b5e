// What the policy workbench of the HTTP API answers, as shapes.
import { ACTION, DECISION, MODE, POLICY_REF, PROFILE, SEVERITY } from '../decision/decision.ts';
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
} from '../shape/shape.ts';
import { TIME_MS } from './answers.ts';

/** The longest policy, and the longest file of tests, that is taken or given as text. */
export const POLICY_TEXT_LENGTH_MAX = 1_048_576;
const PROBLEMS_MAX = 300;
const FILES_MAX = 1_000;
const RULES_MAX = 1_000;
const TESTS_MAX = 10_000;
/** How many calls whose decision changes a replay lists. */
export const API_REPLAY_LIMIT = { max: 5_000, fallback: 500 } as const;

const count = integer({ min: 0 });
const words = string({ lengthMin: 0 });
const wordsOrNull = nullable(words);
const policyText = string({ lengthMin: 0, lengthMax: POLICY_TEXT_LENGTH_MAX });

const cut = required(
  nullable(oneOf('events', 'time')),
  'Whether older runs were left out, and for want of what.',
);

const POLICY_ROLE = oneOf('named', 'user', 'trusted', 'untrusted');

const POLICY_PROBLEM = open({
  line: required(integer({ min: 1 }), 'The line, from 1.'),
  column: required(integer({ min: 1 }), 'The column, from 1.'),
  severity: required(
    oneOf('error', 'warning', 'note'),
    'An error keeps the policy from being used; the others are advice.',
  ),
  code: required(words, 'A stable code; docs/reference/errors.md has them all.'),
  path: required(words, 'Where in the policy, like `rules[3].match`; empty for the whole.'),
  message: required(words, 'What is wrong.'),
  fix: required(words, 'What helps.'),
});
const problems = required(array(POLICY_PROBLEM, { itemsMax: PROBLEMS_MAX }), 'In their order.');

const POLICY_FILE = open({
  path: required(words, 'Its path; `path` of the requests takes it.'),
  role: required(
    POLICY_ROLE,
    '`named` by the configuration, the `user`’s, or a project’s: `trusted`, or `untrusted`, which only tightens.',
  ),
  exists: required(boolean(), 'Whether there is a file.'),
});

const POLICY_RULE = open({
  id: required(words, 'The rule.'),
  kind: required(words, 'What kind of rule it is.'),
  effect: required(words, 'What it does, in a word or two.'),
  severity: required(SEVERITY, 'How much it matters.'),
  enabled: required(boolean(), 'Whether it decides at all.'),
  line: required(nullable(integer({ min: 1 })), 'Where it stands; null in a compiled policy.'),
  hits: required(count, 'Calls that it decided.'),
  would_hits: required(count, 'Calls that it would have decided if it were enforced.'),
  last_hit_ms: required(nullable(TIME_MS), 'The last of both; null where there is none.'),
});

const TEST_TEXT = open({
  path: required(words, 'The file of tests beside the policy.'),
  text: required(policyText, 'Its content.'),
});

export const API_POLICY_ACTIVE = open({
  path: required(wordsOrNull, 'The file; null where there is no place for a policy.'),
  role: required(nullable(POLICY_ROLE), 'What it is; null without a file.'),
  trusted: required(boolean(), 'Whether it holds as it stands, and not only to tighten another.'),
  editable: required(boolean(), 'False for a compiled policy, and for one that is too large.'),
  text: required(nullable(policyText), 'Its content; null where there is none to edit.'),
  sha256: required(
    nullable(formatted('sha256')),
    'Of its content, for `base_sha256` of a save; null where there is no file.',
  ),
  policy_id: required(wordsOrNull, 'Its name; null while it cannot be read.'),
  version: required(wordsOrNull, 'Its version.'),
  mode: required(nullable(MODE), 'How far it goes.'),
  policy_hash: required(
    nullable(formatted('sha256')),
    'Of its compiled form, as runs have it on record where no other policy tightens it.',
  ),
  rules: required(array(POLICY_RULE, { itemsMax: RULES_MAX }), 'In their order.'),
  hits_from_ms: required(TIME_MS, 'Since when hits are counted.'),
  problems,
  tests: required(nullable(TEST_TEXT), 'Its tests, where a file of them stands beside it.'),
  sources: required(
    array(POLICY_FILE, { itemsMax: 2 }),
    'What decides outside of projects: the first decides, a second one only tightens.',
  ),
  others: required(array(POLICY_FILE, { itemsMax: FILES_MAX }), 'All policies that `path` takes.'),
  reload: required(
    oneOf('any', 'tighten', 'off'),
    'Which changes running agents take up: `policy.reload`.',
  ),
});

export const API_POLICY_LINT = open({
  ok: required(boolean(), 'Whether it has no errors.'),
  rules: required(nullable(count), 'How many rules it has; null while it cannot be read.'),
  problems,
});

const POLICY_TEST = open({
  name: required(words, 'The test.'),
  line: required(integer({ min: 1 }), 'Where it stands.'),
  passed: required(boolean(), 'Whether all was as expected.'),
  faults: required(array(words), 'What was expected and did not come.'),
  decision: required(words, 'What was decided; a call that a person must approve is `ASK`.'),
  rule: required(wordsOrNull, 'The rule that decided.'),
});

export const API_POLICY_TESTS = open({
  file: required(wordsOrNull, 'The file of tests that was run; null where they were given.'),
  tests: required(array(POLICY_TEST, { itemsMax: TESTS_MAX }), 'In their order.'),
  summary: required(
    open({ passed: required(count, 'How many passed.'), failed: required(count, 'And not.') }),
    'All of them.',
  ),
});

const POLICY_CHANGE = open({
  path: required(words, 'Where, like `rules[no-push].effect.budget.limit_calls`.'),
  rule_id: required(wordsOrNull, 'The rule it belongs to; null for the policy as a whole.'),
  change: required(oneOf('added', 'removed', 'changed', 'moved'), 'What was done.'),
  effect: required(
    oneOf('loosens', 'tightens', 'mixed', 'alters', 'none'),
    'What it does to the calls that pass.',
  ),
  severity: required(SEVERITY, 'Critical: a call that was stopped may now pass.'),
  summary: required(words, 'The change in a few words.'),
  before: required(json(), 'The old value; null when there was none.'),
  after: required(json(), 'The new value.'),
});

export const API_POLICY_DIFF = open({
  path: required(wordsOrNull, 'The file that it is compared with; null where there is none.'),
  same: required(boolean(), 'Whether nothing differs that a decision depends on.'),
  changes: required(array(POLICY_CHANGE), 'In their order.'),
  summary: required(
    open({
      critical: required(count, 'Changes that may let a stopped call pass.'),
      warn: required(count, 'Changes that cannot be judged.'),
      info: required(count, 'The others.'),
      loosens: required(count, 'Changes that loosen.'),
      mixed: required(count, 'Changes that do both.'),
      tightens: required(count, 'Changes that tighten.'),
    }),
    'All of them.',
  ),
});

const VERDICT = oneOf('same', 'stricter', 'looser', 'different_rule', 'undetermined', 'unrecorded');
const RECORDED = {
  action: required(ACTION, 'What was decided.'),
  rule_id: required(wordsOrNull, 'The rule that decided.'),
} as const;
const ARGS_KNOWLEDGE = required(
  oneOf('known', 'unknown', 'uninspected'),
  'Whether the ledger has the arguments whole and unredacted.',
);

const REPLAYED_CALL = open({
  run_id: required(words, 'The run.'),
  call_id: required(words, 'The call.'),
  seq: required(nullable(count), 'Its place among the calls of its shim.'),
  server_name: required(words, 'The server.'),
  tool_name: required(words, 'The tool.'),
  args: ARGS_KNOWLEDGE,
  recorded: required(nullable(open(RECORDED)), 'What was decided then.'),
  replayed: required(
    nullable(open({ ...RECORDED, reason_code: required(words, 'A stable reason.') })),
    'What this policy decides; null where it cannot be known.',
  ),
  verdict: required(VERDICT, 'How the two compare.'),
});

export const API_POLICY_REPLAY = open({
  policy: required(POLICY_REF, 'The policy that was tried.'),
  calls: required(
    array(REPLAYED_CALL, { itemsMax: API_REPLAY_LIMIT.max }),
    'Calls that it treats otherwise than they were: all verdicts but `same` and `unrecorded`. The newest run first, its calls in their order.',
  ),
  calls_left_out: required(count, 'How many more of them there are.'),
  summary: required(
    open({
      calls: required(count, 'Calls that were decided again.'),
      runs: required(count, 'Their runs.'),
      verdicts: required(record(count), 'Calls by verdict.'),
      rules: required(
        array(
          open({
            rule_id: required(words, 'The rule.'),
            recorded: required(count, 'Calls that it decided then.'),
            replayed: required(count, 'Calls that it decides now.'),
          }),
        ),
        'By name.',
      ),
    }),
    'Over all runs.',
  ),
  notes: required(record(count), 'What was missing, out of order, or too much.'),
  not_evaluated: required(array(words), 'Sections that a replay does not evaluate.'),
  pruned: required(count, 'Events that were pruned, so that counters may stand too low.'),
  cut,
});

const UNMET = open({
  part: required(words, 'Which part of the rule.'),
  conditions: optional(
    array(
      open({
        expression: required(words, 'Part of `when`.'),
        gave: required(nullable(boolean()), 'What it gave; null where it failed.'),
        values: required(
          record(wordsOrNull),
          'What it saw, by name; null where a value is missing.',
        ),
      }),
    ),
    'With `when`: its parts that were not as they should be.',
  ),
});

const EXPLAINED_RULE = open({
  rule_id: required(words, 'The rule.'),
  kind: required(words, 'Its kind.'),
  severity: required(SEVERITY, 'How much it matters.'),
  outcome: required(words, 'What it had to do with the decision.'),
  why: required(words, 'In words.'),
  tally: required(
    nullable(open({ count: required(count, 'It stands at.'), limit: required(count, 'Its end.') })),
    'Its counter; null without one.',
  ),
  unmet: optional(UNMET, 'With `no_match`: the part that the call did not fit.'),
});

const EXPLAINED_GATES = open({
  stage: required(oneOf('surface', 'content'), 'Before the rules, or behind them.'),
  gates: required(array(words), 'The gates in force there.'),
  outcome: required(words, 'What they did.'),
  rule_id: required(wordsOrNull, 'The gate that acted.'),
  findings: required(array(words), 'As `class:rule`; never the content itself.'),
  why: required(words, 'In words.'),
});

export const API_POLICY_EXPLAINED = open({
  run_id: required(words, 'The run.'),
  call_id: required(words, 'The call.'),
  at: required(words, 'When it was made.'),
  args: ARGS_KNOWLEDGE,
  calls_before: required(count, 'Calls of its run that were counted before it.'),
  recorded: required(nullable(open(RECORDED)), 'What was decided then.'),
  verdict: required(VERDICT, 'How the two compare.'),
  decision: required(
    nullable(DECISION),
    'What this policy decides; null where it cannot be known.',
  ),
  policy: required(POLICY_REF, 'The policy.'),
  mode: required(MODE, 'How far it goes.'),
  profile: required(PROFILE, 'The profile.'),
  selected: required(boolean(), 'Whether the policy is for this agent.'),
  selector: required(words, 'And if not, why.'),
  risk_class: required(array(words), 'The risk classes of the call.'),
  rules: required(array(EXPLAINED_RULE, { itemsMax: 2 * RULES_MAX }), 'Every rule, in order.'),
  gates: required(array(EXPLAINED_GATES), 'The gates beside the rules.'),
  call: required(
    open({
      server_name: required(words, 'The server.'),
      tool_name: required(words, 'The tool.'),
      args_hash: required(formatted('sha256'), 'The hash of the arguments.'),
      args: required(nullable(record(json())), 'Without secrets; null where they are not known.'),
    }),
    'The call.',
  ),
  not_evaluated: required(array(words), 'Sections that decide only while a run goes on.'),
});

export const API_POLICY_SUGGESTED = open({
  calls: required(count, 'How many calls it was made from.'),
  policy: required(policyText, 'A policy to review.'),
  pruned: required(count, 'Events that were pruned and taught nothing.'),
  cut,
});

export const API_POLICY_SAVED = open({
  path: required(words, 'The file.'),
  sha256: required(formatted('sha256'), 'Of its content now: the next `base_sha256`.'),
  created: required(boolean(), 'Whether there was none before.'),
  changed: required(boolean(), 'False when it had this content already.'),
  backup: required(wordsOrNull, 'Where what stood there before is kept.'),
  trusted: required(boolean(), 'Whether it holds as it stands.'),
  reload: required(oneOf('any', 'tighten', 'off'), 'The setting `policy.reload`.'),
  applies: required(
    oneOf('now', 'next_start'),
    'When agents that run now are decided by it; those that start later always are.',
  ),
  loosens: required(wordsOrNull, 'The first change that may let more pass; null without one.'),
  notes: required(array(words), 'What a person should know; whole sentences.'),
});
