// Contract B: a policy as written (bundle) and as compiled (snapshot).
import { CONTENT_SECTION } from './bundle-content.ts';
import { APPROVAL, duration, names } from './bundle-parts.ts';
import { TAINT_SECTION } from './bundle-taint.ts';
import { HINT_KIND, MODE, SEVERITY } from './decision/decision.ts';
import { HOURS } from './shape/hours.ts';
import {
  array,
  boolean,
  closed,
  defaulted,
  formatted,
  type Infer,
  integer,
  number,
  oneOf,
  optional,
  record,
  required,
  type Shape,
  scalar,
  string,
  variant,
} from './shape/shape.ts';

const COUNT_MAX = 1_000_000_000;
const USD_MAX = 1_000_000;
/** Windows remember one time stamp per counted call, so the count is bounded. */
const THRESHOLD_MAX = 1_000;

const SCOPE = oneOf('run', 'tool', 'server_tool');
const hintText = optional(string({ lengthMax: 4_096 }), 'What the agent is told to do instead.');

const TEXTS = {
  glob: optional(names, 'Globs; `*` matches any characters, `?` one.'),
  regex: optional(names, 'RE2 expressions, searched anywhere unless anchored.'),
  ignore_case: optional(boolean(), 'Since 0.2.0: globs and regexes match in any case; false.'),
};

const NAME_MATCH = closed(TEXTS);

const RANGE = closed({
  min: optional(number(), 'The least value, included.'),
  max: optional(number(), 'The greatest value, included.'),
});

const ARGS_MATCH = closed({
  has_keys: optional(names, 'Every one of these keys is present.'),
  key_equals: optional(record(scalar()), 'Each key has exactly this value.'),
  key_in: optional(record(array(scalar(), { itemsMin: 1 })), 'Each key has one of these values.'),
  numeric_range: optional(record(RANGE), 'Each key is a number in this range.'),
  path_under: optional(
    record(names),
    'Since 0.2.0: what stands under these keys (globs, at any depth) is a path in one of these folders.',
  ),
  not_path_under: optional(
    record(names),
    'Since 0.2.0: it is a path outside of all these folders, or there is none.',
  ),
  path_matches: optional(
    record(names),
    'Since 0.2.0: it is a path that one of these globs matches; `*` stays within a name, `**` does not.',
  ),
});

const ANY_ARG_MATCH = closed({
  ...TEXTS,
  path_under: optional(names, 'A text is or holds a path in one of these folders.'),
  not_path_under: optional(names, 'A text is or holds a path outside of all these folders.'),
  path_matches: optional(names, 'A text is or holds a path that one of these globs matches.'),
});

const COMMAND_MATCH = closed({
  program: optional(
    names,
    'Globs of programs: by name (`rm`), or by name and arguments (`git push*`).',
  ),
  reads: optional(names, 'Globs of files that are read, as in `path_matches`.'),
  writes: optional(names, 'Globs of files that are written or removed, as in `path_matches`.'),
  not_writes_under: optional(names, 'A file outside of all these folders is written or removed.'),
  hosts: optional(names, 'Globs of hosts that are reached.'),
  args_under: optional(names, 'Folders, as in `path_under`: the paths that the command names.'),
  not_args_under: optional(names, 'The command names a path outside of all these folders.'),
  opaque: optional(boolean(), 'Whether some part of the command cannot be understood.'),
});

const TIME_MATCH = closed({
  utc_hours: optional(
    array(integer({ min: 0, max: 23 }), { itemsMin: 1, itemsMax: 24 }),
    'The hours of the day in UTC.',
  ),
  hours: optional(HOURS, 'Since 0.2.0: within this window.'),
  not_hours: optional(HOURS, 'Since 0.2.0: outside of this window.'),
});

export const MATCH = closed({
  subjects: optional(
    array(oneOf('tool', 'resource', 'prompt', 'turn'), { itemsMin: 1, itemsMax: 3 }),
    'Since 0.2.0: calls of tools, reads of resources, prompts; or `turn` alone, calls of models; `[tool]`.',
  ),
  provider: optional(NAME_MATCH, 'Since 0.2.0: of a turn, which providers.'),
  model: optional(NAME_MATCH, 'Since 0.2.0: of a turn, which models.'),
  server_name: optional(NAME_MATCH, 'Which servers.'),
  tool_name: optional(NAME_MATCH, 'Which tools.'),
  risk_class: optional(names, 'The call carries one of these classes.'),
  args: optional(ARGS_MATCH, 'Predicates over the arguments.'),
  any_arg: optional(
    ANY_ARG_MATCH,
    'Since 0.2.0: some text anywhere in the arguments, keys included, matches one of these.',
  ),
  command: optional(
    COMMAND_MATCH,
    'Since 0.2.0: a shell command by what it would do. An allow needs all of it to match, others a part.',
  ),
  time: optional(TIME_MATCH, 'When.'),
});

