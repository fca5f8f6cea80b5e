import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { formatProblem } from '../../source/problem.ts';
import { decideTurn } from './decide-turn.ts';
import { policyOf, readPolicy, turn, WORKED_POLICY } from './worked-policy.test-support.ts';

function problems(text: string): readonly string[] {
  const read = readPolicy(text);
  return read.ok ? [] : read.problems.map(formatProblem);
}

/** The first problem of a policy with one rule. */
function problemOf(rule: string, rest = ''): string {
  const [first = 'none'] = problems(
    `version: 1\nrules:\n  - id: R\n${rule.replace(/^/gm, '    ')}\n${rest}`,
  );
  return first.replace('policies/main.yaml:', '');
}

test('the worked policy is valid as it stands', () => {
  expect(problems(WORKED_POLICY)).toEqual([]);
});

test.each([
  ['when: "true"', 'does nothing', 'SUB_GATEWAY_FIELD'],
  ['action: block', 'missing `when`', 'SUB_GATEWAY_FIELD'],
  ['when: "true"\naction: reject', 'unknown action `reject`', 'SUB_GATEWAY_VALUE'],
  ['when: "true"\naction: route', '`route` needs a `model_pool`', 'SUB_GATEWAY_FIELD'],
  ['when: "true"\naction: block\nmodel_pool: cheap', 'does nothing without', 'SUB_GATEWAY_VALUE'],
  ['when: "true"\naction: allow\nmodel_pool: cheap', 'does nothing without', 'SUB_GATEWAY_VALUE'],
  [
    'when: "true"\naction: route_to_private_model\nmodel_pool: strong',
    'always goes to `private_strong`',
    'SUB_GATEWAY_VALUE',
  ],
  ['when: "true"\naction: shadow_eval', '`shadow_eval` needs a pool', 'SUB_GATEWAY_FIELD'],
  [
    'when: "true"\naction: allow\nshadow_pool: strong',
    'does nothing without `shadow_eval`',
    'SUB_GATEWAY_VALUE',
  ],
  ['when: "true"\naction: route\nmodel_pool: cheep', 'Write `cheap`', 'SUB_GATEWAY_REFERENCE'],
  ['when: "true"\naction: route\nmodel_pool: nowhere', 'there is no pool', 'SUB_GATEWAY_REFERENCE'],
  ['when: "true"\nactoin: block', 'did you mean `action`?', 'SUB_GATEWAY_FIELD'],
  ['when: "true"\naction: block\npool: x', 'did you mean `model_pool`?', 'SUB_GATEWAY_FIELD'],
])('the rule %j is refused: %s', (rule, words, code) => {
  expect(problemOf(rule)).toMatch(words);
  expect(problemOf(rule)).toMatch(`[${code}]`);
});

describe('a condition', () => {
  it.each([
    ['sever_class.task_type == "x"', 'unknown variable', 'Write `server_class`.'],
    ['server_class.tsk_type == "x"', 'no such key', 'Write `task_type`.'],
    ['envelope.repo.repoid == "x"', 'no such key', 'Write `repo_id`.'],
    ['server_class.findings.exists(f, f.typ == "x")', 'no such key', 'Write `type`.'],
    ['server_class.task_type == 1', 'no such overload', 'Write CEL over'],
    ['server_class.task_type', 'it gives string, not true or false', 'Write CEL over'],
    ['server_class.task_type = "x"', 'unexpected', 'Write CEL over'],
    ['request.model.matches("(?=a)")', '(?=', 'Write CEL over'],
    ['request.model.matches(user.id)', 'pattern written out', 'Write CEL over'],
    ['timestamp("2026-01-01T00:00:00Z") == null', 'not available', 'Write CEL over'],
    ['rand(1) < 0.5', 'rand', 'Write CEL over'],
  ])('that is wrong is an error at load: %s', (when, words, fix) => {
    const problem = problemOf(`when: ${JSON.stringify(when)}\naction: block`);
    expect(problem.toLowerCase()).toContain(words.toLowerCase());
    expect(problem).toContain(fix);
    expect(problem).toContain('[SUB_GATEWAY_CONDITION]');
  });

  it('is placed at the character that is wrong, also in a block of lines', () => {
    const rule = 'when: |\n  server_class.agentic_loop\n    && repo.tag == "x"\naction: block';
    expect(problemOf(rule)).toMatch(/^6:\d+: error: invalid condition: no such key: tag/i);
  });

  it('that names an endpoint which is not registered is an error at load', () => {
    const when = `when: 'endpoints["azure"].data_residency == "eu"'\naction: block`;
    expect(problemOf(when)).toMatch('there is no endpoint `azure`');
    expect(problemOf(when)).toMatch('[SUB_GATEWAY_REFERENCE]');
  });

  it.each([
    'envelope.custom_tags.ticket.startsWith("A-")',
    'envelope.custom_tags.weight == 3',
    'envelope.custom_tags.ratio < 0.6',
    'envelope.custom_tags.urgent',
    '!("missing" in envelope.custom_tags)',
    'envelope.session.turn_index >= 3',
    'envelope.task_hints.confidence.task_type > 0.5',
    'envelope.context_signals.diff_summary.lines_added + 1 == 5',
    'envelope.context_signals.file_paths.exists(p, p.endsWith(".ts"))',
    'envelope.identity.user_id == ""',
    'user.role == "developer" && user.id == "ada" && team.id == "web"',
    'repo.sensitivity == "medium" && "public" in repo.tags',
    'budget.user_daily_cap_cents > budget.user_daily_used_cents',
    'endpoints["azure-tenant-1"].supports.tools && !endpoints["azure-tenant-1"].supports.images',
    'request.model.matches("^claude-(sonnet|opus)") && request.stream && request.max_tokens == 64000',
    'rand() >= 0.0 && rand() < 1.0',
  ])('sees the turn: %s', (when) => {
    const decided = decideTurn(policyOf([{ when, action: 'block' }]), turn());
    expect(decided.failures).toEqual([]);
    expect(decided.decision.primary_action).toBe('block');
  });
});

