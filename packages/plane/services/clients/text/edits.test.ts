import { describe, expect, test } from 'vitest';
import { applyEdits, insertAfter, removeValue, replaceValue } from './edits.ts';
import { readOrThrow } from './testing/hold-edits.ts';
import type { Format, ValuePath } from './tree.ts';

const AT: ValuePath = ['s', 'a', 'command'];
const ARGS: ValuePath = ['s', 'a', 'args'];

function inserted(text: string, format: Format, value: string | string[] = ['x', 'y']): string {
  const document = readOrThrow(text, format);
  const after = applyEdits(text, [insertAfter(document, AT, { key: 'args', value })]);
  const back = readOrThrow(after, format);
  expect(back.valueAt(ARGS)).toEqual(value);
  expect(applyEdits(after, [removeValue(back, ARGS)])).toBe(text);
  return after;
}

function replaced(text: string, format: Format, value: string | string[]): string {
  return applyEdits(text, [replaceValue(readOrThrow(text, format), ARGS, value)]);
}

function removed(text: string, format: Format): string {
  return applyEdits(text, [removeValue(readOrThrow(text, format), ARGS)]);
}

describe('a property that is added to JSON', () => {
  test.each([
    [
      'gets a line of its own',
      '{"s": {"a": {\r\n\t"command": "n",\r\n\t"env": {}\r\n}}}',
      '{"s": {"a": {\r\n\t"command": "n",\r\n\t"args": ["x", "y"],\r\n\t"env": {}\r\n}}}',
    ],
    [
      'gets a line of its own at the end',
      '{"s": {"a": {\n    "command": "n"\n}}}',
      '{"s": {"a": {\n    "command": "n",\n    "args": ["x", "y"]\n}}}',
    ],
    [
      'stays in the line of a compact file',
      '{"s":{"a":{"command":"n","env":{}}}}',
      '{"s":{"a":{"command":"n","args":["x","y"],"env":{}}}}',
    ],
    [
      'stays in the line at the end of a compact file',
      '{"s":{"a":{"command":"n"}}}',
      '{"s":{"a":{"command":"n","args":["x","y"]}}}',
    ],
    [
      'stays in the line of a spaced object',
      '{ "s": { "a": { "command": "n" } } }',
      '{ "s": { "a": { "command": "n", "args": ["x", "y"] } } }',
    ],
    [
      'takes over how colons are written',
      '{"s" : {"a" : {\n "command" : "n"}}}',
      '{"s" : {"a" : {\n "command" : "n", "args" : ["x", "y"]}}}',
    ],
    [
      'follows a file that puts commas first',
      '{"s": {"a": {\n  "command": "n"\n  , "env": {}\n}}}',
      '{"s": {"a": {\n  "command": "n"\n  , "args": ["x", "y"], "env": {}\n}}}',
    ],
  ])('%s', (_, before, after) => {
    expect(inserted(before, 'json')).toBe(after);
    expect(inserted(`\uFEFF${before}`, 'jsonc')).toBe(`\uFEFF${after}`);
  });

  test.each([
    [
      'leaves a comment with its line',
      '{"s": {"a": {\n  "command": "n", // c, {\n  "env": {}\n}}}',
      '{"s": {"a": {\n  "command": "n", // c, {\n  "args": ["x", "y"],\n  "env": {}\n}}}',
    ],
    [
      'puts its comma before the comment of the last line',
      '{"s": {"a": {\n  "command": "n" /* b */ // c\n}}}',
      '{"s": {"a": {\n  "command": "n", /* b */ // c\n  "args": ["x", "y"]\n}}}',
    ],
    [
      'keeps a trailing comma',
      '{"s": {"a": {\n  "command": "n",\n}}}',
      '{"s": {"a": {\n  "command": "n",\n  "args": ["x", "y"],\n}}}',
    ],
    [
      'stays before a comment that goes on in the next line',
      '{"s": {"a": {\n  "command": "n", /* b\n */\n  "env": 1\n}}}',
      '{"s": {"a": {\n  "command": "n", "args": ["x", "y"], /* b\n */\n  "env": 1\n}}}',
    ],
    [
      'stays before a comment of several lines',
      '{"s": {"a": {\n  "command": "n", /* b\n */ "env": 1\n}}}',
      '{"s": {"a": {\n  "command": "n", "args": ["x", "y"], /* b\n */ "env": 1\n}}}',
    ],
  ])('%s', (_, before, after) => {
    expect(inserted(before, 'jsonc')).toBe(after);
  });
});