const SUGGEST = closed({
  clamp: optional(record(RANGE), 'Move a number into a range.'),
  drop: optional(names, 'Leave these keys out.'),
  one_of: optional(
    record(array(scalar(), { itemsMin: 1 })),
    'Replace a value that is not listed by the first that is.',
  ),
});

export const HINT_RECIPE = closed({
  hint_text: hintText,
  retry_advice: optional(string({ lengthMax: 1_024 }), 'When and how to try again.'),
  hint_kind: optional(HINT_KIND, 'What kind of correction this is.'),
  suggest: optional(SUGGEST, 'How to compute corrected arguments.'),
});

const hint = optional(HINT_RECIPE, 'Since 0.2.0: the hint, in full.');
const reason = {
  reason_code: optional(string({ lengthMax: 128 }), 'A stable reason; each kind has a default.'),
  message: optional(string({ lengthMax: 4_096 }), 'The reason for a person.'),
};

const ALLOW_EFFECT = closed({ action: required(oneOf('ALLOW'), 'Lets the call pass.'), ...reason });

const DENY_EFFECT = closed({
  action: required(oneOf('BLOCK'), 'Stops the call.'),
  ...reason,
  hint,
});

const BUDGET = closed({
  scope: required(SCOPE, 'What shares one counter.'),
  limit_calls: optional(integer({ min: 0, max: COUNT_MAX }), 'At most this many calls.'),
  limit_cost_units: optional(integer({ min: 0, max: COUNT_MAX }), 'At most this much cost.'),
  cost_units_per_call: optional(integer({ min: 0, max: COUNT_MAX }), 'The cost of one call; 1.'),
  limit_usd: optional(
    number({ min: 0, max: USD_MAX }),
    'Since 0.2.0: of turns, at most this many dollars.',
  ),
  on_exceed: required(oneOf('BLOCK', 'REJECT_WITH_HINT', 'TERMINATE_RUN'), 'What happens then.'),
  hint_text: hintText,
});

const RATE_LIMIT = closed({
  scope: required(SCOPE, 'What shares one bucket.'),
  capacity: required(integer({ min: 1, max: COUNT_MAX }), 'The most tokens the bucket holds.'),
  refill_tokens: required(integer({ min: 1, max: COUNT_MAX }), 'Tokens added each period.'),
  refill_period_ms: required(duration, 'The length of a period.'),
  cost_tokens_per_call: optional(integer({ min: 1, max: COUNT_MAX }), 'Tokens of one call; 1.'),
  on_limit: required(oneOf('THROTTLE', 'BLOCK', 'REJECT_WITH_HINT'), 'What happens then.'),
  backoff_ms: optional(duration, 'With THROTTLE (required there): how long to wait.'),
  hint_text: hintText,
});

const BREAKER = closed({
  scope: required(SCOPE, 'What shares one window.'),
  error_threshold: optional(integer({ min: 1, max: THRESHOLD_MAX }), 'Errors that trip it.'),
  window_ms: optional(duration, 'The window those errors fall into.'),
  repeat_threshold: optional(
    integer({ min: 2, max: THRESHOLD_MAX }),
    'The identical call that trips it, counting from the first.',
  ),
  repeat_window_ms: optional(duration, 'The window those repeats fall into.'),
  on_trip: required(oneOf('TERMINATE_RUN', 'BLOCK', 'REJECT_WITH_HINT'), 'What happens then.'),
  terminate_code: optional(string({ lengthMax: 128 }), 'With TERMINATE_RUN: a stable code.'),
  hint_text: hintText,
});

const DEDUPE = closed({
  scope: required(SCOPE, 'What counts as the same call.'),
  window_ms: required(duration, 'How long a call is remembered.'),
  key: required(oneOf('args_hash'), 'What is compared.'),
  on_duplicate: required(oneOf('BLOCK', 'REJECT_WITH_HINT'), 'What happens then.'),
  hint_text: hintText,
});

const TAG = closed({ add_risk_class: required(names, 'The classes to add.') });

function ruleOf<const K extends string, const E extends Shape>(kind: K, effect: E) {
  return closed({
    rule_id: required(string({ lengthMax: 256 }), 'Unique within the policy.'),
    kind: required(oneOf(kind), 'What the rule does.'),
    enabled: defaulted(boolean(), true, 'Whether it is in force; true.'),
    match: required(MATCH, 'Which calls; every given field must match.'),
    when: optional(
      string({ lengthMax: 8_192 }),
      'Since 0.2.0: a CEL condition on top of the match.',
    ),
    effect: required(effect, 'What it does to them.'),
    severity: defaulted(SEVERITY, 'warn', 'How much a decision by it matters; `warn`.'),
    description: optional(string({ lengthMax: 4_096 }), 'For people.'),
  });
}

