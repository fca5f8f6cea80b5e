import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { compileGlob } from '../../patterns/glob.ts';
import { compileRegex } from '../../patterns/regex.ts';
import type { Problem } from '../../source/problem.ts';
import { compileWhen, parseWhen } from '../match/when.ts';
import { parseBundle } from '../read/parse.ts';
import { bundleText, NO_CHECKS, ruleText, sampleRule } from '../testing/sample-bundle.ts';
import { lintBundle } from './lint.ts';

const NOW_MS = Date.parse('2027-01-01T00:00:00Z');

type Tools = ReadonlyMap<string, readonly string[]>;

function lint(text: string, tools?: Tools): readonly Problem[] {
  const parsed = parseBundle({ file: 'p.yaml', text }, { checks: NO_CHECKS });
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('\n'));
  const options = { file: 'p.yaml', nowMs: NOW_MS, parseWhen, tools };
  return lintBundle(parsed.bundle, parsed.positionOf, options);
}

/** A bundle that has settled how refusals are delivered. */
function settled(text: string): string {
  return `${text}\nhint_delivery: tool_result\n`;
}

function codes(text: string, tools?: Tools): readonly string[] {
  return lint(settled(text), tools).map(({ code, path }) => `${code} ${path}`);
}

const SHELL = '{ tool_name: { glob: [shell] } }';
const WRITES = '{ risk_class: [write_like] }';
const TAG_READS = ruleText({ kind: 'tag', effect: '{ tag: { add_risk_class: [read_like] } }' });
const REJECTING = '{ budget: { scope: run, limit_calls: 1, on_exceed: REJECT_WITH_HINT } }';

const HINTED = { effect: '{ action: BLOCK, hint: { hint_text: use the API } }' };

function hintedBudget(action: string): string {
  return `{ budget: { scope: run, limit_calls: 1, on_exceed: ${action}, hint_text: stop } }`;
}

function dedupeFor(windowMs: number): string {
  return `{ dedupe: { scope: run, window_ms: ${windowMs}, key: args_hash, on_duplicate: BLOCK } }`;
}

/** A bundle that is only for some. */
function selecting(selectors: string): string {
  return bundleText(sampleRule('deny')).replace('selectors: {}', `selectors: { ${selectors} }`);
}

