import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import type { Problem } from '../problem.ts';
import { BYTES_MAX, readSource, type SourceResult } from './source.ts';
import { valueOf } from './tree.ts';

function read(text: string): unknown {
  const result = readSource({ file: 'p.yaml', text });
  return result.ok ? valueOf(result.tree) : placesIn(result);
}

/** Each problem as its code and place. */
function placesIn(result: SourceResult): readonly string[] {
  return result.ok ? [] : result.problems.map(formatted);
}

function formatted({ code, position }: Problem): string {
  return `${code} ${position.line}:${position.column}`;
}

function messages(text: string): readonly string[] {
  const result = readSource({ file: 'p.yaml', text });
  return result.ok ? [] : result.problems.map(({ message }) => message);
}

test('reads YAML and JSON into the same value', () => {
  verifies('IP-2.1');
  const json = '{\n\t"a": [1, -2.5, 1e3, true, null, "x\\n\\u00e9\\/"],\n\t"b": {"c": {}}\n}\n';
  const yaml = 'a:\n- 1\n- -2.5\n- 1e3\n- true\n- null\n- "x\\né/"\nb:\n  c: {}\n';
  expect(read(yaml)).toEqual(JSON.parse(json));
  expect(read(json)).toEqual(JSON.parse(json));
});

test('reads by the core schema of YAML 1.2', () => {
  const text = 'a: yes\nb: 012\nc: 0x1f\nd: 1_000\ne: 2026-01-31\nf: ~\ng:\nh: -0\ni: 0o17';
  const value = {
    a: 'yes',
    b: 12,
    c: 31,
    d: '1_000',
    e: '2026-01-31',
    f: null,
    g: null,
    h: 0,
    i: 15,
  };
  expect(read(text)).toStrictEqual(value);
});

test.each([
  ['CRLF', 'a: 1\r\nb:\r\n  - x\r\n'],
  ['a byte order mark', '\uFEFFa: 1\nb: [x]\n'],
  ['comments', '# top\na: 1 # one\n# between\nb: [x]\n# end\n'],
  ['a document start', '---\na: 1\nb: [x]\n...\n'],
  ['anchors', 'a: 1\nb: &l [x]\n'],
  ['core tags', 'a: !!int "1"\nb: !!seq [!!str x]\n'],
  ['explicit keys', '? a\n: 1\n? b\n: - x\n'],
])('accepts %s', (_, text) => {
  expect(read(text)).toEqual({ a: 1, b: ['x'] });
});

test('resolves aliases', () => {
  expect(read('a: &x [1, &y {k: v}]\nb: *x\nc: *y')).toEqual({
    a: [1, { k: 'v' }],
    b: [1, { k: 'v' }],
    c: { k: 'v' },
  });
});

test.each([
  ['an empty file', '', 'SUB_BUNDLE_SYNTAX 1:1'],
  ['only comments', '# nothing\n\n', 'SUB_BUNDLE_SYNTAX 1:1'],
  ['a second document', 'a: 1\n---\nb: 2\n', 'SUB_BUNDLE_SYNTAX 2:1'],
  ['a directive', '%YAML 1.1\n---\na: yes\n', 'SUB_BUNDLE_SYNTAX 1:1'],
  ['an unclosed bracket', 'a: [1, 2\n', 'SUB_BUNDLE_SYNTAX 2:1'],
  ['an unclosed quote', 'a: "x', 'SUB_BUNDLE_SYNTAX 1:6'],
  ['a tab as indentation', 'a:\n\tb: 1\n', 'SUB_BUNDLE_SYNTAX 2:1'],
  ['a bad escape', 'a: "\\d"', 'SUB_BUNDLE_SYNTAX 1:5'],
  ['a duplicate key', 'a: 1\nb: 2\na: 3\n', 'SUB_BUNDLE_DUPLICATE_KEY 3:1'],
  ['a duplicate key deep down', 'a:\n  - {k: 1, "k": 2}\n', 'SUB_BUNDLE_DUPLICATE_KEY 2:12'],
  ['a merge key', 'a: &x {k: 1}\nb:\n  <<: *x\n', 'SUB_BUNDLE_SYNTAX 3:3'],
  ['a number as key', '1: a\n', 'SUB_BUNDLE_TYPE 1:1'],
  ['a truth value as key', 'true: a\n', 'SUB_BUNDLE_TYPE 1:1'],
  ['an empty key', 'a: 1\n: b\n', 'SUB_BUNDLE_TYPE 2:1'],
  ['a list as key', '? [a]\n: b\n', 'SUB_BUNDLE_TYPE 1:3'],
  ['an alias as key', 'a: &x k\n*x : b\n', 'SUB_BUNDLE_SYNTAX 2:1'],
  ['a custom tag', 'a: !secret x\n', 'SUB_BUNDLE_SYNTAX 1:4'],
  ['a tag for a set', 'a: !!set {b}\n', 'SUB_BUNDLE_SYNTAX 1:10'],
  ['an unknown alias', 'a: *x\n', 'SUB_BUNDLE_SYNTAX 1:4'],
  ['an alias before its anchor', 'a: *x\nb: &x 1\n', 'SUB_BUNDLE_SYNTAX 1:4'],
  ['an alias in its own anchor', 'a: &x [*x]\n', 'SUB_BUNDLE_SYNTAX 1:8'],
  ['an integer beyond 2^53', 'a: 9007199254740992\n', 'SUB_BUNDLE_VALUE 1:4'],
  ['a negative integer beyond 2^53', 'a: -9007199254740993\n', 'SUB_BUNDLE_VALUE 1:4'],
  ['an integer in exponents', 'a: 1e300\n', 'SUB_BUNDLE_VALUE 1:4'],
  ['an infinite number', 'a: [.inf]\n', 'SUB_BUNDLE_VALUE 1:5'],
  ['a number that overflows', 'a: 1e999\n', 'SUB_BUNDLE_VALUE 1:4'],
  ['no number', 'a: .nan\n', 'SUB_BUNDLE_VALUE 1:4'],
  ['a control character', 'a: x\nb: \u0000\n', 'SUB_BUNDLE_ENCODING 2:4'],
  ['an escape sequence for terminals', 'a: \u001b[31m\n', 'SUB_BUNDLE_ENCODING 1:4'],
  ['text that shows in another order', 'a: "x\u202Ey"\n', 'SUB_BUNDLE_ENCODING 1:6'],
  ['half of a surrogate pair', 'a: \ud83d\n', 'SUB_BUNDLE_ENCODING 1:4'],
  ['half of a pair as an escape', 'a: "\\ud83d"\n', 'SUB_BUNDLE_ENCODING 1:4'],
])('refuses %s', (_, text, problem) => {
  expect(read(text)).toEqual([problem]);
});