describe('variables', () => {
  const rule = (when: string) => `when: ${JSON.stringify(when)}\naction: block`;

  it('have the types of their values', () => {
    const rest = 'variables: { names: [a, b], most: 5, share: 0.5, strict: true, by: { a: 1 } }';
    expect(
      problemOf(rule('"a" in names && most == 5 && share < 1.0 && strict && by.a == 1'), rest),
    ).toBe('none');
    expect(problemOf(rule('most == "5"'), rest)).toMatch('no such overload');
    expect(problemOf(rule('strict < 5'), rest)).toMatch('[SUB_GATEWAY_CONDITION]');
    expect(problemOf(rule('nams.size() == 1'), rest)).toMatch('Write `names`.');
  });

  it.each(['envelope', 'rand', 'endpoints', 'in', 'a-b', '1a'])('are not named %s', (name) => {
    const rest = `variables: { ${JSON.stringify(name)}: 1 }`;
    expect(problemOf(rule('true'), rest)).toMatch('can not be used');
  });
});

describe('an emit', () => {
  const rule = (emit: string) => `when: "true"\nemit: ${JSON.stringify(emit)}`;

  it.each([
    ['required_data_residency = []', 'is no list of names'],
    ['required_data_residency = 5', 'is no list of names'],
    ['required_data_residency = request.max_tokens', 'is int, not a list of names'],
    ['required_trust_tier = "privat"', 'is none of vendor, partner, private'],
    ['required_capabilities = ["toolz"]', 'there is no capability `toolz`'],
    ['required_capability = ["tools"]', 'Write `required_capabilities = …`'],
    ['model_pool = "x"', '`emit` sets one of'],
    ['required_trust_tier == "private"', '`emit` sets one of'],
    ['required_trust_tier = repo.nothing', 'no such key'],
  ])('that is wrong is an error at load: %s', (emit, words) => {
    expect(problemOf(rule(emit)).toLowerCase()).toContain(words.toLowerCase());
  });
});

test('all that is wrong is said at once, in the order of the file', () => {
  const found = problems(`version: 1
rules:
  - { id: A, when: "nope", action: route }
  - { id: A, when: "true", action: route, model_pool: nowhere }
defaults: { on_no_match: { action: route, model_pool: elsewhere } }
`);
  expect(found.map((line) => line.replace(/^.*\[(\w+)\]$/, '$1'))).toEqual([
    'SUB_GATEWAY_FIELD',
    'SUB_GATEWAY_CONDITION',
    'SUB_GATEWAY_DUPLICATE',
    'SUB_GATEWAY_REFERENCE',
    'SUB_GATEWAY_REFERENCE',
  ]);
});

test.each(['', '[]', 'rules: [', '- a', 'version: 2\nrules: []', 'version: 1', '\u0000'])(
  'the text %j is no policy, and the problem has a fix',
  (text) => {
    const read = readPolicy(text);
    expect(read.ok ? [] : read.problems[0]?.fix).not.toHaveLength(0);
  },
);

test('no text and no expression makes the reader throw', () => {
  const word = fc.constantFrom(
    'envelope',
    'rand()',
    '.',
    '(',
    ')',
    '[',
    '"a"',
    '&&',
    'in',
    '{',
    '}',
    '1',
    '!',
    'x',
    '.exists(f,',
    '?',
    ':',
  );
  const expression = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.oneof(expression, fc.string()), (when) => {
      const text = JSON.stringify({
        version: 1,
        rules: [
          { id: 'R', when: `${when} `, action: 'block', emit: `required_trust_tier = ${when}` },
        ],
      });
      const read = readPolicy(text);
      expect(read.ok || read.problems.length > 0).toBe(true);
    }),
    { numRuns: 300 },
  );
});
