// Every field of a policy that can change, and which way its changes go. Data: to teach the diff
// a new field is to add a line.
import type { JsonValue } from '@subluminal/contracts';
import {
  ACTIONS,
  alters,
  type ChangeDirection,
  condition,
  matching,
  matchingArgs,
  none,
  onLoosens,
  presence,
  selecting,
  stopsFailures,
  stricterAlong,
  valueAt,
} from '../changes/directions.ts';
import type { Field } from '../changes/field.ts';
import {
  alternatives,
  byKey,
  exactly,
  listOf,
  nameRelation,
  objectOf,
  type Relate,
  range,
  requirements,
} from '../changes/relation.ts';
import { findRuleKind } from '../rules/index.ts';

/** From the mildest to the strictest. */
const MODES = ['observe', 'guardrails', 'control'];

/**
 * Control asks people and answers denials with their hints, where guardrails block at once: with
 * such rules, a person may now release what was simply stopped, and the other way round.
 */
const modes: ChangeDirection = (change) => {
  const { before, after, around } = change;
  const enforcing = before !== 'observe' && after !== 'observe';
  if (!enforcing || before === after) return stricterAlong(MODES)(change);
  const policies = [around.before, around.after];
  const rules = policies.flatMap((policy) => listOf(valueAt(policy, 'rules')));
  return rules.some(differsByMode) || policies.some(sectionsAsk) ? 'mixed' : 'none';
};

/** Whether a section beside the rules asks a person about anything. */
function sectionsAsk(policy: JsonValue): boolean {
  const asked = [
    ...Object.values(objectOf(valueAt(policy, 'content.outbound'))),
    ...['content.unscanned', 'taint.on_taint', 'taint.rule_of_two.mode'].map((path) => {
      return valueAt(policy, path);
    }),
  ];
  return asked.includes('ask');
}

function differsByMode(rule: JsonValue): boolean {
  if (valueAt(rule, 'enabled') !== true) return false;
  const kind = valueAt(rule, 'kind');
  const role = typeof kind === 'string' ? findRuleKind(kind)?.role : undefined;
  return role === 'asks' || (role === 'denies' && valueAt(rule, 'effect.hint') !== undefined);
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

/** The fields that rules of all kinds have. */
export const RULE_FIELDS: readonly Field[] = [
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
