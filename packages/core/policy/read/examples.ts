// What a required field may look like, for the fix that an error proposes. Written in YAML flow
// style, so that an example can be pasted as it stands.

const EXAMPLES: { readonly [field: string]: string } = {
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
  budget: '{ scope: run, limit_calls: 100, on_exceed: BLOCK }',
  on_exceed: 'BLOCK',
  rate_limit:
    '{ scope: run, capacity: 10, refill_tokens: 10, refill_period_ms: 60000, on_limit: BLOCK }',
  capacity: '10',
  refill_tokens: '10',
  refill_period_ms: '60000',
  on_limit: 'BLOCK',
  breaker: '{ scope: run, error_threshold: 5, window_ms: 60000, on_trip: BLOCK }',
  on_trip: 'BLOCK',
  dedupe: '{ scope: run, window_ms: 60000, key: args_hash, on_duplicate: BLOCK }',
  window_ms: '60000',
  key: 'args_hash',
  on_duplicate: 'BLOCK',
  approval: '{ wait: hold }',
  wait: 'hold',
  tag: '{ add_risk_class: [write_like] }',
  add_risk_class: '[write_like]',
  scope: 'run',
  trust: 'untrusted',
  adds: '[private_data]',
  args: '[to]',
  rule: 'aws-access-key',
  server: 'github',
  tool: 'get_file',
  fingerprint: '"…"',
  expires: '"2030-01-31T00:00:00Z"',
};

const ACTIONS: { readonly [kind: string]: string } = { allow: 'ALLOW', deny: 'BLOCK' };

/**
 * An example for a field; what an effect needs depends on the kind of its rule. Two fields may share
 * a name: of listed values, the example is one.
 */
export function exampleOf(
  field: string,
  kind: string | undefined,
  choices: readonly string[],
): string | undefined {
  const example = byName(field, kind);
  if (choices.length === 0 || (example !== undefined && choices.includes(example))) return example;
  return choices[0];
}

function byName(field: string, kind: string | undefined): string | undefined {
  const action = own(ACTIONS, kind ?? '');
  if (field === 'action') return action;
  if (field !== 'effect') return own(EXAMPLES, field);
  if (action !== undefined) return `{ action: ${action} }`;
  const inner = kind === undefined ? undefined : own(EXAMPLES, kind);
  return inner === undefined ? undefined : `{ ${kind}: ${inner} }`;
}

function own(table: { readonly [name: string]: string }, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
