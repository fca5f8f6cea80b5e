import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { bundleText, NO_CHECKS, ruleText, sampleRule } from '../testing/sample-bundle.ts';
import type { PatternChecks } from './check-patterns.ts';
import { parseBundle } from './parse.ts';

/** Each problem with its line, and with what stands there from its column on. */
function problems(text: string, checks: PatternChecks = NO_CHECKS): readonly string[] {
  const lines = text.split('\n');
  return parseBundle({ file: 'p.yaml', text }, { checks }).problems.map(
    ({ code, position, path, message }) => {
      const there = lines[position.line - 1]?.slice(position.column - 1).slice(0, 9);
      return `${code} ${position.line} «${there}» ${path}: ${message}`;
    },
  );
}

function rule(kind: string, effect: string): string {
  return bundleText(ruleText({ kind, effect }));
}

test('the parser refuses a rule_id that is taken', () => {
  verifies('IP-2.3');
  const text = bundleText(sampleRule('deny', { id: 'a' }) + sampleRule('allow', { id: 'a' }));
  expect(problems(text)).toEqual([
    'SUB_BUNDLE_DUPLICATE_RULE 13 «a» rules[1].rule_id: the rule_id `a` is already taken by rules[0]',
  ]);
});

test('rule ids that differ in case are different', () => {
  expect(
    problems(bundleText(sampleRule('deny', { id: 'a' }) + sampleRule('allow', { id: 'A' }))),
  ).toEqual([]);
});

test.each([
  [
    '{ hours: { from: "9:00", to: "18:00" } }',
    '«"9:00", t» rules[0].match.time.hours.from',
    'from',
  ],
  [
    '{ not_hours: { from: "09:00", to: "09:00" } }',
    '«"09:00" }» rules[0].match.time.not_hours.to',
    'to',
  ],
  [
    '{ hours: { from: "09:00", to: "18:00", utc_offset: CET } }',
    '«CET } } }» rules[0].match.time.hours.utc_offset',
    'utc_offset',
  ],
])('the parser refuses the window %s', (time, place, field) => {
  const text = bundleText(sampleRule('deny', { match: `{ time: ${time} }` }));
  const [found = ''] = problems(text);
  expect(found).toContain(`${place}: \`${field}\` is no time of this form`);
});

const RATE = 'scope: run, capacity: 5, refill_tokens: 1, refill_period_ms: 1000';

test.each([
  [
    'a budget without a limit',
    rule('budget', '{ budget: { scope: run, on_exceed: BLOCK } }'),
    'SUB_BUNDLE_MISSING_FIELD 11 «{ scope: » rules[0].effect.budget: a budget needs `limit_calls`, `limit_cost_units` or, for turns, `limit_usd`',
  ],
  [
    'THROTTLE without a backoff',
    rule('rate_limit', `{ rate_limit: { ${RATE}, on_limit: THROTTLE } }`),
    'SUB_BUNDLE_MISSING_FIELD 11 «{ scope: » rules[0].effect.rate_limit: THROTTLE needs `backoff_ms`: how long the agent should wait',
  ],
  [
    'a call that costs more than the bucket holds',
    rule('rate_limit', `{ rate_limit: { ${RATE}, on_limit: BLOCK, cost_tokens_per_call: 6 } }`),
    'SUB_BUNDLE_CONFLICT 11 «6 } }» rules[0].effect.rate_limit.cost_tokens_per_call: one call costs 6 tokens, but the bucket holds 5: none ever passes',
  ],
  [
    'a breaker without a threshold',
    rule('breaker', '{ breaker: { scope: run, on_trip: BLOCK } }'),
    'SUB_BUNDLE_MISSING_FIELD 11 «{ scope: » rules[0].effect.breaker: a breaker needs `error_threshold` with `window_ms`, or `repeat_threshold` with `repeat_window_ms`',
  ],
  [
    'a threshold without a window',
    rule('breaker', '{ breaker: { scope: run, error_threshold: 3, on_trip: BLOCK } }'),
    'SUB_BUNDLE_CONFLICT 11 «3, on_tri» rules[0].effect.breaker.error_threshold: `error_threshold` needs `window_ms`',
  ],
  [
    'half of a second pair',
    rule(
      'breaker',
      '{ breaker: { scope: run, error_threshold: 3, window_ms: 9, repeat_window_ms: 9, on_trip: BLOCK } }',
    ),
    'SUB_BUNDLE_CONFLICT 11 «9, on_tri» rules[0].effect.breaker.repeat_window_ms: `repeat_window_ms` needs `repeat_threshold`',
  ],
  [
    'a terminate_code that ends nothing',
    rule(
      'breaker',
      '{ breaker: { scope: run, error_threshold: 3, window_ms: 9, on_trip: BLOCK, terminate_code: X } }',
    ),
    'SUB_BUNDLE_CONFLICT 11 «X } }» rules[0].effect.breaker.terminate_code: `terminate_code` has no meaning with `on_trip: BLOCK`',
  ],
  [
    'a range upside down',
    bundleText(
      sampleRule('deny', { match: '{ args: { numeric_range: { n: { min: 2, max: 1 } } } }' }),
    ),
    'SUB_BUNDLE_CONFLICT 10 «2, max: 1» rules[0].match.args.numeric_range.n.min: `min` 2 is greater than `max` 1',
  ],
  [
    'a range without ends',
    bundleText(sampleRule('deny', { match: '{ args: { numeric_range: { n: {} } } }' })),
    'SUB_BUNDLE_MISSING_FIELD 10 «{} } } }» rules[0].match.args.numeric_range.n: a range needs `min`, `max` or both',
  ],
  [
    'a clamp upside down',
    rule('deny', '{ action: BLOCK, hint: { suggest: { clamp: { "a b": { min: 2, max: 1 } } } } }'),
    'SUB_BUNDLE_CONFLICT 11 «2, max: 1» rules[0].effect.hint.suggest.clamp["a b"].min: `min` 2 is greater than `max` 1',
  ],
  [
    'a name match without patterns',
    bundleText(sampleRule('deny', { match: '{ server_name: {} }' })),
    'SUB_BUNDLE_MISSING_FIELD 10 «{} }» rules[0].match.server_name: `server_name` has neither `glob` nor `regex`',
  ],
  [
    'a hint in two places',
    rule(
      'budget',
      '{ budget: { scope: run, limit_calls: 1, on_exceed: REJECT_WITH_HINT, hint_text: a }, hint: { hint_text: b } }',
    ),
    'SUB_BUNDLE_CONFLICT 11 «b } }» rules[0].effect.hint.hint_text: `hint_text` is given twice, here and in `effect.budget`',
  ],
])('the parser refuses %s', (_, text, problem) => {
  verifies('IP-2.3', 'IP-2.4');
  expect(problems(text)).toEqual([problem]);
});