const refusal = { ...reason, hint };

/** The rule kinds, one line each; what a kind does is a folder of `core/policy/rules`. */
export const RULE = variant('kind', {
  allow: ruleOf('allow', ALLOW_EFFECT),
  deny: ruleOf('deny', DENY_EFFECT),
  budget: ruleOf('budget', closed({ budget: required(BUDGET, 'The budget.'), ...refusal })),
  rate_limit: ruleOf(
    'rate_limit',
    closed({ rate_limit: required(RATE_LIMIT, 'The token bucket.'), ...refusal }),
  ),
  breaker: ruleOf(
    'breaker',
    closed({ breaker: required(BREAKER, 'The circuit breaker.'), ...refusal }),
  ),
  dedupe: ruleOf('dedupe', closed({ dedupe: required(DEDUPE, 'The window.'), ...refusal })),
  tag: ruleOf('tag', closed({ tag: required(TAG, 'The classes.') })),
  approval: ruleOf(
    'approval',
    closed({ approval: required(APPROVAL, 'How a person is asked.'), ...refusal }),
  ),
});

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- They are the keys of the cases.
export const RULE_KINDS = Object.keys(RULE.cases) as readonly (keyof typeof RULE.cases)[];

const SELECTORS = closed({
  env: optional(names, 'Environments.'),
  agent_id: optional(names, 'Agents.'),
  client: optional(names, 'Clients.'),
  workload: optional(
    closed({
      namespace: optional(names, 'Kubernetes namespaces.'),
      service_account: optional(names, 'Kubernetes service accounts.'),
      labels: optional(
        record(string({ lengthMin: 0, lengthMax: 4_096 })),
        'Labels, each with exactly this value.',
      ),
      repo: optional(names, 'Repositories.'),
      branch: optional(names, 'Branches.'),
    }),
    'What the agent runs in.',
  ),
});

const DEFAULTS = closed({
  decision_on_error: required(
    oneOf('ALLOW', 'BLOCK'),
    'What happens when a rule fails to evaluate.',
  ),
  fail_open_read_tools: optional(boolean(), 'Let read-like calls pass even then; false.'),
});

const COMMANDS_SECTION = closed({
  opaque: optional(
    oneOf('ask', 'block', 'allow'),
    'What happens to a command that cannot be understood; `ask`.',
  ),
});

export const BUNDLE = closed({
  policy_id: required(string({ lengthMax: 256 }), 'A stable identifier.'),
  version: required(string({ lengthMax: 128 }), 'A semantic or time version.'),
  mode: required(MODE, 'How far the policy goes.'),
  defaults: defaulted(
    DEFAULTS,
    { decision_on_error: 'BLOCK' },
    'What holds where no rule speaks; errors block.',
  ),
  selectors: defaulted(SELECTORS, {}, 'Whom the policy is for; omitted fields match all.'),
  rules: required(array(RULE, { itemsMax: 1_000 }), 'The rules, in order.'),
  content: optional(CONTENT_SECTION, 'Since 0.2.0: what may travel; absent, nothing is scanned.'),
  taint: optional(
    TAINT_SECTION,
    'Since 0.2.0: what content from outside may reach; absent, nothing is followed.',
  ),
  commands: optional(
    COMMANDS_SECTION,
    'Since 0.2.0: how shell commands are treated where a rule has `match.command`.',
  ),
  self_protection: optional(
    oneOf('on', 'off'),
    'Since 0.2.0: whether calls may name what governs them, such as the policy and SUB_HOME; on, they may not.',
  ),
  hint_delivery: optional(
    oneOf('error', 'tool_result'),
    'Since 0.2.0: refuse by a JSON-RPC error, or by an `isError` result that the model sees.',
  ),
  description: optional(string({ lengthMax: 4_096 }), 'For people.'),
  owner: optional(string({ lengthMax: 256 }), 'Who answers for it.'),
  created_at: optional(formatted('rfc3339'), 'When it was written.'),
});

export type Bundle = Infer<typeof BUNDLE>;
export type Rule = Infer<typeof RULE>;
export type RuleKindName = Rule['kind'];
export type RuleOf<K extends RuleKindName> = Extract<Rule, { readonly kind: K }>;
export type Match = Infer<typeof MATCH>;
export type NameMatch = Infer<typeof NAME_MATCH>;
export type ArgsMatch = Infer<typeof ARGS_MATCH>;
export type AnyArgMatch = Infer<typeof ANY_ARG_MATCH>;
export type CommandMatch = Infer<typeof COMMAND_MATCH>;
export type Selectors = Infer<typeof SELECTORS>;
export type Scope = Infer<typeof SCOPE>;
export type HintRecipe = Infer<typeof HINT_RECIPE>;
export type Suggest = Infer<typeof SUGGEST>;