describe('a property that is added to TOML', () => {
  test.each([
    [
      'gets the line behind, and leaves the comment',
      '[s.a]\r\ncommand = "n" # c\r\n\r\n[s.a.env]\r\n',
      '[s.a]\r\ncommand = "n" # c\r\nargs = ["x", "y"]\r\n\r\n[s.a.env]\r\n',
    ],
    [
      'needs no line end at the end',
      '[s.a]\n  command="n"',
      '[s.a]\n  command="n"\n  args=["x","y"]',
    ],
    [
      'takes over single quotes',
      "[s.a]\ncommand = 'n'\n",
      "[s.a]\ncommand = 'n'\nargs = ['x', 'y']\n",
    ],
    [
      'takes over a dotted key',
      '[s]\n"a" . command = "n"\na.env = {}\n',
      '[s]\n"a" . command = "n"\n"a" . args = ["x", "y"]\na.env = {}\n',
    ],
    [
      'stays in an inline table',
      's = { a = { command = "n", env = {} } }',
      's = { a = { command = "n", args = ["x", "y"], env = {} } }',
    ],
    [
      'stays at the end of an inline table',
      's.a = {command="n"}',
      's.a = {command="n",args=["x","y"]}',
    ],
    [
      'comes behind a string of several lines',
      '[s.a]\ncommand = """\nn\n"""\nx = 1',
      '[s.a]\ncommand = """\nn\n"""\nargs = ["x", "y"]\nx = 1',
    ],
    [
      'keeps the blanks of the first line',
      ' s.a.command=""',
      ' s.a.command=""\n s.a.args=["x","y"]',
    ],
    ['works on the first line', 's.a.command = "n"', 's.a.command = "n"\ns.a.args = ["x", "y"]'],
  ])('%s', (_, before, after) => {
    expect(inserted(before, 'toml')).toBe(after);
    expect(inserted(`\uFEFF${before}`, 'toml')).toBe(`\uFEFF${after}`);
  });

  test('quotes a key that needs it', () => {
    const text = '[s.a]\ncommand = "n"\n';
    const edit = insertAfter(readOrThrow(text, 'toml'), AT, { key: 'a "b"', value: 'c' });
    expect(applyEdits(text, [edit])).toBe(`${text}"a \\"b\\"" = "c"\n`);
  });
});

describe('a list that is replaced', () => {
  const wrap = (list: string): string => `{"s": {"a": {"args": ${list}, "z": 1}}}`;

  test.each([
    ['one line', '["a", "b"]', '["x", "y", "z"]'],
    ['a tight line', '["a","b"]', '["x","y","z"]'],
    ['a padded line', '[ "a", "b" ]', '[ "x", "y", "z" ]'],
    ['several lines', '[\n    "a"\n  ]', '[\n    "x",\n    "y",\n    "z"\n  ]'],
    ['several lines with CRLF', '[\r\n\t"a",\r\n\t"b"\r\n]', '[\r\n\t"x",\r\n\t"y",\r\n\t"z"\r\n]'],
    ['nothing', '[]', '["x", "y", "z"]'],
  ])('keeps the manner of %s', (_, before, after) => {
    expect(replaced(wrap(before), 'json', ['x', 'y', 'z'])).toBe(wrap(after));
  });

  test('keeps a trailing comma, and is gone with its comments', () => {
    const before = '[ // first\n    "a", // second\n    "b",\n  ]';
    expect(replaced(wrap(before), 'jsonc', ['x'])).toBe(wrap('[\n    "x",\n  ]'));
    expect(replaced(wrap('["a",]'), 'jsonc', ['x', 'y'])).toBe(wrap('["x", "y",]'));
  });

  test('stays as it is written when the value is the same', () => {
    const before = wrap('[ "\\u0061"\n , "b"]');
    expect(replaced(before, 'json', ['a', 'b'])).toBe(before);
  });

  test('in its plain manner comes back by its value', () => {
    for (const list of ['["a", "b"]', '["a","b"]', '[\n  "a",\n  "b"\n]', '[ "a", "b" ]']) {
      const there = replaced(wrap(list), 'json', ['x', 'y', 'z']);
      expect(replaced(there, 'json', ['a', 'b'])).toBe(wrap(list));
    }
  });

  test('may become empty', () => {
    expect(replaced(wrap('[\n "a"\n]'), 'json', [])).toBe(wrap('[]'));
  });

  test('keeps the quotes of TOML where the new value allows it', () => {
    const before = "[s.a]\nargs = [\n  'a', # b\n]\n";
    const after = "[s.a]\nargs = [\n  'C:\\x',\n  \"it's\",\n]\n";
    expect(replaced(before, 'toml', ['C:\\x', "it's"])).toBe(after);
  });
});

