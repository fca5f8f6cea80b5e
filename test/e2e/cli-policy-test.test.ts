// `sub policy test`: expectations beside a policy, in the forms that people and CI systems read.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { type Ended, ensureBuilt, ROOT } from './sub.ts';

const READ = '{ server_name: files, tool_name: read_file, args: { path: notes.md } }';
const POLICY = `policy_id: small
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: no-delete
    kind: deny
    enabled: true
    severity: critical
    match: { tool_name: { glob: ["delete_*"] } }
    effect:
      action: BLOCK
      reason_code: NO_DELETE
      message: Nothing is deleted here.
      hint: { hint_text: Move it to the trash folder. }
  - rule_id: few
    kind: budget
    enabled: true
    severity: warn
    match: {}
    effect: { budget: { scope: run, limit_calls: 3, on_exceed: BLOCK } }
`;

let folder: string;
beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-policy-test-'));
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runTests(text: string, ...flags: string[]): Promise<Ended> {
  writeFileSync(join(folder, 'policy.test.yaml'), text);
  return askSub(['policy', 'test', ...flags, 'policy.test.yaml'], { cwd: folder });
}

function testOf(call: string, expected: string, name = 'one'): string {
  return `policy: policy.yaml\ntests:\n  - name: ${name}\n    call: ${call}\n    expect: ${expected}\n`;
}

const DELETE = '{ server_name: files, tool_name: delete_file }';

describe('a test passes when the policy decides as expected', () => {
  test.each([
    [READ, '{ decision: ALLOW, rule: null }'],
    [
      DELETE,
      '{ decision: REJECT_WITH_HINT, rule: no-delete, hint: trash, reason_code: NO_DELETE }',
    ],
    ['{ server_name: a, tool_name: b, repeat: 4 }', '{ decision: BLOCK, rule: few }'],
  ])('%s %s', async (call, expected) => {
    const { code, stdout } = await runTests(testOf(call, expected));
    expect(stdout).toBe('✔ one\n1 test, all passed\n');
    expect(code).toBe(0);
  });

  test('each test has a budget of its own', async () => {
    const again = `  - name: two\n    call: ${READ}\n    expect: { decision: ALLOW }\n`;
    const four = '{ server_name: a, tool_name: b, repeat: 4 }';
    const { code } = await runTests(testOf(four, '{ decision: BLOCK }') + again);
    expect(code).toBe(0);
  });
});

describe('a test fails when the policy decides otherwise', () => {
  test.each([
    [READ, '{ decision: BLOCK }', 'expected BLOCK, got ALLOW by no rule'],
    [READ, '{ decision: ALLOW, rule: few }', 'expected the rule few, got no rule'],
    [
      DELETE,
      '{ decision: REJECT_WITH_HINT, hint: bin }',
      'expected a hint with "bin", got "Move it',
    ],
    [
      DELETE,
      '{ decision: REJECT_WITH_HINT, reason_code: X }',
      'expected the reason X, got NO_DELETE',
    ],
  ])('%s %s', async (call, expected, said) => {
    const { code, stdout } = await runTests(testOf(call, expected));
    expect(stdout).toContain('✘ one  policy.test.yaml:3\n');
    expect(stdout).toContain(said);
    expect(code).toBe(1);
  });
});

