// What a required field may look like, for the fix that an error proposes. Written in YAML flow
// style, so that an example can be pasted as it stands.
import { findRuleKind } from '../rules/index.ts';

type Examples = { readonly [field: string]: string };

const EXAMPLES: Examples = {
  policy_id: 'my-policy',
  version: '"1.0.0"',
  mode: 'guardrails',
  defaults: '{ decision_on_error: BLOCK }',
  decision_on_error: 'BLOCK',
  selectors: '{}',
  rules: '[]',
  rule_id: 'deny-shell',
  kind: 'deny',
  enabled: 'true',
  match: '{ tool_name: { glob: ["shell_*"] } }',
  severity: 'warn',
  from: '"09:00"',
  to: '"18:00"',
  wait: 'hold',
  trust: 'untrusted',
  adds: '[private_data]',
  args: '[to]',
  rule: 'aws-access-key',
  server: 'github',
  tool: 'get_file',
  fingerprint: '"…"',
  expires: '"2030-01-31T00:00:00Z"',
};

/**
 * An example for a field; what an effect needs depends on the kind of its rule. Two fields may share
 * a name: of listed values, the example is one.
 */
export function exampleOf(
  field: string,
  kind: string | undefined,
  choices: readonly string[],
): string | undefined {
  const example = byName(field, kind ?? '');
  if (choices.length === 0 || (example !== undefined && choices.includes(example))) return example;
  return choices[0];
}

function byName(field: string, kind: string): string | undefined {
  const examples = findRuleKind(kind)?.examples ?? {};
  if (field !== 'effect') return own(examples, field) ?? own(EXAMPLES, field);
  const name = own(examples, kind) === undefined ? 'action' : kind;
  const inner = own(examples, name);
  return inner === undefined ? undefined : `{ ${name}: ${inner} }`;
}

function own(table: Examples, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