test('a rule with an empty name and an empty any_arg has two problems', () => {
  const match = '{ server_name: {}, any_arg: { ignore_case: true } }';
  expect(problems(bundleText(sampleRule('deny', { match })))).toEqual([
    expect.stringContaining('`server_name` has neither `glob` nor `regex`'),
    expect.stringContaining('`any_arg` has nothing to look for'),
  ]);
});

test.each([
  ['deny', '{}', '`command` has nothing to look for'],
  ['allow', '{ writes: ["src/**"] }', 'an `allow` rule about commands needs `program`'],
  ['allow', '{ opaque: true }', 'an `allow` rule never matches a command that is not understood'],
] as const)('a %s by the command %s is refused', (kind, command, problem) => {
  expect(problems(bundleText(sampleRule(kind, { match: `{ command: ${command} }` })))).toEqual([
    expect.stringContaining(problem),
  ]);
});

test.each(["'args.command.size() > 1 && command.opaque'", 'dyn(command).opaque'])(
  'the condition %s is refused where commands are not read',
  (when) => {
    expect(problems(bundleText(sampleRule('deny', { when })))).toEqual([
      expect.stringContaining('a condition about `command` needs `match.command`'),
    ]);
  },
);

test.each(['args.command.size() > 1', `args.file == "command.com" || args["command"] == 'a'`])(
  'the condition %s is not about commands',
  (when) => expect(problems(bundleText(sampleRule('deny', { when })))).toEqual([]),
);

test('the id of the rule that a policy about commands implies is not for others', () => {
  expect(problems(bundleText(sampleRule('deny', { id: '"commands:opaque"' })))).toEqual([
    expect.stringContaining('starts with `commands:`'),
  ]);
});

test.each([
  [
    'equal ends of a range',
    bundleText(
      sampleRule('deny', { match: '{ args: { numeric_range: { n: { min: 1, max: 1 } } } }' }),
    ),
  ],
  [
    'a budget by cost only',
    rule('budget', '{ budget: { scope: run, limit_cost_units: 9, on_exceed: BLOCK } }'),
  ],
  [
    'a breaker by repeats only',
    rule(
      'breaker',
      '{ breaker: { scope: run, repeat_threshold: 2, repeat_window_ms: 9, on_trip: BLOCK } }',
    ),
  ],
  [
    'a call that costs the whole bucket',
    rule('rate_limit', `{ rate_limit: { ${RATE}, on_limit: BLOCK, cost_tokens_per_call: 5 } }`),
  ],
  [
    'a hint beside the limits',
    rule(
      'budget',
      '{ budget: { scope: run, limit_calls: 1, on_exceed: BLOCK }, hint: { hint_text: b } }',
    ),
  ],
])('the parser accepts %s', (_, text) => {
  expect(problems(text)).toEqual([]);
});