describe('strings', () => {
  const hostile = '\u0000\b\t\n\f\r\u001B"\\\u007F\u0085\u2028é😀';

  test('are escaped for TOML, and read back the same', () => {
    const after = replaced('[s.a]\nargs = ""', 'toml', hostile);
    const written = '"\\u0000\\b\\t\\n\\f\\r\\u001b\\"\\\\\\u007f\\u0085\\u2028é😀"';
    expect(after).toBe(`[s.a]\nargs = ${written}`);
    expect(readOrThrow(after, 'toml').valueAt(ARGS)).toBe(hostile);
  });

  test('half a character is written to JSON and refused for TOML', () => {
    expect(replaced('{"s":{"a":{"args":""}}}', 'json', '\uD800')).toContain('"\\ud800"');
    expect(() => replaced('[s.a]\nargs = ""', 'toml', '\uD800')).toThrow(RangeError);
  });
});

describe('a property that is removed', () => {
  test.each([
    ['the only one', '{"s":{"a":{ "args": 1 }}}', '{"s":{"a":{ }}}'],
    ['the first of a line', '{"s":{"a":{"args": 1, "b": 2}}}', '{"s":{"a":{ "b": 2}}}'],
    ['the only one of several lines', '{"s":{"a":{\n "args": 1\n}}}', '{"s":{"a":{\n}}}'],
    [
      'one that shares its line with the next, behind a comment',
      '{"s":{"a":{"b": 2, // c\n  "args": 1, "d": 3}}}',
      '{"s":{"a":{"b": 2, // c\n  "d": 3}}}',
    ],
    [
      'the last, before a brace in its line',
      '{"s":{"a":{"b": 2, // c\n  "args": 1 }}}',
      '{"s":{"a":{"b": 2 // c\n }}}',
    ],
    [
      'one with a comment behind it',
      '{"s":{"a":{\n  "b": 2, // c\n  "args": 1, // d\n  "e": 3}}}',
      '{"s":{"a":{\n  "b": 2, // c // d\n  "e": 3}}}',
    ],
  ])('takes its comma along: %s', (_, before, after) => {
    expect(removed(before, 'jsonc')).toBe(after);
  });

  test.each([
    ['the first line', 's.a.args = 1\nb = 2\n', 'b = 2\n'],
    ['the only line', '  s.a.args = 1', ''],
    ['the first line with a comment', 's.a.args = 1 # c\nb = 2\n', ' # c\nb = 2\n'],
    ['a line with a comment', '[s.a]\nargs = 1 # c\nb = 2\n', '[s.a] # c\nb = 2\n'],
    ['the last of an inline table', 's = { a = { b = 1, args = [] } }', 's = { a = { b = 1 } }'],
  ])('leaves TOML that parses: %s', (_, before, after) => {
    expect(removed(before, 'toml')).toBe(after);
    expect(readOrThrow(after, 'toml').valueAt(ARGS)).toBeUndefined();
  });
});

describe('mistakes of the caller throw', () => {
  const document = readOrThrow('[s.a]\ncommand = "n"\nargs = []\n', 'toml');

  test('paths that lead nowhere, properties that are there already', () => {
    expect(() => replaceValue(document, ['s', 'b'], 'x')).toThrow('no value');
    expect(() => replaceValue(document, ['s', 'a'], 'x')).toThrow('no value');
    expect(() => removeValue(document, ['s', 'a', 'no'])).toThrow('no such property');
    expect(() => insertAfter(document, ['s'], { key: 'k', value: '' })).toThrow('no such property');
    expect(() => insertAfter(document, AT, { key: 'args', value: '' })).toThrow('already');
  });

  test.each([
    [
      'overlap',
      [
        [0, 2],
        [1, 3],
      ],
    ],
    [
      'insert at the same place',
      [
        [1, 1],
        [1, 1],
      ],
    ],
    ['end before they start', [[2, 1]]],
    ['end behind the text', [[0, 4]]],
    ['start before the text', [[-1, 0]]],
  ])('edits that %s', (_, spans) => {
    const edits = spans.map(([start = 0, end = 0]) => ({ start, end, text: 'x' }));
    expect(() => applyEdits('abc', edits)).toThrow(RangeError);
  });

  test('edits side by side are made in the order of the text', () => {
    const edits = [
      { start: 2, end: 3, text: 'C' },
      { start: 1, end: 1, text: '+' },
      { start: 0, end: 1, text: 'A' },
    ];
    expect(applyEdits('abc', edits)).toBe('A+bC');
  });
});