/** For each code: a bundle that has it once, where, and a twin that is clean. */
const TWINS: readonly (readonly [code: string, path: string, found: string, clean: string])[] = [
  [
    'SUB_LINT_UNREACHABLE',
    'rules[1]',
    bundleText(sampleRule('deny', { match: SHELL }) + sampleRule('allow', { match: SHELL })),
    bundleText(
      sampleRule('deny', { match: SHELL, when: 'call.bytes_in > 9' }) +
        sampleRule('allow', { match: SHELL }),
    ),
  ],
  ...(
    [
      ['rules[0].match.tool_name.glob[0]', "{ tool_name: { glob: ['resources/read'] } }"],
      [
        'rules[0].match.tool_name.glob[0]',
        "{ subjects: [resource], tool_name: { glob: ['prompts/get'] } }",
      ],
      [
        'rules[0].match.tool_name',
        "{ subjects: [resource], tool_name: { glob: ['read_*', 'get'] } }",
      ],
    ] as const
  ).map(
    ([path, match]) =>
      [
        'SUB_LINT_UNREACHABLE',
        path,
        bundleText(sampleRule('deny', { match })),
        bundleText(
          sampleRule('deny', {
            match: "{ subjects: [tool, resource, prompt], tool_name: { glob: ['resources/r*'] } }",
          }),
        ),
      ] as const,
  ),
  [
    'SUB_LINT_EXEMPTED',
    'rules[1]',
    bundleText(sampleRule('allow') + sampleRule('budget', { match: SHELL })),
    bundleText(sampleRule('budget', { match: SHELL }) + sampleRule('allow')),
  ],
  [
    'SUB_LINT_UNTAGGED',
    'rules[0].match.risk_class[0]',
    bundleText(sampleRule('deny', { match: WRITES })),
    bundleText(sampleRule('tag', { match: SHELL }) + sampleRule('deny', { match: WRITES })),
  ],
  [
    'SUB_LINT_TAG_ORDER',
    'rules[0].match.risk_class[0]',
    bundleText(sampleRule('budget', { match: WRITES }) + sampleRule('tag', { match: SHELL })),
    bundleText(sampleRule('tag', { match: SHELL }) + sampleRule('budget', { match: WRITES })),
  ],
  [
    'SUB_LINT_UNANCHORED',
    'rules[0].match.tool_name.regex[1]',
    bundleText(sampleRule('allow', { match: '{ tool_name: { regex: ["^a$", "^read"] } }' })),
    bundleText(sampleRule('deny', { match: '{ tool_name: { regex: ["^a$", "^read"] } }' })),
  ],
  [
    'SUB_LINT_NO_HINT',
    'rules[0].effect.budget.on_exceed',
    bundleText(ruleText({ kind: 'budget', effect: REJECTING })),
    bundleText(
      ruleText({ kind: 'budget', effect: REJECTING.replace(/ }$/, ', hint: { hint_text: x } }') }),
    ),
  ],
  [
    'SUB_LINT_DISABLED',
    'rules[0].enabled',
    bundleText(sampleRule('deny', { enabled: false })),
    bundleText(sampleRule('deny')),
  ],
  [
    'SUB_LINT_FAIL_OPEN',
    'defaults.decision_on_error',
    bundleText(sampleRule('deny'), { defaults: '{ decision_on_error: ALLOW }' }),
    bundleText(sampleRule('allow'), { defaults: '{ decision_on_error: ALLOW }', mode: 'observe' }),
  ],
  [
    'SUB_LINT_SELF_PROTECTION',
    'self_protection',
    `${bundleText(sampleRule('deny'))}\nself_protection: off\n`,
    `${bundleText(sampleRule('deny'))}\nself_protection: on\n`,
  ],
  [
    'SUB_LINT_APPROVAL_MODE',
    'rules[0].kind',
    bundleText(sampleRule('approval'), { mode: 'guardrails' }),
    bundleText(sampleRule('approval'), { mode: 'control' }),
  ],
  [
    'SUB_LINT_OBSERVE',
    'mode',
    bundleText(sampleRule('deny'), { mode: 'observe' }),
    bundleText(sampleRule('allow'), { mode: 'observe' }),
  ],
  [
    'SUB_LINT_NEVER_PASSES',
    'rules[0].effect.budget.limit_calls',
    bundleText(
      ruleText({
        kind: 'budget',
        effect: '{ budget: { scope: run, limit_calls: 0, on_exceed: BLOCK } }',
      }),
    ),
    bundleText(
      ruleText({
        kind: 'budget',
        effect:
          '{ budget: { scope: run, limit_cost_units: 3, cost_units_per_call: 3, on_exceed: BLOCK } }',
      }),
    ),
  ],
  [
    'SUB_LINT_READ_UNTAGGED',
    'defaults.fail_open_read_tools',
    bundleText(sampleRule('tag'), {
      defaults: '{ decision_on_error: BLOCK, fail_open_read_tools: true }',
    }),
    bundleText(TAG_READS, { defaults: '{ decision_on_error: BLOCK, fail_open_read_tools: true }' }),
  ],
  [
    'SUB_LINT_BROAD_DEDUPE',
    'rules[0].match',
    bundleText(sampleRule('dedupe', { match: '{ tool_name: { glob: ["*"] } }' })),
    bundleText(sampleRule('dedupe', { match: SHELL })),
  ],
  [
    'SUB_LINT_SELECTOR_PATTERN',
    'selectors.agent_id[1]',
    selecting('agent_id: [ok, "ci-*"]'),
    selecting('agent_id: [ok, "ci-1"]'),
  ],
  [
    'SUB_LINT_SELECTOR_PATTERN',
    'selectors.workload.branch[0]',
    selecting('workload: { branch: ["release-?"] }'),
    selecting('workload: { branch: [release-1], namespace: [n], repo: [a/b] }'),
  ],
  [
    'SUB_LINT_SELECTOR_PATTERN',
    'selectors.workload.labels.app',
    selecting('workload: { labels: { app: "{a,b}" } }'),
    selecting('workload: { labels: { app: a } }'),
  ],
  [
    'SUB_LINT_HIDDEN_TEXT',
    'rules[0].match.tool_name.glob[0]',
    bundleText(sampleRule('deny', { match: '{ tool_name: { glob: ["del\\u200bete"] } }' })),
    bundleText(sampleRule('deny', { match: '{ tool_name: { glob: ["del ete 推送 чтение"] } }' })),
  ],
  [
    'SUB_LINT_HIDDEN_TEXT',
    'rules[0].match.tool_name.regex[0]',
    bundleText(sampleRule('deny', { match: '{ tool_name: { regex: ["^d\\u0435lete$"] } }' })),
    bundleText(sampleRule('deny', { match: '{ tool_name: { regex: ["^(delete|удалить)$"] } }' })),
  ],
  [
    'SUB_LINT_HIDDEN_TEXT',
    'rules[0].rule_id',
    bundleText(sampleRule('deny', { id: '"\\u0441\\u0430\\u0440\\u0435_file"' })),
    bundleText(sampleRule('deny', { id: '"\\u0441\\u0430\\u0440\\u0435"' })),
  ],
  [
    'SUB_LINT_HIDDEN_TEXT',
    'rules[0].match.args.key_equals["pa\\u{200b}th"]',
    bundleText(sampleRule('deny', { match: '{ args: { key_equals: { "pa\\u200bth": x } } }' })),
    bundleText(sampleRule('deny', { match: '{ args: { key_equals: { "pa th": x } } }' })),
  ],
  [
    'SUB_LINT_HIDDEN_TEXT',
    'rules[0].effect.tag.add_risk_class[0]',
    bundleText(ruleText({ kind: 'tag', effect: '{ tag: { add_risk_class: ["\\u03c1ii"] } }' })),
    bundleText(ruleText({ kind: 'tag', effect: '{ tag: { add_risk_class: [pii] } }' })),
  ],
  [
    'SUB_LINT_HINT_DROPPED',
    'rules[0].effect.hint',
    bundleText(sampleRule('deny', HINTED), { mode: 'guardrails' }),
    bundleText(sampleRule('deny', HINTED), { mode: 'control' }),
  ],
  [
    'SUB_LINT_HINT_DROPPED',
    'rules[0].effect.budget.hint_text',
    bundleText(ruleText({ kind: 'budget', effect: hintedBudget('TERMINATE_RUN') })),
    bundleText(ruleText({ kind: 'budget', effect: hintedBudget('REJECT_WITH_HINT') })),
  ],
  [
    'SUB_LINT_DURATION',
    'rules[0].effect.dedupe.window_ms',
    bundleText(ruleText({ kind: 'dedupe', match: SHELL, effect: dedupeFor(60) })),
    bundleText(ruleText({ kind: 'dedupe', match: SHELL, effect: dedupeFor(60_000) })),
  ],
  [
    'SUB_LINT_UNGUARDED',
    'rules[0].when',
    bundleText(sampleRule('deny', { when: 'args.force == true' })),
    bundleText(sampleRule('deny', { when: 'has(args.force) && args.force == true' })),
  ],
  [
    'SUB_LINT_UNGUARDED',
    'rules[0].when',
    bundleText(sampleRule('deny', { when: 'has(args.a.b) && args.a.b' })),
    bundleText(sampleRule('deny', { when: 'has(args.a) && has(args.a.b) && args.a.b' })),
  ],
  [
    'SUB_LINT_UNGUARDED',
    'rules[0].when',
    bundleText(sampleRule('deny', { when: `args["dry run"] == false` })),
    bundleText(
      sampleRule('deny', { when: `'"dry run" in args && args["dry run"] == false'` }) +
        sampleRule('deny', {
          id: 'matched',
          match: '{ args: { has_keys: [a], key_equals: { b: 1 } } }',
          when: 'args.a == args.b',
        }),
    ),
  ],
  [
    'SUB_LINT_RAW_PATH',
    'rules[0].when',
    bundleText(sampleRule('deny', { when: 'has(args.path) && args.path.startsWith("/etc")' })),
    bundleText(sampleRule('deny', { when: 'has(args.path) && args.path.endsWith(".env")' })),
  ],
  [
    'SUB_LINT_RAW_PATH',
    'rules[0].match.any_arg.glob[0]',
    bundleText(sampleRule('deny', { match: '{ any_arg: { glob: ["/etc/*"] } }' })),
    bundleText(
      sampleRule('deny', { match: '{ any_arg: { glob: ["*.env"], path_under: [/etc] } }' }),
    ),
  ],
  [
    'SUB_LINT_RAW_PATH',
    'rules[0].match.args.key_in.path[1]',
    bundleText(sampleRule('deny', { match: '{ args: { key_in: { path: [x, /etc/passwd] } } }' })),
    bundleText(sampleRule('allow', { match: '{ args: { key_in: { path: [x, /etc/passwd] } } }' })),
  ],
  ['SUB_LINT_EMPTY', 'rules', bundleText('  []'), bundleText(sampleRule('deny'))],
];

