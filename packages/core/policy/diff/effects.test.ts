import { check, type Match, RULE, type Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import type { Effect } from '../changes/change.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { diffBundles } from './diff.ts';

const EFFECTS = {
  allow: { action: 'ALLOW' },
  deny: { action: 'BLOCK' },
  budget: { scope: 'run', limit_calls: 5, on_exceed: 'BLOCK' },
  rate_limit: {
    scope: 'run',
    capacity: 5,
    refill_tokens: 1,
    refill_period_ms: 1_000,
    on_limit: 'THROTTLE',
    backoff_ms: 10,
  },
  breaker: { scope: 'run', error_threshold: 3, window_ms: 1_000, on_trip: 'BLOCK' },
  dedupe: { scope: 'run', window_ms: 1_000, key: 'args_hash', on_duplicate: 'BLOCK' },
  approval: { wait: 'hold' },
  tag: { add_risk_class: ['write_like'] },
} as const;
type Kind = keyof typeof EFFECTS;

/** A rule with `parts` laid over the section of its effect that bears its kind. */
function ruleOf(kind: Kind, parts: object = {}, around: object = {}): Rule {
  const section = { ...EFFECTS[kind], ...parts };
  const effect = kind === 'allow' || kind === 'deny' ? section : { [kind]: section };
  const rule: unknown = JSON.parse(
    JSON.stringify({
      rule_id: 'r',
      kind,
      enabled: true,
      severity: 'warn',
      match: {},
      effect,
      ...around,
    }),
  );
  if (!isRule(rule)) throw new Error(`no rule: ${JSON.stringify(check(RULE, rule))}`);
  return rule;
}

function isRule(value: unknown): value is Rule {
  return check(RULE, value).length === 0;
}

function effectsOf(before: readonly Rule[], after: readonly Rule[]) {
  const policy = (version: string, rules: readonly Rule[]) =>
    normalizeBundle({
      policy_id: 'p',
      version,
      mode: 'control',
      defaults: { decision_on_error: 'BLOCK' },
      selectors: {},
      rules,
    });
  const { changes } = diffBundles(policy('1', before), policy('2', after));
  return changes.filter(({ path }) => path !== 'version').map(({ path, effect }) => [path, effect]);
}

const REVERSED = {
  loosens: 'tightens',
  tightens: 'loosens',
  mixed: 'mixed',
  alters: 'alters',
  none: 'none',
} as const;

describe('the effect of a rule', () => {
  it.each<[Kind, object, object, Effect]>([
    ['budget', {}, { limit_calls: 6 }, 'loosens'],
    ['budget', {}, { limit_calls: undefined }, 'loosens'],
    ['budget', {}, { limit_cost_units: 9 }, 'tightens'],
    ['budget', {}, { cost_units_per_call: 2 }, 'none'],
    ['budget', { limit_cost_units: 9 }, { cost_units_per_call: 2 }, 'tightens'],
    ['budget', {}, { on_exceed: 'REJECT_WITH_HINT' }, 'loosens'],
    ['budget', {}, { on_exceed: 'TERMINATE_RUN' }, 'tightens'],
    ['budget', {}, { scope: 'tool' }, 'loosens'],
    ['budget', { scope: 'tool' }, { scope: 'server_tool' }, 'loosens'],
    ['budget', {}, { hint_text: 'Stop.' }, 'none'],
    ['rate_limit', {}, { capacity: 6 }, 'loosens'],
    ['rate_limit', {}, { refill_tokens: 2 }, 'loosens'],
    ['rate_limit', {}, { refill_period_ms: 2_000 }, 'tightens'],
    ['rate_limit', {}, { cost_tokens_per_call: 2 }, 'tightens'],
    ['rate_limit', {}, { on_limit: 'REJECT_WITH_HINT' }, 'tightens'],
    ['rate_limit', {}, { scope: 'server_tool' }, 'loosens'],
    ['rate_limit', {}, { backoff_ms: 20 }, 'alters'],
    ['breaker', {}, { error_threshold: 4 }, 'loosens'],
    ['breaker', {}, { window_ms: 2_000 }, 'tightens'],
    ['breaker', {}, { on_trip: 'REJECT_WITH_HINT' }, 'loosens'],
    ['breaker', {}, { scope: 'tool' }, 'loosens'],
    ['breaker', { repeat_threshold: 3, repeat_window_ms: 9 }, { scope: 'tool' }, 'mixed'],
    ['breaker', { repeat_threshold: 3, repeat_window_ms: 9 }, { repeat_threshold: 4 }, 'loosens'],
    ['breaker', { repeat_threshold: 3, repeat_window_ms: 9 }, { repeat_window_ms: 10 }, 'tightens'],
    ['breaker', {}, { terminate_code: 'STUCK' }, 'alters'],
    ['dedupe', {}, { window_ms: 2_000 }, 'tightens'],
    ['dedupe', {}, { on_duplicate: 'REJECT_WITH_HINT' }, 'loosens'],
    ['dedupe', {}, { scope: 'tool' }, 'tightens'],
    ['dedupe', {}, { scope: 'server_tool' }, 'none'],
    ['approval', {}, { wait: 'hint' }, 'alters'],
    ['approval', {}, { timeout_ms: 1 }, 'alters'],
    ['tag', {}, { add_risk_class: ['read_like'] }, 'alters'],
  ])('of kind %s with %j changes by %j: %s', (kind, given, edit, effect) => {
    verifies('SL-9.4', 'SL-9.2');
    const [field] = Object.keys(edit);
    const path = `rules[r].effect.${kind}.${field}`;
    const before = [ruleOf(kind, given)];
    const after = [ruleOf(kind, { ...given, ...edit })];
    expect(effectsOf(before, after)).toEqual([[path, effect]]);
    expect(effectsOf(after, before)).toEqual([[path, REVERSED[effect]]]);
  });

  it.each<[object, object, Effect]>([
    [{ message: 'No.' }, { message: 'Never.' }, 'none'],
    [{}, { reason_code: 'HOUSE_RULE' }, 'alters'],
    [{}, { hint: { hint_text: 'Ask.' } }, 'alters'],
    [{ hint: { hint_text: 'Ask.' } }, { hint: { hint_text: 'Wait.', retry_advice: 'x' } }, 'none'],
    [
      { hint: { hint_text: 'Ask.' } },
      { hint: { hint_text: 'Ask.', suggest: { drop: ['x'] } } },
      'alters',
    ],
  ])('of kind deny with %j changes to %j: %s', (given, edit, effect) => {
    const changes = effectsOf([ruleOf('deny', given)], [ruleOf('deny', edit)]);
    expect(changes.map(([, one]) => one)).toEqual([effect]);
  });

  it('of a breaker that starts to watch repeats tightens', () => {
    const after = [ruleOf('breaker', { repeat_threshold: 3, repeat_window_ms: 9 })];
    expect(effectsOf([ruleOf('breaker')], after).map(([, effect]) => effect)).toEqual([
      'tightens',
      'tightens',
    ]);
  });
});

const glob = (...names: string[]) => ({ tool_name: { glob: names } });
const args = (parts: Match['args']): Match => ({ ...(parts && { args: parts }) });

const DAYTIME = { from: '09:00', to: '18:00' };
const MORNING = { from: '09:00', to: '12:00', utc_offset: 'UTC' };

const NARROWED: readonly [string, Match, Match][] = [
  ['a list of tools where all were meant', {}, glob('a')],
  ['a glob less', glob('a', 'b'), glob('a')],
  ['a literal in place of its glob', glob('git_*'), glob('git_push')],
  ['a longer glob', glob('git_*'), glob('git_pu*', 'git_*_all')],
  ['an expression less', { server_name: { regex: ['a', 'b'] } }, { server_name: { regex: ['a'] } }],
  ['a class less', { risk_class: ['a', 'b'] }, { risk_class: ['a'] }],
  ['a class asked for', {}, { risk_class: ['a'] }],
  ['a key more', args({ has_keys: ['a'] }), args({ has_keys: ['a', 'b'] })],
  ['an exact value', {}, args({ key_equals: { a: 1 } })],
  ['a listed value less', args({ key_in: { a: [1, 2] } }), args({ key_in: { a: [1] } })],
  [
    'a lower end',
    args({ numeric_range: { a: { max: 9 } } }),
    args({ numeric_range: { a: { max: 5 } } }),
  ],
  [
    'a range',
    args({ numeric_range: { a: { max: 9 } } }),
    args({ numeric_range: { a: { min: 0, max: 9 } } }),
  ],
  ['an hour less', { time: { utc_hours: [1, 2] } }, { time: { utc_hours: [2] } }],
  ['a shorter window', { time: { hours: DAYTIME } }, { time: { hours: MORNING } }],
  [
    'the same hours on fewer days',
    { time: { hours: DAYTIME } },
    { time: { hours: { ...DAYTIME, days: ['mon'] } } },
  ],
  ['a longer window left out', { time: { not_hours: MORNING } }, { time: { not_hours: DAYTIME } }],
];
const DIFFERENT: readonly [string, Match, Match][] = [
  ['another glob', glob('a'), glob('b')],
  ['globs that neither covers', glob('a*'), glob('*b')],
  ['another exact value', args({ key_equals: { a: 1 } }), args({ key_equals: { a: 2 } })],
  [
    'a range elsewhere',
    args({ numeric_range: { a: { max: 9 } } }),
    args({ numeric_range: { a: { min: 5 } } }),
  ],
  ['one key for another', args({ has_keys: ['a'] }), args({ has_keys: ['b'] })],
];

describe('the match of a rule', () => {
  const below = ruleOf('deny', {}, { rule_id: 'below' });
  const judged = (kind: Kind, before: object, after: object) =>
    effectsOf([ruleOf(kind, {}, before), below], [ruleOf(kind, {}, after), below]).map(
      ([, effect]) => effect,
    );

  it.each(NARROWED)('is narrowed by %s', (_name, before, after) => {
    verifies('SL-9.4', 'IP-2.4');
    expect(judged('deny', { match: before }, { match: after })).toEqual(['loosens']);
    expect(judged('deny', { match: after }, { match: before })).toEqual(['tightens']);
    expect(judged('allow', { match: before }, { match: after })).toEqual(['tightens']);
    expect(judged('allow', { match: after }, { match: before })).toEqual(['loosens']);
    // Nobody reads the tag; but a rule that starts to look at arguments starts to fail without them.
    const fails = before.args === undefined && after.args !== undefined;
    const tagged = judged('tag', { match: before }, { match: after });
    expect(tagged).toEqual([fails ? 'tightens' : 'alters']);
  });

  it.each(DIFFERENT)('is altered by %s', (_name, before, after) => {
    for (const kind of ['deny', 'allow', 'tag'] as const) {
      expect(judged(kind, { match: before }, { match: after })).toEqual(['alters']);
    }
  });

  it.each<[string, Match, Match]>([
    ['the glob for all', {}, glob('*')],
    ['a glob that another covers', glob('git_*'), glob('git_*', 'git_push')],
  ])('means the same with %s', (_name, before, after) => {
    expect(judged('deny', { match: before }, { match: after })).toEqual(['none']);
  });

  it('is narrowed by a condition, and altered by another one', () => {
    expect(judged('deny', {}, { when: 'true' })).toEqual(['loosens']);
    expect(judged('deny', { when: 'true' }, {})).toEqual(['tightens']);
    expect(judged('deny', { when: 'true' }, { when: 'false' })).toEqual(['alters']);
    expect(judged('allow', {}, { when: 'true' })).toEqual(['tightens']);
  });

  it('does not matter for an allow with nothing to shield from', () => {
    const before = [ruleOf('allow')];
    expect(effectsOf(before, [ruleOf('allow', {}, { match: glob('a') })])).toEqual([
      ['rules[r].match.tool_name', 'none'],
    ]);
  });
});

describe('a change of what a deny sees in paths, texts and subjects', () => {
  const paths = (patterns: readonly string[]): Match => ({ any_arg: { path_matches: patterns } });
  const outside = (folders: readonly string[]): Match => ({
    args: { not_path_under: { path: folders } },
  });
  const runs = (program: readonly string[]): Match => ({ command: { program } });
  const writesTo = (not_writes_under: readonly string[]): Match => ({
    command: { not_writes_under },
  });
  it.each<[string, Match, Match, Effect]>([
    ['one more path', paths(['**/.env']), paths(['**/.env', '*.pem']), 'tightens'],
    ['one path less', paths(['**/.env', '*.pem']), paths(['**/.env']), 'loosens'],
    ['another path', paths(['**/.env']), paths(['*.pem']), 'alters'],
    ['one more folder to stay in', outside(['src']), outside(['src', 'docs']), 'loosens'],
    ['one folder less to stay in', outside(['src', 'docs']), outside(['src']), 'tightens'],
    [
      'any case',
      { any_arg: { glob: ['a'] } },
      { any_arg: { glob: ['a'], ignore_case: true } },
      'tightens',
    ],
    ['one more program', runs(['rm']), runs(['rm', 'git push*']), 'tightens'],
    [
      'no program any more',
      { command: { program: ['rm'], hosts: ['*'] } },
      { command: { hosts: ['*'] } },
      'tightens',
    ],
    ['one more folder to write to', writesTo(['src']), writesTo(['docs', 'src']), 'loosens'],
    ['resources as well', {}, { subjects: ['tool', 'resource'] }, 'tightens'],
    ['resources instead', {}, { subjects: ['resource'] }, 'alters'],
    ['the default written out', {}, { subjects: ['tool'] }, 'none'],
  ])('is judged: %s', (_, before, after, expected) => {
    const effects = effectsOf(
      [ruleOf('deny', {}, { match: before })],
      [ruleOf('deny', {}, { match: after })],
    );
    const found = effects.map(([, effect]) => effect);
    expect(found).toEqual(expected === 'none' ? [] : [expected]);
  });
});