test('accepts the largest exact integers and whole surrogate pairs', () => {
  expect(read('a: 9007199254740991\nb: -9007199254740991\nc: "\\ud83d\\ude00"')).toEqual({
    a: 9007199254740991,
    b: -9007199254740991,
    c: '😀',
  });
});

test('reports several errors at once, in the order of the file', () => {
  expect(read('a: 1\na: 2\nb: .nan\nc: *x\n')).toEqual([
    'SUB_BUNDLE_DUPLICATE_KEY 2:1',
    'SUB_BUNDLE_VALUE 3:4',
    'SUB_BUNDLE_SYNTAX 4:4',
  ]);
});

test('points at the byte that is not UTF-8', () => {
  const bytes = Uint8Array.from([...Buffer.from('a: é\nbé: '), 0xff, 0x0a]);
  const result = readSource({ file: 'p.yaml', bytes });
  expect(placesIn(result)).toEqual(['SUB_BUNDLE_ENCODING 2:5']);
});

test('bounds the size in bytes', () => {
  const fits = Buffer.from(`a: ${'x'.repeat(BYTES_MAX - 3)}`);
  expect(readSource({ file: 'p.yaml', bytes: fits }).ok).toBe(true);
  const result = readSource({ file: 'p.yaml', bytes: Buffer.concat([fits, Buffer.from('x')]) });
  expect(placesIn(result)).toEqual(['SUB_BUNDLE_TOO_LARGE 1:1']);
});

test.each([
  ['flow lists', (depth: number) => '['.repeat(depth) + ']'.repeat(depth)],
  ['block lists', (depth: number) => `${'- '.repeat(depth - 1)}[]`],
  ['aliases', (depth: number) => `- &a ${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}\n- [*a]`],
])('bounds the depth of %s', (_, nested) => {
  expect(readSource({ file: 'p.yaml', text: nested(64) }).ok).toBe(true);
  expect(read(nested(65))).toEqual([expect.stringMatching(/^SUB_BUNDLE_TOO_DEEP [12]:\d+$/)]);
});

test('bounds what aliases expand to', () => {
  const ten = (item: string) => Array.from({ length: 10 }, () => item).join(', ');
  const levels = ['a0: &a0 x'];
  for (let level = 1; level <= 9; level++) {
    levels.push(`a${level}: &a${level} [${ten(`*a${level - 1}`)}]`);
  }
  expect(read(levels.join('\n'))).toEqual(['SUB_BUNDLE_TOO_DEEP 6:45']);
  expect(read(levels.slice(0, 4).join('\n'))).toHaveProperty('a3.9.9.9', 'x');
});

test('treats `__proto__` and `constructor` as keys like any other', () => {
  const value = read('__proto__: {polluted: true}\nconstructor: 1\n');
  expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(value).not.toHaveProperty('polluted');
});

test('makes hostile names harmless in its messages', () => {
  const name = `"a\\u001b[2J${'x'.repeat(500)}"`;
  const [message = ''] = messages(`${name}: 1\n${name}: 2\n`);
  expect(message).toMatch(/^the key `a\\u001b\[2Jx+…` is given twice$/);
  expect(message.length).toBeLessThan(100);
});

test('speaks of signs, not of tokens', () => {
  expect(messages('a: 1\n]\n')).toEqual(['unexpected `]` here']);
});