test.each(TWINS)('%s is found at %s, and not in its clean twin', (code, path, found, clean) => {
  expect(codes(found)).toEqual([`${code} ${path}`]);
  expect(codes(clean)).toEqual([]);
});

test('lint gives each finding a place, a message and a fix', () => {
  const text = bundleText(sampleRule('deny', { id: 'all' }) + sampleRule('allow', { id: 'late' }));
  expect(lint(settled(text))).toEqual([
    {
      level: 'warning',
      code: 'SUB_LINT_UNREACHABLE',
      file: 'p.yaml',
      position: { line: 13, column: 5 },
      path: 'rules[1]',
      message: '`late` can never decide: `all` above it matches every call that it matches',
      fix: 'Move it above `all`, or remove it.',
    },
  ]);
});

test('lint marks advice that is only worth knowing as a note', () => {
  const rules = sampleRule('deny') + sampleRule('tag', { enabled: false });
  const levels = lint(bundleText(rules, { mode: 'observe' })).map(({ code, level }) => [
    code,
    level,
  ]);
  expect(levels).toEqual([
    ['SUB_LINT_OBSERVE', 'note'],
    ['SUB_LINT_DISABLED', 'note'],
  ]);
});

test('lint suggests refusals that the model reads, as a note, until the policy has settled it', () => {
  const text = bundleText(sampleRule('deny'));
  const [advice, ...others] = lint(text);
  expect(advice).toMatchObject({ level: 'note', code: 'SUB_LINT_HINT_DELIVERY' });
  expect(advice?.message).toContain('MCP error -32081');
  expect(advice?.fix).toContain('`hint_delivery: tool_result`');
  expect(others).toEqual([]);
  expect(lint(`${text}hint_delivery: error\n`)).toEqual([]);
  expect(lint(bundleText(sampleRule('allow')))).toEqual([]);
});

