// Every field of a policy that can change, and which way its changes go. Data: to teach the diff
// a new field is to add a line.
import type { JsonValue } from '@subluminal/contracts';
import {
  action,
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
import { type Field, fieldsOf } from '../changes/field.ts';
import {
  alternatives,
  anyArgRelation,
  byKey,
  exactly,
  exclusions,
  hoursRelation,
  listOf,
  nameRelation,
  objectOf,
  outsideHours,
  type Relate,
  range,
  requirements,
  subjectRelation,
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
    ...['content.unscanned', 'taint.on_taint', 'taint.rule_of_two.mode', 'commands.opaque'].map(
      (path) => {
        return valueAt(policy, path);
      },
    ),
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
  ...fieldsOf('defaults', {
    decision_on_error: ['the decision on errors', stopsFailures(action)],
    fail_open_read_tools: ['failing open for read-like calls', stopsFailures(onLoosens)],
  }),
  { path: 'hint_delivery', words: 'the delivery of hints', direction: alters },
  {
    path: 'commands.opaque',
    words: 'the treatment of commands that are not understood',
    // Without rules about commands, none of them is looked at.
    direction: ({ before = 'allow', after = 'allow', ...change }) =>
      stricterAlong(['allow', 'ask', 'block'])({ ...change, before, after }),
  },
  {
    path: 'self_protection',
    words: 'the end of self-protection',
    direction: ({ after }) => (after === 'off' ? 'loosens' : 'tightens'),
  },
  ...related('selectors', selecting, {
    env: ['the choice of environments', alternatives],
    agent_id: ['the choice of agents', alternatives],
    client: ['the choice of clients', alternatives],
    'workload.namespace': ['the choice of namespaces', alternatives],
    'workload.service_account': ['the choice of service accounts', alternatives],
    'workload.labels': ['the choice of labels', byKey(exactly)],
    'workload.repo': ['the choice of repositories', alternatives],
    'workload.branch': ['the choice of branches', alternatives],
  }),
];

/** The fields that rules of all kinds have. */
export const RULE_FIELDS: readonly Field[] = [
  { path: 'enabled', words: 'the rule', direction: presence },
  ...related('match', matching, {
    subjects: ['the choice of tools, resources, prompts and turns', subjectRelation],
    server_name: ['the choice of servers', nameRelation],
    tool_name: ['the choice of tools', nameRelation],
    provider: ['the choice of providers', nameRelation],
    model: ['the choice of models', nameRelation],
    risk_class: ['the choice of risk classes', alternatives],
    'time.utc_hours': ['the choice of hours', alternatives],
    'time.hours': ['the hours', hoursRelation],
    'time.not_hours': ['the hours left out', outsideHours],
  }),
  ...related('match.args', matchingArgs, {
    has_keys: ['the choice by present arguments', requirements],
    key_equals: ['the choice by exact arguments', byKey(exactly)],
    key_in: ['the choice by listed arguments', byKey(alternatives)],
    numeric_range: ['the choice by numeric ranges', byKey(range)],
    path_under: ['the choice by folders', byKey(alternatives)],
    not_path_under: ['the choice by folders left out', byKey(exclusions)],
    path_matches: ['the choice by paths', byKey(alternatives)],
  }),
  ...related('match', matchingArgs, { any_arg: ['the choice by any argument', anyArgRelation] }),
  ...related('match.command', matchingArgs, {
    program: ['the choice by programs', alternatives],
    reads: ['the choice by files that are read', alternatives],
    writes: ['the choice by files that are written', alternatives],
    not_writes_under: ['the choice by folders that are not written', exclusions],
    hosts: ['the choice by hosts', alternatives],
    args_under: ['the choice by folders of a command', alternatives],
    not_args_under: ['the choice by folders outside of a command', exclusions],
    opaque: ['the choice by what is not understood', exactly],
  }),
  { path: 'when', words: 'the condition', direction: condition, relate: exactly },
  { path: 'severity', words: 'the severity', direction: alters },
];

/** Conditions, whose direction follows from how the old and the new one relate. */
function related(
  path: string,
  direction: (relate: Relate) => ChangeDirection,
  fields: { readonly [name: string]: readonly [string, Relate] },
): readonly Field[] {
  return Object.entries(fields).map(([name, [words, relate]]) => {
    return { path: `${path}.${name}`, words, direction: direction(relate), relate };
  });
}
