// The policy workbench of the HTTP API: look at a policy, try another text, and save it.
import {
  array,
  boolean,
  closed,
  formatted,
  type Infer,
  integer,
  nullable,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import { TIME_MS } from './answers.ts';
import { endpoint, input, search } from './define-endpoint.ts';
import {
  API_POLICY_ACTIVE,
  API_POLICY_DIFF,
  API_POLICY_EXPLAINED,
  API_POLICY_LINT,
  API_POLICY_REPLAY,
  API_POLICY_SAVED,
  API_POLICY_SUGGESTED,
  API_POLICY_TESTS,
  API_REPLAY_LIMIT,
  POLICY_TEXT_LENGTH_MAX,
} from './policy-answers.ts';

/** Two texts, with room for what JSON escapes. */
const TEXTS_BYTES_MAX = 6_291_456;
const RUNS_MAX = 100;

const text = required(string({ lengthMin: 0, lengthMax: POLICY_TEXT_LENGTH_MAX }), 'The policy.');
const path = optional(
  string({ lengthMax: 4_096 }),
  'Which policy: a path of `others` of policy/active, no other; without it the first that is there.',
);
const runId = string();

const ACTIVE_QUERY = closed({
  path,
  from_ms: optional(TIME_MS, 'Count hits from this time on; the last 30 days.'),
});

const LINT_INPUT = closed({ text });

const TEST_INPUT = closed({
  text,
  tests: optional(
    string({ lengthMin: 0, lengthMax: POLICY_TEXT_LENGTH_MAX }),
    'Tests as `sub policy test` takes them; without, those beside the file.',
  ),
  path,
});

const DIFF_INPUT = closed({ text, path });

const REPLAY_INPUT = closed({
  text,
  path,
  run_ids: optional(array(runId, { itemsMin: 1, itemsMax: RUNS_MAX }), 'Only these runs.'),
  since_ms: optional(TIME_MS, 'Runs that began since; without both, the newest 100.'),
  limit: optional(
    integer({ min: 1, max: API_REPLAY_LIMIT.max }),
    'How many changed calls are listed; 500.',
  ),
  would: optional(
    boolean(),
    'Compare what enforcing policies would have done, not what happened; false.',
  ),
});

const EXPLAIN_INPUT = closed({
  text: optional(text.shape, 'The policy; without it the one of `path`.'),
  path,
  run_id: required(runId, 'The run.'),
  call_id: required(string(), 'The call.'),
});

const SUGGEST_INPUT = closed({
  path,
  run_id: optional(runId, 'Only this run.'),
  since_ms: optional(TIME_MS, 'Runs that began since; without both, the newest 100.'),
});

const SAVE_INPUT = closed({
  text,
  path,
  base_sha256: required(
    nullable(formatted('sha256')),
    'The content that was edited; null for a file that was not there. Another one is not overwritten.',
  ),
});

export type ApiPolicyActiveQuery = Infer<typeof ACTIVE_QUERY>;
export type ApiPolicyLintInput = Infer<typeof LINT_INPUT>;
export type ApiPolicyTestInput = Infer<typeof TEST_INPUT>;
export type ApiPolicyDiffInput = Infer<typeof DIFF_INPUT>;
export type ApiPolicyReplayInput = Infer<typeof REPLAY_INPUT>;
export type ApiPolicyExplainInput = Infer<typeof EXPLAIN_INPUT>;
export type ApiPolicySuggestInput = Infer<typeof SUGGEST_INPUT>;
export type ApiPolicySaveInput = Infer<typeof SAVE_INPUT>;
export type ApiPolicyActive = Infer<typeof API_POLICY_ACTIVE>;
export type ApiPolicyLint = Infer<typeof API_POLICY_LINT>;
export type ApiPolicyProblem = ApiPolicyLint['problems'][number];
export type ApiPolicyTests = Infer<typeof API_POLICY_TESTS>;
export type ApiPolicyDiff = Infer<typeof API_POLICY_DIFF>;
export type ApiPolicyReplay = Infer<typeof API_POLICY_REPLAY>;
export type ApiPolicyExplained = Infer<typeof API_POLICY_EXPLAINED>;
export type ApiPolicySuggested = Infer<typeof API_POLICY_SUGGESTED>;
export type ApiPolicySaved = Infer<typeof API_POLICY_SAVED>;

export const POLICY_ENDPOINTS = {
  policyActive: search('policy/active', API_POLICY_ACTIVE, ACTIVE_QUERY),
  policyLint: {
    ...endpoint('policy/lint', API_POLICY_LINT),
    input: input(LINT_INPUT, TEXTS_BYTES_MAX),
  },
  policyTest: {
    ...endpoint('policy/test', API_POLICY_TESTS),
    input: input(TEST_INPUT, TEXTS_BYTES_MAX),
  },
  policyDiff: {
    ...endpoint('policy/diff', API_POLICY_DIFF),
    input: input(DIFF_INPUT, TEXTS_BYTES_MAX),
  },
  policyReplay: {
    ...endpoint('policy/replay', API_POLICY_REPLAY),
    input: input(REPLAY_INPUT, TEXTS_BYTES_MAX),
  },
  policyExplain: {
    ...endpoint('policy/explain', API_POLICY_EXPLAINED),
    input: input(EXPLAIN_INPUT, TEXTS_BYTES_MAX),
  },
  policySuggest: {
    ...endpoint('policy/suggest', API_POLICY_SUGGESTED),
    input: input(SUGGEST_INPUT),
  },
  policySave: {
    ...endpoint('policy/save', API_POLICY_SAVED),
    input: input(SAVE_INPUT, TEXTS_BYTES_MAX),
  },
} as const;

export { API_REPLAY_LIMIT };