test.each([
  ['BLOCK', '`decision_on_error: BLOCK` then refuses the call'],
  ['ALLOW', 'the rule is then skipped, and the call may pass'],
])('lint says what a missing argument does when errors %s', (onError, words) => {
  const when = 'call.bytes_in > 9 && args.force';
  const defaults = `{ decision_on_error: ${onError} }`;
  const advice = lint(bundleText(sampleRule('deny', { when }), { defaults }));
  const unguarded = advice.find(({ code }) => code === 'SUB_LINT_UNGUARDED');
  expect(unguarded).toMatchObject({
    position: { line: 11, column: 32 },
    message: `the condition fails where a call has no argument \`force\`, and ${words}`,
    fix: 'Write `has(args.force) && …`, or `has_keys` in `match.args`.',
  });
});

const RAW_PATHS = [
  'args.path.startsWith("/srv/")',
  '!args.file_path.lowerAscii().startsWith("src/")',
  'args.targetFile.matches("^(?:/etc|/root)/")',
  'args.paths.exists(p, p.startsWith("~/.ssh"))',
  'args.uri.startsWith("file:///etc")',
];
const PLAIN_TEXTS = [
  'args.url.startsWith("https://example.com/")',
  'args.file.startsWith("https://example.com/")',
  'args.file_type.startsWith("image/")',
  'args.branch.startsWith("release/")',
  'args.command.startsWith("/usr/bin/git")',
  'args.profile.startsWith("/a")',
  'args.path.matches("\\\\.md$")',
  'args.path.matches("^[^/]+$")',
  'args.path.contains("..")',
  'args.endpoint.startsWith("/api")',
];

test('lint finds paths that are compared as text, and no other texts', () => {
  const found = (condition: string) => {
    const key = /args\.(\w+)/.exec(condition)?.[1] ?? '';
    const rule = sampleRule('deny', { when: `'has(args.${key}) && ${condition}'` });
    return codes(bundleText(rule)).filter((code) => code.startsWith('SUB_LINT_RAW_PATH'));
  };
  expect(RAW_PATHS.filter((condition) => found(condition).length !== 1)).toEqual([]);
  expect(PLAIN_TEXTS.filter((condition) => found(condition).length !== 0)).toEqual([]);
});

test('lint compares the names of tools with those that are pinned for their server', () => {
  const tools = new Map([['github', ['delete_repo', 'get_file']]]);
  const rule = (names: string) => bundleText(sampleRule('deny', { match: `{ ${names} }` }));
  const wrong = rule(
    'server_name: { glob: [github] }, tool_name: { glob: [get_file, delete_repos] }',
  );
  expect(lint(settled(wrong), tools)).toMatchObject([
    {
      code: 'SUB_LINT_UNKNOWN_TOOL',
      path: 'rules[0].match.tool_name.glob[1]',
      message: 'no pinned tool of `github` is called `delete_repos`',
      fix: 'Write `delete_repo` if that is meant; `sub pins list` shows all of them.',
    },
  ]);
  const unknown = [
    'server_name: { glob: [gitlab] }, tool_name: { glob: [delete_repos] }',
    'server_name: { glob: ["git*"] }, tool_name: { glob: [delete_repos] }',
    'server_name: { glob: [github, gitlab] }, tool_name: { glob: [delete_repos] }',
    'server_name: { glob: [github] }, tool_name: { glob: ["delete_*s"] }',
    'tool_name: { glob: [delete_repos] }',
    'server_name: { glob: [github] }, tool_name: { glob: [Delete_Repo], ignore_case: true }',
  ];
  expect(unknown.filter((names) => codes(rule(names), tools).length > 0)).toEqual([]);
  expect(codes(wrong)).toEqual([]);
});

