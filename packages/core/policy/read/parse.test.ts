import { BUNDLE, CLIENT, check, ENV, type Shape } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { readSource } from '../../source/read-source.ts';
import { valueOf } from '../../source/tree.ts';
import { bundleText, EFFECTS, NO_CHECKS, ruleText, sampleRule } from '../testing/sample-bundle.ts';
import { exampleOf } from './examples.ts';
import { parseBundle } from './parse.ts';

function parse(text: string) {
  return parseBundle({ file: 'p.yaml', text }, { checks: NO_CHECKS });
}

/** Each problem as `line:column path: message fix`. */
function problems(text: string): readonly string[] {
  return parse(text).problems.map(({ position, path, message, fix }) => {
    return `${position.line}:${position.column} ${path}: ${message} ${fix}`;
  });
}

const GOOD = bundleText(sampleRule('deny', { match: '{ tool_name: { glob: [shell] } }' }));

test('the parser reads a bundle', () => {
  verifies('IP-2.1', 'IP-2.3', 'IP-2.4');
  expect(parse(GOOD)).toMatchObject({
    ok: true,
    problems: [],
    bundle: {
      policy_id: 'sample',
      version: '1',
      mode: 'control',
      defaults: { decision_on_error: 'BLOCK' },
      selectors: {},
      rules: [{ rule_id: 'deny', match: { tool_name: { glob: ['shell'] } } }],
    },
  });
});

test.each([
  'allow',
  'deny',
  'budget',
  'rate_limit',
  'breaker',
  'dedupe',
  'tag',
  'approval',
] as const)('the parser reads a rule of the kind %s', (kind) => {
  verifies('IP-2.3');
  expect(parse(bundleText(sampleRule(kind)))).toMatchObject({
    ok: true,
    bundle: { rules: [{ kind }] },
  });
});

test('the parser refuses the effect of one kind in a rule of another', () => {
  verifies('IP-2.5');
  for (const [kind, effect] of Object.entries(EFFECTS)) {
    for (const other of Object.keys(EFFECTS)) {
      const { ok, problems: found } = parse(bundleText(ruleText({ kind: other, effect })));
      const wrong = found.filter(({ path }) => path.startsWith('rules[0].effect'));
      expect([kind, other, ok, wrong.length > 0]).toEqual([
        kind,
        other,
        kind === other,
        kind !== other,
      ]);
    }
  }
});

test('the parser reads selectors of every field, and no others', () => {
  verifies('IP-2.2');
  const selectors = `{ env: [dev], agent_id: [a], client: [claude], workload:
    { namespace: [n], service_account: [s], labels: { app: x }, repo: [r], branch: [b] } }`;
  expect(parse(GOOD.replace('selectors: {}', `selectors: ${selectors}`)).ok).toBe(true);
  expect(
    problems(GOOD.replace('selectors: {}', 'selectors: { enviroment: [dev], env: dev }')),
  ).toEqual([
    '5:14 selectors.enviroment: unknown field `enviroment`; the fields here are env, agent_id, client, workload Remove it.',
    expect.stringMatching(
      /^5:38 selectors\.env: expected a list of at least 1; .*, got `"dev"` Write it as a list: `\[dev\]`\.$/,
    ),
  ]);
});

test('the parser gives the position of each part of a bundle', () => {
  const parsed = parse(GOOD);
  if (!parsed.ok) throw new Error('the sample must be valid');
  expect(parsed.positionOf(['mode'])).toEqual({ line: 3, column: 7 });
  expect(parsed.positionOf(['rules', 0])).toEqual({ line: 7, column: 5 });
  expect(parsed.positionOf(['rules', 0, 'match', 'tool_name', 'glob', 0])).toEqual({
    line: 10,
    column: 34,
  });
  expect(parsed.positionOf(['rules', 0, 'description'])).toEqual({ line: 7, column: 5 });
  expect(parsed.positionOf([])).toEqual({ line: 1, column: 1 });
});

test('an error names an unknown kind and the one that was meant', () => {
  verifies('IP-0.2', 'IP-2.3');
  const text = bundleText(ruleText({ kind: 'rate-limit', effect: '{}' }));
  expect(parse(text)).toEqual({
    ok: false,
    problems: [
      {
        level: 'error',
        code: 'SUB_BUNDLE_UNKNOWN_KIND',
        file: 'p.yaml',
        position: { line: 8, column: 11 },
        path: 'rules[0].kind',
        message: 'unknown kind `rate-limit`; did you mean `rate_limit`?',
        fix: 'Write `kind: rate_limit`.',
      },
    ],
  });
});