test('the parser checks rules of the right shape even when another is wrong', () => {
  const text = bundleText(
    ruleText({ id: 'a', kind: 'nothing', effect: '{}' }) +
      ruleText({ id: 'a', kind: 'budget', effect: '{ budget: { scope: run, on_exceed: BLOCK } }' }),
  );
  expect(problems(text).map((problem) => problem.split(' ', 1)[0])).toEqual([
    'SUB_BUNDLE_UNKNOWN_KIND',
    'SUB_BUNDLE_DUPLICATE_RULE',
    'SUB_BUNDLE_MISSING_FIELD',
  ]);
});

const PICKY: PatternChecks = {
  regex: (source) =>
    source.includes('(?=') ? { message: 'lookahead is not supported' } : undefined,
  glob: (source) =>
    source.endsWith('[')
      ? { message: 'a `[` without its `]`', offset: source.length - 1 }
      : undefined,
  when: (source) => {
    const offset = source.indexOf('§');
    return offset === -1 ? undefined : { message: 'unexpected sign\nat the end', offset };
  },
};

test('the engines check every pattern', () => {
  const match = '{ server_name: { glob: ["ok", "a["] }, tool_name: { regex: ["x", "(?=y)"] } }';
  const text = bundleText(sampleRule('deny', { match, when: 'a == §' }));
  expect(problems(text, PICKY)).toEqual([
    'SUB_BUNDLE_GLOB 10 «["] }, to» rules[0].match.server_name.glob[1]: invalid glob `a[`: a `[` without its `]`',
    'SUB_BUNDLE_REGEX 10 «"(?=y)"] » rules[0].match.tool_name.regex[1]: invalid regex `(?=y)`: lookahead is not supported',
    'SUB_BUNDLE_WHEN 11 «§» rules[0].when: invalid condition: unexpected sign',
  ]);
});

test.each([
  ['single quotes', "'a == §'", "11 «§'»"],
  ['double quotes with escapes', '"a == \\"\\u0041\\U0001F600\\" + §"', '11 «§"»'],
  ['a literal block', '|\n      a == 1 &&\n\n        b == §', '14 «§»'],
  ['a literal block with CRLF', '|\r\n      a == 1 &&\r\n      b == §', '13 «§»'],
  ['a folded block, at its start', '>\n      a == 1 &&\n      b == §', '11 «>»'],
  ['doubled quotes, at its start', "'a == ''x'' §'", "11 «'a == ''x»"],
])('the parser finds the place of an error inside %s', (_, when, place) => {
  const text = bundleText(sampleRule('deny', { when }));
  expect(problems(text, PICKY)).toEqual([
    `SUB_BUNDLE_WHEN ${place} rules[0].when: invalid condition: unexpected sign`,
  ]);
});

test('the parser bounds the number of regexes, and checks each only once', () => {
  let asked = 0;
  const counting: PatternChecks = { ...NO_CHECKS, regex: () => void asked++ };
  const regexes = Array.from({ length: 1_000 }, (_, index) => `r${index}`).join(', ');
  const withRegexes = (id: string, list: string) =>
    sampleRule('deny', { id, match: `{ tool_name: { regex: [${list}] } }` });
  const most = withRegexes('a', regexes) + withRegexes('b', regexes);
  expect(problems(bundleText(most), counting)).toEqual([]);
  expect(asked).toBe(1_000);
  expect(problems(bundleText(most + withRegexes('c', 'one-more')), counting)).toEqual([
    'SUB_BUNDLE_TOO_LARGE 22 «one-more]» rules[2].match.tool_name.regex[0]: more than 1000 different regexes and conditions, large ones counted as several',
  ]);
});

test.each([
  [
    'patterns inside conditions',
    (id: number) => `${'identity.env.matches("x") || '.repeat(99)}${id} == 1`,
  ],
  ['large patterns', (id: number) => `identity.env.matches("x{1,1000}y{1,900}") || ${id} == 1`],
])('the bound on regexes counts %s, which take as long to compile', (_, whenOf) => {
  const rules = (count: number) => {
    const all = Array.from({ length: count }, (__, id) => {
      return sampleRule('deny', { id: `r${id}`, when: `'${whenOf(id)}'` });
    });
    return problems(bundleText(all.join('')), NO_CHECKS);
  };
  expect(rules(8)).toEqual([]);
  expect(rules(200)).toEqual([expect.stringMatching(/^SUB_BUNDLE_TOO_LARGE .* more than 1000 /)]);
});
