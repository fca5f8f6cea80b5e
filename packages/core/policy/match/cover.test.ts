import type { Match, Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileGlob } from '../../patterns/glob.ts';
import { compileRegex } from '../../patterns/regex.ts';
import { isAnchored } from '../rules/allow/review.ts';
import { covers, matchesAll, type RuleScope, scopeOf } from './cover.ts';

function scoped(match: Match, when?: string): RuleScope {
  const rule: Rule = {
    rule_id: 'r',
    kind: 'deny',
    enabled: true,
    match,
    ...(when !== undefined && { when }),
    effect: { action: 'BLOCK' },
    severity: 'info',
  };
  return scopeOf(rule);
}

function matchCovers(upper: Match, lower: Match): boolean {
  return covers(scoped(upper), scoped(lower), () => false);
}

const tool = (...glob: string[]): Match => ({ tool_name: { glob } });
const regex = (...patterns: string[]): Match => ({ tool_name: { regex: patterns } });

test.each<[string, Match, Match]>([
  ['an empty match, anything', {}, tool('a')],
  ['a star, anything', tool('*'), {}],
  ['several stars, anything', tool('x', '**'), regex('a')],
  ['a regex for all, anything', regex('.*'), {}],
  ['an anchored regex for all, anything', regex('^.*$'), {}],
  ['the same names, the same', tool('a', 'b'), tool('b', 'a')],
  ['more names, fewer', tool('a', 'b'), tool('a')],
  ['a prefix, what starts with it', tool('git*'), tool('git_push', 'git*', 'gith?b')],
  ['a glob with its star in the middle, a name', tool('a*b'), tool('axb')],
  ['a regex, the same', regex('^a$', 'b'), regex('b')],
  ['more classes, fewer', { risk_class: ['a', 'b'] }, { risk_class: ['a'] }],
  [
    'the same window, spelled in another way',
    { time: { hours: { from: '09:00', to: '18:00' } } },
    { time: { hours: { from: '09:00', to: '18:00', utc_offset: 'Z' } } },
  ],
  ['more hours, fewer', { time: { utc_hours: [1, 2] } }, { time: { utc_hours: [2] } }],
  [
    'fewer parts of a command, more',
    { command: { program: ['rm'] } },
    { command: { program: ['rm'], writes: ['a'] } },
  ],
  [
    'fewer predicates, more',
    { args: { has_keys: ['a'], key_equals: { x: 1 } } },
    { args: { has_keys: ['b', 'a'], key_equals: { x: 1, y: 2 } } },
  ],
])('the upper match covers: %s', (_, upper, lower) => {
  expect(matchCovers(upper, lower)).toBe(true);
});

test.each<[string, Match, Match]>([
  ['a name, anything', tool('a'), {}],
  ['some names, more', tool('a'), tool('a', 'b')],
  ['a prefix, a shorter one', tool('git_*'), tool('git*')],
  ['a class of characters', tool('[ab]*'), tool('[ab]x')],
  ['globs, a regex', tool('a'), regex('^a$')],
  ['a regex for the empty name, anything', regex('^$'), {}],
  ['another regex', regex('^a'), regex('^ab')],
  ['a class, none', { risk_class: ['a'] }, {}],
  [
    'a window, another one',
    { time: { hours: { from: '09:00', to: '18:00' } } },
    { time: { hours: { from: '09:00', to: '19:00' } } },
  ],
  ['a window, the day', { time: { not_hours: { from: '09:00', to: '18:00' } } }, {}],
  ['an hour, the day', { time: { utc_hours: [1] } }, {}],
  ['a predicate, none', { args: { key_equals: { x: 1 } } }, { args: { has_keys: ['x'] } }],
  ['another value', { args: { key_equals: { x: 1 } } }, { args: { key_equals: { x: 2 } } }],
  [
    'a key that is inherited',
    { args: { key_equals: { toString: 1 } } },
    { args: { key_equals: {} } },
  ],
])('the upper match does not cover: %s', (_, upper, lower) => {
  expect(matchCovers(upper, lower)).toBe(false);
});

test('a condition covers only itself', () => {
  expect(covers(scoped({}, 'a'), scoped({}, 'a'), () => false)).toBe(true);
  expect(covers(scoped({}, 'a'), scoped({}), () => false)).toBe(false);
  expect(covers(scoped({}), scoped({}, 'a'), () => false)).toBe(true);
});

test('names that a regex for all takes in may have line breaks', () => {
  const compiled = compileRegex('^.*$');
  expect(compiled.ok && compiled.test('a\nb')).toBe(true);
});

test('a class that is tagged in between is not covered', () => {
  const match = { risk_class: ['w'] };
  expect(covers(scoped(match), scoped(match), (name) => name === 'w')).toBe(false);
});

test('matchesAll knows a match that takes in every call', () => {
  expect([{}, tool('*'), { args: {} }, { time: {} }].map(matchesAll)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([tool('a'), { risk_class: ['a'] }, { args: { has_keys: ['a'] } }].map(matchesAll)).toEqual(
    [false, false, false],
  );
});

test('a comparison never claims that a glob covers a name which it does not match', () => {
  const glob = fc.string({
    unit: fc.constantFrom('a', 'b', '_', '*', '?'),
    minLength: 1,
    maxLength: 4,
  });
  const names = fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 6 });
  fc.assert(
    fc.property(glob, glob, names, (upper, lower, name) => {
      fc.pre(matchCovers(tool(upper), tool(lower)) && globFits(lower, name));
      expect(globFits(upper, name)).toBe(true);
    }),
  );
});

function globFits(glob: string, name: string): boolean {
  const compiled = compileGlob(glob);
  return compiled.ok && compiled.test(name);
}

test.each([
  '^a$',
  '^(a|b)$',
  '(?i)^read_.*$',
  '\\Aa\\z',
  '^[|]$',
  '^[]|]$',
  '^a\\|b$',
  '^a\\\\$',
  '(?i-m)^a$',
  '(?-s)^a$',
  '^(\\(?m)$',
])('the regex %s is anchored', (pattern) => {
  expect(isAnchored(pattern)).toBe(true);
});

test.each([
  ...['a', '^a', 'a$', '^a|b$', '^(a)|(b)$', '^a\\$', '^[a]|[b]$', ''],
  ...['(?m)^a$', '(?im)^a$', '(?m-s)^a$', '^(?m:a$)', '^(b(?ims)a)$', '^a\\Q$'],
])('the regex %s is not anchored', (pattern) => {
  expect(isAnchored(pattern)).toBe(false);
});

test('an anchored regex never matches a name with something around it', () => {
  const piece = fc.constantFrom('a', 'b', '|', '(a|b)', '^', '$', '\\$', '[|]', '(?:a)');
  const pattern = fc.array(piece, { maxLength: 5 }).map((parts) => `^${parts.join('')}$`);
  fc.assert(
    fc.property(pattern, fc.constantFrom('a', 'ab', 'b', '|', '$'), (source, name) => {
      const compiled = compileRegex(source);
      fc.pre(compiled.ok && isAnchored(source));
      const around = compiled.ok && compiled.test(`zz${name}`);
      expect(around).toBe(false);
    }),
  );
});
