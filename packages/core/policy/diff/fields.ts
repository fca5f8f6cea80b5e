// Every field of a policy that can change, and which way its changes go. Data: to teach the diff
// a new field is to add a line.
import type { RuleKind } from '@subluminal/contracts';
import {
  ACTIONS,
  alters,
  breakerScope,
  CALL_SCOPES,
  COUNTER_SCOPES,
  classes,
  condition,
  type Direction,
  hint,
  matching,
  matchingArgs,
  modes,
  moreLoosens,
  moreTightens,
  none,
  onLoosens,
  onlyWith,
  presence,
  selecting,
  stopsFailures,
  stricterAlong,
  trips,
} from '../changes/directions.ts';
import { nameRelation } from '../changes/names.ts';
import {
  alternatives,
  byKey,
  exactly,
  type Relate,
  range,
  requirements,
} from '../changes/relation.ts';

export interface Field {
  readonly path: string;
  /** The field in words, for "… is raised". */
  readonly words: string;
  readonly direction: Direction;
  /** For a condition: how two of them relate, for "… is narrowed". */
  readonly relate?: Relate;
}

export const DOCUMENT_FIELDS: readonly Field[] = [
  { path: 'format', words: 'the snapshot format', direction: alters },
  { path: 'policy_id', words: 'the name of the policy', direction: alters },
  { path: 'version', words: 'the version', direction: none },
  { path: 'mode', words: 'the mode', direction: modes },
  {
    path: 'defaults.decision_on_error',
    words: 'the decision on errors',
    direction: stopsFailures(stricterAlong(ACTIONS)),
  },
  {
    path: 'defaults.fail_open_read_tools',
    words: 'failing open for read-like calls',
    direction: stopsFailures(onLoosens),
  },
  { path: 'hint_delivery', words: 'the delivery of hints', direction: alters },
  {
    path: 'self_protection',
    words: 'the end of self-protection',
    direction: ({ after }) => (after === 'off' ? 'loosens' : 'tightens'),
  },
  selector('env', 'environments', alternatives),
  selector('agent_id', 'agents', alternatives),
  selector('client', 'clients', alternatives),
  selector('workload.namespace', 'namespaces', alternatives),
  selector('workload.service_account', 'service accounts', alternatives),
  selector('workload.labels', 'labels', byKey(exactly)),
  selector('workload.repo', 'repositories', alternatives),
  selector('workload.branch', 'branches', alternatives),
];

const RULE_FIELDS: readonly Field[] = [
  { path: 'enabled', words: 'the rule', direction: presence },
  choice('match.server_name', 'the choice of servers', nameRelation),
  choice('match.tool_name', 'the choice of tools', nameRelation),
  choice('match.risk_class', 'the choice of risk classes', alternatives),
  argsChoice('match.args.has_keys', 'the choice by present arguments', requirements),
  argsChoice('match.args.key_equals', 'the choice by exact arguments', byKey(exactly)),
  argsChoice('match.args.key_in', 'the choice by listed arguments', byKey(alternatives)),
  argsChoice('match.args.numeric_range', 'the choice by numeric ranges', byKey(range)),
  choice('match.time.utc_hours', 'the choice of hours', alternatives),
  { path: 'when', words: 'the condition', direction: condition, relate: exactly },
  { path: 'severity', words: 'the severity', direction: alters },
];

const REASON_FIELDS: readonly Field[] = [
  { path: 'effect.reason_code', words: 'the reason code', direction: alters },
  { path: 'effect.message', words: 'the message', direction: none },
];
const REFUSAL_FIELDS: readonly Field[] = [
  ...REASON_FIELDS,
  { path: 'effect.hint', words: 'the hint', direction: hint },
];