test('what a bundle leaves out has its default', () => {
  const text = `policy_id: short
version: "1"
mode: control
rules:
  - { rule_id: no-writes, kind: deny, match: {}, effect: { action: BLOCK } }
`;
  expect(parse(text)).toMatchObject({
    ok: true,
    bundle: {
      defaults: { decision_on_error: 'BLOCK' },
      selectors: {},
      rules: [{ rule_id: 'no-writes', enabled: true, severity: 'warn' }],
    },
  });
});

test('an error lists the kinds when none is near', () => {
  verifies('IP-0.2');
  expect(problems(bundleText(ruleText({ kind: 'quota_per_moon', effect: '{}' })))).toEqual([
    '8:11 rules[0].kind: unknown kind `quota_per_moon`; expected one of allow, deny, budget, rate_limit, breaker, dedupe, tag, approval Use one of them.',
  ]);
});

test.each([
  [
    'a misspelt field',
    'mode: control',
    'mode: control\nownr: me',
    '4:1 ownr: unknown field `ownr`; did you mean `owner`? Rename it to `owner`.',
  ],
  [
    'a misspelt value',
    'mode: control',
    'mode: guardrail',
    '3:7 mode: unknown mode `guardrail`; did you mean `guardrails`? Write `mode: guardrails`.',
  ],
  [
    'a missing field',
    'mode: control\n',
    '',
    '1:1 mode: missing `mode`, one of observe, guardrails, control Add `mode: guardrails`.',
  ],
  [
    'a number for a string',
    'version: "1"',
    'version: 1.10',
    '2:10 version: expected a non-empty string of at most 128 characters, got `1.10` Put quotes around it: `"1.10"`.',
  ],
  [
    'quotes around a truth value',
    'enabled: true',
    'enabled: "yes"',
    '9:14 rules[0].enabled: expected true or false, got `"yes"` Write `true`, without quotes.',
  ],
  [
    'a field with nothing behind it',
    'selectors: {}',
    'selectors:',
    '5:11 selectors: expected an object, got nothing Give it a value, like `selectors: {}`.',
  ],
  [
    'an empty match',
    'match: { tool_name: { glob: [shell] } }',
    'match:',
    '10:11 rules[0].match: expected an object, got nothing Write `match: {}` to match every call.',
  ],
  [
    'an empty list',
    'glob: [shell]',
    'glob: []',
    '10:33 rules[0].match.tool_name.glob: expected a list of at least 1; each item a non-empty string of at most 1024 characters, got a list of 0 Add an item, or remove the field.',
  ],
  [
    'an action of another kind',
    'action: BLOCK',
    'action: ALLOW',
    '11:23 rules[0].effect.action: expected `BLOCK`, got `ALLOW` Write `action: BLOCK`.',
  ],
  [
    'a missing action',
    'action: BLOCK',
    '',
    '11:13 rules[0].effect.action: missing `action`, `BLOCK` Add `action: BLOCK`.',
  ],
  [
    'an empty string',
    'policy_id: sample',
    'policy_id: ""',
    '1:12 policy_id: expected a non-empty string of at most 256 characters, got an empty string Give it a value, or remove the field.',
  ],
  [
    'an effect that lacks everything',
    '{ action: BLOCK }',
    '',
    '11:13 rules[0].effect: expected an object, got nothing Give it a value, like `effect: { action: BLOCK }`.',
  ],
])('an error explains %s', (_, good, bad, problem) => {
  const text = GOOD.replace(good, bad);
  expect(text).not.toBe(GOOD);
  expect(problems(text)).toEqual([problem]);
});

test.each([
  ['"3"', 'got `"3"` Remove the quotes.'],
  ['many', 'got `"many"` Write a number.'],
  ['-1', 'got `-1` Use a number that fits.'],
  ['1.5', 'got `1.5` Use a number that fits.'],
])('an error explains a limit of %s', (limit, end) => {
  const effect = `{ budget: { scope: run, limit_calls: ${limit}, on_exceed: BLOCK } }`;
  const [problem, ...others] = problems(bundleText(ruleText({ kind: 'budget', effect })));
  expect(problem).toBe(
    `11:50 rules[0].effect.budget.limit_calls: expected a whole number from 0 to 1000000000, ${end}`,
  );
  expect(others).toEqual([]);
});

test.each([
  ['limit_calls: 1_000', 'Write 1000, without the `_`.'],
  ['limit_calls: "1,000,000"', 'Write 1000000, without the `,`.'],
  ['limit_calls: 1_x', 'Write a number.'],
])('an error shows how to write the number of %s', (limit, fix) => {
  const effect = `{ budget: { scope: run, ${limit}, on_exceed: BLOCK } }`;
  const found = parse(bundleText(ruleText({ kind: 'budget', effect }))).problems;
  expect(found.map((problem) => problem.fix)).toEqual([fix]);
});

