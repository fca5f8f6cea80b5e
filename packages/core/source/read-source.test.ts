import { expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import type { Problem } from './problem.ts';
import { BYTES_MAX, readSource, type SourceResult } from './read-source.ts';
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
  ['an unclosed bracket', 'a: [1, 2\n', 'SUB_BUNDLE_SYNTAX 1:9'],
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
  ['a carriage return alone', 'a: 1\nb: x\r# c\n', 'SUB_BUNDLE_ENCODING 2:5'],
  ['a carriage return at the end', 'a: 1\nb: 2\r', 'SUB_BUNDLE_ENCODING 2:5'],
  ['a next-line character', 'a: x\u0085b: y\n', 'SUB_BUNDLE_ENCODING 1:5'],
  ['a line separator', '# x\u2028a: y\n', 'SUB_BUNDLE_ENCODING 1:4'],
  ['a paragraph separator', 'a: "x\u2029"\n', 'SUB_BUNDLE_ENCODING 1:6'],
  ['an Arabic letter mark', 'a: x\u061c\n', 'SUB_BUNDLE_ENCODING 1:5'],
  ['a left-to-right mark', 'a: x\u200e\n', 'SUB_BUNDLE_ENCODING 1:5'],
  ['a right-to-left mark', 'a: x\u200f\n', 'SUB_BUNDLE_ENCODING 1:5'],
  ['a byte order mark inside', 'a: x\ufeffy\n', 'SUB_BUNDLE_ENCODING 1:5'],
  ['a zero-width space', 'a: x\u200by\n', 'SUB_BUNDLE_ENCODING 1:5'],
  ['a filler that shows nothing', 'a: [x, \u3164]\n', 'SUB_BUNDLE_ENCODING 1:8'],
  ['a tag character', 'a: x\u{e0041}\n', 'SUB_BUNDLE_ENCODING 1:5'],
  ['a hidden character in a key', '"a\u00ad": x\n', 'SUB_BUNDLE_ENCODING 1:3'],
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

test('accepts invisible characters as escapes, which can be seen', () => {
  expect(read('a: "\\u200b\\N\\L\\u202e\\ufeff\\U000e0041\\r"')).toEqual({
    a: '\u200b\u0085\u2028\u202e\ufeff\u{e0041}\r',
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

test('bounds the text that aliases expand to', () => {
  const uses = (count: number) => Array.from({ length: count }, () => '*a').join(', ');
  const repeated = (length: number, count: number) =>
    `a: &a ${'x'.repeat(length)}\nb: [${uses(count)}]\n`;
  expect(read(repeated(900_000, 9_000))).toEqual(['SUB_BUNDLE_TOO_LARGE 2:5']);
  expect(read(repeated(100_000, 9))).toHaveProperty('b.8');
  expect(read(repeated(100_000, 10))).toEqual(['SUB_BUNDLE_TOO_LARGE 2:41']);
  const map = `a: &a { ${'k'.repeat(1_000)}: [&b ${'x'.repeat(99_000)}] }\nb: [${uses(10)}]\n`;
  expect(read(map)).toEqual(['SUB_BUNDLE_TOO_LARGE 2:41']);
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
  expect(message).toMatch(/^the key `a\\u\{1b\}\[2Jx+…` is given twice$/);
  expect(message.length).toBeLessThan(100);
});

test('names signs in its messages, not tokens of the parser', () => {
  expect(messages('a: 1\n]\n')).toEqual(['unexpected `]` here']);
});

/** The one thing that is reported, as `line:column message fix`. */
function only(text: string, file = 'p.yaml'): string {
  const result = readSource({ file, text });
  const found = result.ok ? [] : result.problems;
  expect(found).toHaveLength(1);
  return found
    .map(({ position: { line, column }, message, fix }) => `${line}:${column} ${message} ${fix}`)
    .join();
}

const NESTED = 'a:\n  - b: 1\n    c: 2\n    d: 3\n    e: 4\nf: 5\n';

test.each([
  ['a tab', NESTED.replace('    c', '\tc'), /^3:1 tabs .* Replace tabs by spaces\.$/],
  ['tabs', NESTED.replaceAll('    ', '\t'), /^3:1 tabs .* Replace tabs by spaces\.$/],
  ['too few spaces', NESTED.replace('    c', '   c'), /^3:1 this line neither belongs .* Align it/],
  [
    'too many spaces',
    NESTED.replace('    c', '     c'),
    /^3:6 this line is indented deeper .* Align it/,
  ],
  ['a field that slipped right', 'a: 1\n b: 2\nc: 3\n', /^2:2 this line is indented deeper /],
  ['a missing colon', 'a: 1\nbee 2\nc: 3\n', /^2:1 `bee 2` is no `name: value` Put a `: ` behind/],
  ['a missing space', 'a: 1\nb:2\nc: 3\n', /^2:1 `b:2` is no `name: value` Put a space behind/],
  ['a missing bracket', 'a: [1\nb: 2\n', /^2:1 a `\[` above has no `\]` Add the `\]`/],
  ['a missing quote', 'a: "1\nb: 2\n\n', /^2:5 a `"` has no closing one Close the quote\.$/],
  ['bare carriage returns', NESTED.replaceAll('\n', '\r'), /^1:3 the line endings are /],
])('reports only %s, and not what follows from it', (_, text, problem) => {
  expect(only(text)).toMatch(problem);
});

test('keeps a syntax error that stands before the indentation', () => {
  expect(read('a: "\\q"\nb:\n\tc: 1\n\td: 2\n')).toEqual([
    'SUB_BUNDLE_SYNTAX 1:5',
    'SUB_BUNDLE_SYNTAX 3:1',
  ]);
});

test.each([
  ['- *_delete', '1:3', '*_delete'],
  ['glob: [*]', '1:8', '*'],
  ['glob: [a, *b*, c]', '1:11', '*b*'],
  ['glob: *', '1:7', '*'],
])('takes the star in %s for a glob without quotes', (text, place, glob) => {
  expect(only(text)).toBe(
    `${place} \`${glob}\` without quotes is a YAML alias, and has no anchor above it ` +
      `Put quotes around it: \`"${glob}"\`.`,
  );
});

test.each([
  ['a: &names [x]\nb: *nmaes\n', 'Write `*names`.'],
  ['a: *x\nb: &x 1\n', 'Write `&x` before the value that is meant, above this line.'],
  ['a: &x [*x]\n', 'Write the value out.'],
])('tells an alias from a glob in %j', (text, fix) => {
  expect(only(text)).toMatch(fix);
});

test.each([
  ['{"a": 1,}', '1:8 JSON has no `,` before `}` Remove the `,`.'],
  ['{"a": [1,\n]}', '1:9 JSON has no `,` before `]` Remove the `,`.'],
  ["{'a': 1}", /^1:2 .* Use double quotes\.$/],
  ['{"a": \'x\'}', /^1:7 .* Use double quotes\.$/],
  ['{a: 1}', /^1:2 .* Write `"a"`\.$/],
  ['{ // x\n"a": 1}', /^1:3 JSON has no comments Remove it, /],
  ['{"a": 1 /* x */}', /^1:9 JSON has no comments Remove it, /],
  ['# x\n{"a": 1}', /^1:1 .*this is no JSON Write JSON, or name the file `.yaml`\.$/],
  ['a: 1\n', /^1:1 .*this is no JSON Write JSON, or name the file `.yaml`\.$/],
  ['{"a": [1, 2', /^1:12 the file is cut off here: .* Complete the file/],
  ['{"a": "x\n', /^1:9 /],
  ['{"a": ', /^1:6 the file is cut off here: .* Complete the file/],
  ['{"a": 1\n"b": 2}', /^2:1 .* Add the `,` that is missing\.$/],
  ['{"a" 1}', /^1:6 .* Add the `:` that is missing\.$/],
  ['{"a": True}', /^1:7 .* Write `true`\.$/],
  ['{"a": x}', /^1:7 .* Write `"x"`\.$/],
  ['{"a": NaN}', /^1:7 .* Write a number\.$/],
  ['{"a": .5}', /^1:7 .* without a leading/],
  ['{"a": 01}', /^1:8 .* without a leading/],
  ['{"a": "\\q"}', /^1:9 .* Double the backslash\.$/],
  ['{} {}', /^1:4 .* Remove what follows\.$/],
  ['{"a": 1, "a": 2}', '1:10 the key "a" is given twice Remove one of the two.'],
])('holds a file that is named `.json` to JSON: %j', (text, problem) => {
  expect(only(text, 'p.JSON')).toMatch(problem);
});

test('reads the same as YAML under another name', () => {
  expect(read("{ 'a': [1,], b: x, } # fine")).toEqual({ a: [1], b: 'x' });
});

test('tells of a comma with nothing before it', () => {
  expect(only('{"rules": [,]}')).toBe(
    '1:12 nothing stands before this `,` Remove it, or add the value.',
  );
});

test('reports an empty file whatever its name, and names the fields that it needs', () => {
  expect(only(' \n', 'p.json')).toMatch(
    'the file holds no bundle Start with `policy_id`, `version`, `mode` and `rules`.',
  );
});

test('takes emoji and joiners in what people read', () => {
  const text = 'description: "⚠\ufe0f می\u200cخواهم 👩\u200d💻"\n';
  expect(readSource({ file: 'p.yaml', text }).ok).toBe(true);
});