test.each(['budget', 'rate_limit', 'breaker', 'dedupe', 'approval'] as const)(
  'finds a %s rule that an allow exempts or a deny buries',
  (kind) => {
    verifies('IP-2.3');
    const match = SHELL;
    expect(codes(bundleText(sampleRule('allow', { match }) + sampleRule(kind, { match })))).toEqual(
      ['SUB_LINT_EXEMPTED rules[1]'],
    );
    expect(codes(bundleText(sampleRule('deny', { match }) + sampleRule(kind, { match })))).toEqual([
      'SUB_LINT_UNREACHABLE rules[1]',
    ]);
  },
);

test('lint accepts a rule below a disabled rule, a tag or an approval', () => {
  verifies('IP-2.3');
  const above =
    sampleRule('allow', { id: 'off', enabled: false }) + sampleRule('tag') + sampleRule('approval');
  expect(codes(bundleText(above + sampleRule('deny')))).toEqual([
    'SUB_LINT_DISABLED rules[0].enabled',
  ]);
});

test('lint sees that tags between two rules change what the lower one matches', () => {
  const tag = sampleRule('tag', { match: SHELL });
  const first = sampleRule('tag', { id: 'first', match: '{ tool_name: { glob: [rm] } }' });
  const allow = sampleRule('allow', { match: WRITES });
  const budget = sampleRule('budget', { match: WRITES });
  expect(codes(bundleText(first + allow + tag + budget))).toEqual([]);
  expect(codes(bundleText(first + tag + allow + budget))).toEqual(['SUB_LINT_EXEMPTED rules[3]']);
});

test('lint finds a call that costs more than its budget', () => {
  const budget = 'scope: run, limit_cost_units: 2, cost_units_per_call: 3, on_exceed: BLOCK';
  expect(
    codes(bundleText(ruleText({ kind: 'budget', effect: `{ budget: { ${budget} } }` }))),
  ).toEqual(['SUB_LINT_NEVER_PASSES rules[0].effect.budget.limit_cost_units']);
});

test('lint finds hidden text in ids and keys too', () => {
  const [advice] = lint(settled(bundleText(sampleRule('deny', { id: '"x\\_y"' }))));
  expect(advice?.message).toBe('`x\u00a0y` has the invisible character U+00A0 in it');
});

test('lint compares a thousand rules of many values with each other quickly', () => {
  const values = Array.from({ length: 76 }, (_, index) => `v${index}`).join(', ');
  const rules = Array.from({ length: 1_000 }, (_, index) => {
    const match = `{ args: { key_in: { k: [${values}, ${index}] } } }`;
    return sampleRule('deny', { id: `r${index}`, match });
  });
  expect(codes(bundleText(rules.join('')))).toEqual([]);
});

test('lint gives no more than a hundred pieces of advice', () => {
  const rules = Array.from({ length: 150 }, (_, index) =>
    sampleRule('deny', { id: `r${index}`, enabled: false }),
  );
  expect(lint(bundleText(rules.join('')))).toHaveLength(100);
});

const FOLDER = new URL('../../../../examples/policies/', import.meta.url);
const ENGINES = {
  glob: (source: string) => faultOf(compileGlob(source)),
  regex: (source: string) => faultOf(compileRegex(source)),
  when: (source: string) => faultOf(compileWhen(source)),
};

function faultOf(result: {
  readonly ok: boolean;
  readonly message?: string;
}): { readonly message: string } | undefined {
  return result.ok ? undefined : { message: result.message ?? '' };
}

test.each(readdirSync(FOLDER).filter((name) => !name.includes('.test.')))(
  'the example %s is valid, has no findings and refuses by results of the tool',
  (name) => {
    verifies('IP-2.1');
    const bytes = readFileSync(new URL(name, FOLDER));
    const parsed = parseBundle({ file: name, bytes }, { checks: ENGINES });
    const advice = parsed.ok
      ? lintBundle(parsed.bundle, parsed.positionOf, { file: name, nowMs: NOW_MS, parseWhen })
      : [];
    expect([...parsed.problems, ...advice]).toEqual([]);
    // As an error, a refusal does not reach every model with its reason.
    expect(parsed).toHaveProperty('bundle.hint_delivery', 'tool_result');
  },
);