describe('the report', () => {
  const FAILING = testOf(READ, '{ decision: BLOCK }', '"a <b> & c"');

  test('as JSON counts what passed and failed', async () => {
    const { code, stdout } = await runTests(FAILING, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      tests: [{ name: 'a <b> & c', line: 3, passed: false, decision: 'ALLOW', rule: null }],
      summary: { passed: 0, failed: 1 },
    });
    expect(code).toBe(1);
  });

  test('as JUnit escapes what XML forbids', async () => {
    const { stdout } = await runTests(FAILING, '--format', 'junit');
    expect(stdout).toContain('<testsuites tests="1" failures="1">');
    expect(stdout).toContain('name="a &lt;b&gt; &amp; c"');
    expect(stdout).toContain('<failure message="expected BLOCK, got ALLOW');
  });

  test('as SARIF names the line', async () => {
    const { stdout } = await runTests(FAILING, '--format', 'sarif');
    expect(JSON.parse(stdout)).toMatchObject({
      version: '2.1.0',
      runs: [
        {
          results: [
            {
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'policy.test.yaml' },
                    region: { startLine: 3 },
                  },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  test('for GitHub is one annotation for each failure, whatever its name holds', async () => {
    const hostile = testOf(READ, '{ decision: BLOCK }', '"a\\n::warning::b"');
    const { stdout } = await runTests(hostile, '--format', 'github');
    const commands = stdout.split('\n').filter((line) => line.startsWith('::'));
    expect(commands).toHaveLength(1);
    expect(commands[0]).toContain('file=policy.test.yaml,line=3,col=5');
  });
});

describe('a file that cannot be used is refused with its place and what to do', () => {
  test.each([
    [
      'a misspelt field',
      testOf(READ, '{ decison: ALLOW }'),
      ':5:15: at tests.0.expect.decison',
      'Did you mean decision?',
    ],
    [
      'an unknown decision',
      testOf(READ, '{ decision: DENY }'),
      'expected one of ALLOW, ASK, BLOCK',
      '',
    ],
    ['a wrong call', testOf('{ tool_name: a }', '{ decision: ALLOW }'), 'server_name', ''],
    [
      'no call',
      'policy: policy.yaml\ntests:\n  - name: one\n    expect: { decision: ALLOW }\n',
      'needs either a call or calls',
      'Give `call`',
    ],
    ['YAML that does not parse', 'policy: [', 'policy.test.yaml:', ''],
    [
      'a policy that is missing',
      testOf(READ, '{ decision: ALLOW }').replace('policy.yaml', 'none.yaml'),
      'none.yaml',
      '',
    ],
  ])('%s', async (_, text, message, fix) => {
    const { code, stderr } = await runTests(text);
    expect(stderr).toContain(message);
    expect(stderr).toContain(fix);
    expect(code).toBe(2);
  });
});

describe('the tests beside the example policies', () => {
  const cwd = join(ROOT, 'examples', 'policies');
  let code: number | null = null;
  let tests: readonly {
    readonly file: string;
    readonly name: string;
    readonly rule: string | null;
    readonly passed: boolean;
  }[] = [];
  beforeAll(async () => {
    const files = readdirSync(cwd).filter((name) => name.endsWith('.test.yaml'));
    const tried = await askSub(['policy', 'test', '--json', ...files], { cwd });
    ({ code } = tried);
    ({ tests } = JSON.parse(tried.stdout) as { readonly tests: typeof tests });
  }, 60_000);

  test('pass', () => {
    expect(tests.filter(({ passed }) => !passed)).toEqual([]);
    expect(code).toBe(0);
  });

  const ASKS = 'ask-before-publishing';
  const TOKEN = { 'a call with a token in it is stopped': 'gate:content' };
  const over = (nth: string) => ({
    [`the ${nth} call is over the budget of the run`]: 'calls-per-run',
  });

  test.each([
    ['solo', { 'a release asks': ASKS, ...over('1001st'), ...TOKEN }],
    ['team', { 'a release asks': ASKS, ...over('501st'), ...TOKEN }],
    ['ci', { 'a release asks': ASKS, 'the 301st call ends the run': 'calls-per-run', ...TOKEN }],
    ['read-only', { 'a release is refused': 'deny-the-rest', ...over('301st'), ...TOKEN }],
    ['starter', { 'nothing is deleted for good': 'no-permanent-deletes' }],
  ])('those of %s try what it promises', (starter, promises) => {
    const own = tests.filter(({ file }) => file === `${starter}.test.yaml`);
    const rules = Object.fromEntries(own.map(({ name, rule }) => [name, rule]));
    expect(rules).toMatchObject(promises);
  });
});

test('the gates of a policy judge the arguments, and nothing of this machine does', async () => {
  writeFileSync(
    join(folder, 'content.yaml'),
    `${POLICY}content: { outbound: { secret: block, personal: ask } }\n`,
  );
  const token = ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_');
  const call = (text: string) =>
    `{ server_name: chat, tool_name: post, args: { text: "${text}" } }`;
  const tests = [
    [call(token), '{ decision: BLOCK, rule: "gate:content", reason_code: CONTENT_BLOCKED }'],
    [call('card 4111 1111 1111 1111'), '{ decision: ASK, rule: "gate:content" }'],
    [call('content.yaml'), '{ decision: BLOCK, rule: "gate:self-protection" }'],
    [call('hello'), '{ decision: ALLOW, rule: null }'],
  ].map(([one, expected], index) => {
    return `  - { name: test ${index}, call: ${one}, expect: ${expected} }\n`;
  });
  const { code, stdout } = await runTests(`policy: content.yaml\ntests:\n${tests.join('')}`);
  expect(stdout).toContain('4 tests, all passed');
  expect(code).toBe(0);
});

describe('lint has the reports of CI systems, too', () => {
  const SLIPS = POLICY.replace('kind: budget', 'kind: limit').replace('"1"', '1');

  test('SARIF has each problem with its place, and each code with its meaning', async () => {
    writeFileSync(join(folder, 'slips #1.yaml'), SLIPS);
    const args = ['policy', 'lint', '--format', 'sarif', 'slips #1.yaml', 'none.yaml'];
    const { code, stdout } = await askSub(args, { cwd: folder });
    expect(code).toBe(2);
    const log: unknown = JSON.parse(stdout);
    const region = (startLine: number, startColumn: number) => ({ startLine, startColumn });
    const at = (uri: string, place: object) => [
      { physicalLocation: { artifactLocation: { uri }, region: place } },
    ];
    expect(log).toMatchObject({
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'sub policy lint' } },
          results: [
            { ruleId: 'SUB_BUNDLE_TYPE', locations: at('slips%20%231.yaml', region(2, 10)) },
            {
              ruleId: 'SUB_BUNDLE_UNKNOWN_KIND',
              level: 'error',
              message: {
                text: 'unknown kind `limit`; did you mean `budget`? Write `kind: budget`.',
              },
            },
            { ruleId: 'SUB_FILE_READ', locations: at('none.yaml', region(1, 1)) },
          ],
        },
      ],
    });
    expect(stdout).toContain('"text": "A rule has an unknown kind."');
  });

  test('GitHub gets a command for each problem, notes as notices, and the text for the log', async () => {
    const args = ['policy', 'lint', '--format', 'github', 'policy.yaml'];
    const { code, stdout } = await askSub(args, { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^::notice file=policy\.yaml,line=3,col=7,title=Policy::refusals are JSON-RPC errors/,
    );
    expect(stdout).toContain('✔ policy.yaml: 2 rules, 1 note');
  });
});

test('paths start in the folder of the policy, and the home of this machine plays no part', async () => {
  const rule = (id: string, under: string) =>
    `  - { rule_id: ${id}, kind: deny, match: { args: { path_under: { path: ["${under}"] } } }, effect: { action: BLOCK } }\n`;
  const head = 'policy_id: p\nversion: "1"\nmode: control\nrules:\n';
  const rules = `${rule('src', '${project}/src')}${rule('home', '~')}${rule('tmp', '${tmp}')}`;
  writeFileSync(join(folder, 'paths.yaml'), head + rules);
  const cases = [
    ['src/a', 'src'],
    [join(folder, 'src/a'), 'src'],
    ['~/x', 'home'],
    ['/nonexistent/x', 'null'],
    ['/tmp/x', 'tmp'],
  ];
  const tests = cases.map(
    ([path, id]) =>
      `  - name: ${path}\n    call: { server_name: a, tool_name: b, args: { path: ${path} } }\n    expect: { decision: ${id === 'null' ? 'ALLOW' : 'BLOCK'}, rule: ${id} }\n`,
  );
  writeFileSync(join(folder, 'paths.test.yaml'), `policy: paths.yaml\ntests:\n${tests.join('')}`);
  const file = join(folder, 'paths.test.yaml');
  const { code, stdout } = await askSub(['policy', 'test', file], {
    cwd: ROOT,
    env: { HOME: '/nonexistent', TMPDIR: '/nonexistent/tmp' },
  });
  expect([code, stdout]).toEqual([0, expect.stringContaining('5')]);
});

test.each([
  ['lint', 'policy.yaml'],
  ['test', 'policy.test.yaml'],
])('sub policy %s refuses --json beside another format', async (name, file) => {
  writeFileSync(join(folder, 'policy.test.yaml'), testOf(READ, '{ decision: ALLOW }'));
  const run = (...flags: string[]) => askSub(['policy', name, ...flags, file], { cwd: folder });
  const { code, stderr } = await run('--json', '--format', 'sarif');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--format sarif')]);
  expect((await run('--json', '--format', 'json')).code).toBe(0);
});