const BUDGET_FIELDS = fieldsOf('effect.budget', {
  scope: ['the scope', trips(stricterAlong(COUNTER_SCOPES))],
  limit_calls: ['the limit of calls', trips(moreLoosens)],
  limit_cost_units: ['the limit of cost', trips(moreLoosens)],
  cost_units_per_call: [
    'the cost of a call',
    onlyWith('effect.budget.limit_cost_units', trips(moreTightens)),
  ],
  on_exceed: ['the action', stricterAlong(ACTIONS)],
  hint_text: ['the hint text', none],
});

const RATE_FIELDS = fieldsOf('effect.rate_limit', {
  scope: ['the scope', trips(stricterAlong(COUNTER_SCOPES))],
  capacity: ['the capacity', trips(moreLoosens)],
  refill_tokens: ['the refill', trips(moreLoosens)],
  refill_period_ms: ['the refill period', trips(moreTightens)],
  cost_tokens_per_call: ['the cost of a call', trips(moreTightens)],
  on_limit: ['the action', stricterAlong(ACTIONS)],
  backoff_ms: ['the pause that is asked for', alters],
  hint_text: ['the hint text', none],
});

const BREAKER_FIELDS = fieldsOf('effect.breaker', {
  scope: ['the scope', trips(breakerScope)],
  error_threshold: ['the number of errors that trips it', trips(moreLoosens)],
  window_ms: ['the window for errors', trips(moreTightens)],
  repeat_threshold: ['the number of repeats that trips it', trips(moreLoosens)],
  repeat_window_ms: ['the window for repeats', trips(moreTightens)],
  on_trip: ['the action', stricterAlong(ACTIONS)],
  terminate_code: ['the code that ends the run', alters],
  hint_text: ['the hint text', none],
});

const DEDUPE_FIELDS = fieldsOf('effect.dedupe', {
  scope: ['the scope', trips(stricterAlong(CALL_SCOPES))],
  window_ms: ['the window', trips(moreTightens)],
  key: ['the key', alters],
  on_duplicate: ['the action', stricterAlong(ACTIONS)],
  hint_text: ['the hint text', none],
});

const APPROVAL_FIELDS = fieldsOf('effect.approval', {
  wait: ['the way of waiting', alters],
  timeout_ms: ['the time that a person has', alters],
});

const ACTION_FIELDS = fieldsOf('effect', { action: ['the action', stricterAlong(ACTIONS)] });

export const KIND_FIELDS: { readonly [K in RuleKind]: readonly Field[] } = {
  allow: [...RULE_FIELDS, ...ACTION_FIELDS, ...REASON_FIELDS],
  deny: [...RULE_FIELDS, ...ACTION_FIELDS, ...REFUSAL_FIELDS],
  budget: [...RULE_FIELDS, ...BUDGET_FIELDS, ...REFUSAL_FIELDS],
  rate_limit: [...RULE_FIELDS, ...RATE_FIELDS, ...REFUSAL_FIELDS],
  breaker: [...RULE_FIELDS, ...BREAKER_FIELDS, ...REFUSAL_FIELDS],
  dedupe: [...RULE_FIELDS, ...DEDUPE_FIELDS, ...REFUSAL_FIELDS],
  approval: [...RULE_FIELDS, ...APPROVAL_FIELDS, ...REFUSAL_FIELDS],
  tag: [...RULE_FIELDS, ...fieldsOf('effect.tag', { add_risk_class: ['the classes', classes] })],
};

function selector(name: string, words: string, relate: Relate): Field {
  return {
    path: `selectors.${name}`,
    words: `the choice of ${words}`,
    direction: selecting(relate),
    relate,
  };
}

function choice(path: string, words: string, relate: Relate): Field {
  return { path, words, direction: matching(relate), relate };
}

function argsChoice(path: string, words: string, relate: Relate): Field {
  return { path, words, direction: matchingArgs(relate), relate };
}

function fieldsOf(
  path: string,
  fields: { readonly [name: string]: readonly [string, Direction] },
): readonly Field[] {
  return Object.entries(fields).map(([name, [words, direction]]) => {
    return { path: `${path}.${name}`, words, direction };
  });
}