test.each([
  [
    'env: [production]',
    '5:20 selectors.env[0]: unknown env `production`; did you mean `prod`? Write `prod`.',
  ],
  ['env: [dev, Dev]', '5:25 selectors.env[1]: unknown env `Dev`; did you mean `dev`? Write `dev`.'],
  [
    'env: [staging]',
    '5:20 selectors.env[0]: unknown env `staging`; expected one of dev, ci, prod, unknown Use one of them.',
  ],
  [
    'env: ["*"]',
    '5:20 selectors.env[0]: unknown env `*`; expected one of dev, ci, prod, unknown Leave `env` out to match all.',
  ],
  [
    'client: [claude-code]',
    '5:23 selectors.client[0]: unknown client `claude-code`; did you mean `claude`? Write `claude`.',
  ],
])('the parser refuses the selector %s, which nothing could match', (selector, problem) => {
  verifies('IP-2.2');
  expect(problems(GOOD.replace('selectors: {}', `selectors: { ${selector} }`))).toEqual([problem]);
});

test('the parser accepts every environment and client that events may have', () => {
  verifies('IP-2.2');
  const all = `env: [${ENV.values.join(', ')}], client: [${CLIENT.values.join(', ')}]`;
  expect(problems(GOOD.replace('selectors: {}', `selectors: { ${all} }`))).toEqual([]);
});

test('an error does not suggest a field that is already there', () => {
  expect(problems(GOOD.replace('mode: control', 'mode: control\nmodes: control'))).toEqual([
    expect.stringMatching(/^4:1 modes: unknown field `modes`; the fields here are .* Remove it\.$/),
  ]);
});

test.each(['null', '[]', 'text', '3'])('the parser refuses %s as a bundle', (text) => {
  expect(parse(text)).toMatchObject({
    ok: false,
    problems: [{ code: 'SUB_BUNDLE_TYPE', path: '' }],
  });
});

test.each(['__proto__', 'constructor', 'toString'])(
  'the parser refuses %s as a field, and pollutes nothing',
  (name) => {
    const text = GOOD.replace('mode: control', `mode: control\n${name}: { polluted: true }`);
    expect(problems(text)[0]).toMatch(`4:1 ${name}: unknown field`);
    expect({}).not.toHaveProperty('polluted');
  },
);

test('the parser keeps `__proto__` as data where keys are free', () => {
  const match = '{ args: { key_equals: { __proto__: x, constructor: y } } }';
  const parsed = parse(bundleText(sampleRule('deny', { match })));
  const equals = parsed.ok ? parsed.bundle.rules[0]?.match.args?.key_equals : undefined;
  expect(Object.entries(equals ?? {})).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ]);
});

test('the parser refuses `__proto__` as kind', () => {
  expect(problems(bundleText(ruleText({ kind: '__proto__', effect: '{}' })))).toHaveLength(1);
});

test('the parser reports at most a hundred problems, in the order of the file', () => {
  const rules = Array.from({ length: 150 }, () => ruleText({ kind: 'denny', effect: '{}' }));
  const found = parse(bundleText(rules.join(''))).problems;
  expect(found).toHaveLength(100);
  const lines = found.map(({ position }) => position.line);
  expect(lines).toEqual(lines.toSorted((a, b) => a - b));
});

test('the parser stays quick for tens of thousands of unknown fields', () => {
  const fields = Array.from({ length: 40_000 }, (_, index) => `polcy_id_${index}: 1`);
  expect(parse(fields.join('\n')).problems).toHaveLength(100);
});

test('every required field has an example that fits', () => {
  const missing: string[] = [];
  const visit = (shape: Shape, kind?: string): void => {
    if (shape.kind === 'variant') {
      for (const [name, inner] of Object.entries(shape.cases)) visit(inner, name);
    } else if (shape.kind === 'array') visit(shape.items, kind);
    else if (shape.kind === 'object') {
      for (const [name, field] of Object.entries(shape.fields)) {
        visit(field.shape, kind);
        // Which kind to use is for the author to say.
        if (!field.required || name === 'kind') continue;
        const choices = field.shape.kind === 'enum' ? field.shape.values : [];
        const read = readSource({ file: 'e', text: exampleOf(name, kind, choices) ?? '' });
        if (!read.ok || check(field.shape, valueOf(read.tree)).length > 0) missing.push(name);
      }
    }
  };
  visit(BUNDLE);
  expect(missing).toEqual([]);
});
