import { describe, expect, test } from 'vitest';
import { readDocument } from './document.ts';
import { sameData } from './plain-data.ts';
import { readOrThrow } from './testing/hold-edits.ts';
import type { Format, ValuePath } from './tree.ts';

function textAt(text: string, format: Format, path: ValuePath): string | undefined {
  const span = readOrThrow(text, format).spanAt(path);
  return span && text.slice(span.start, span.end);
}

describe('JSON', () => {
  const text =
    '\uFEFF{ "mcpServers": {\r\n "a\\u0062": { "command": "n\\u006fde", "args": [ 1, ["x"] ] } } }';

  test('finds values behind a mark of the byte order, by decoded names', () => {
    expect(textAt(text, 'json', ['mcpServers', 'ab', 'command'])).toBe('"n\\u006fde"');
    expect(textAt(text, 'json', ['mcpServers', 'ab', 'args'])).toBe('[ 1, ["x"] ]');
    expect(textAt(text, 'json', ['mcpServers', 'ab', 'args', 1, 0])).toBe('"x"');
    expect(readOrThrow(text, 'json').valueAt(['mcpServers', 'ab', 'command'])).toBe('node');
  });

  test.each([
    ['a step of the wrong kind', ['mcpServers', 0]],
    ['an index as a name', ['mcpServers', 'ab', 'args', '0']],
    ['a step beyond a scalar', ['mcpServers', 'ab', 'command', 'length']],
    ['an inherited property', ['mcpServers', 'constructor']],
    ['the length of an array', ['mcpServers', 'ab', 'args', 'length']],
  ])('has nothing at %s', (_, path) => {
    const document = readOrThrow(text, 'json');
    expect(document.valueAt(path)).toBeUndefined();
    expect(document.spanAt(path)).toBeUndefined();
  });

  test('takes __proto__ for a name like any other', () => {
    const document = readOrThrow('{ "__proto__": { "command": "x" } }', 'jsonc');
    expect(document.valueAt(['__proto__', 'command'])).toBe('x');
    expect(Object.getPrototypeOf(document.value)).toBe(Object.prototype);
  });

  test.each([
    ['a comment', '{} // c', 1, 4],
    ['a block comment', '{ /* c */ }', 1, 3],
    ['a trailing comma', '{\n  "a": 1,\n}', 3, 1],
    ['nothing', '', 1, 1],
    ['a second value', '{}\n{}', 2, 1],
    ['an open brace', '{ "a": 1', 1, 9],
    ['single quotes', "{ 'a': 1 }", 1, 3],
    ['a raw tab in a string', '["\t"]', 1, 2],
    ['a leading zero', '[01]', 1, 3],
  ])('refuses %s and says where', (_, broken, line, column) => {
    const read = readDocument(broken, 'json');
    expect(read).toMatchObject({ kind: 'broken', line, column });
    expect(readDocument(`\uFEFF${broken}`, 'json')).toEqual(read);
  });

  test('JSONC has comments and trailing commas, and nothing else beyond JSON', () => {
    const lenient = '// a\n{ "a": [1, 2,], /* b */ }';
    expect(readOrThrow(lenient, 'jsonc').value).toEqual({ a: [1, 2] });
    expect(readDocument('{ a: 1 }', 'jsonc').kind).toBe('broken');
    expect(readDocument('{ "a": 1 } /* b', 'jsonc').kind).toBe('broken');
    expect(readDocument('[,]', 'jsonc').kind).toBe('broken');
    expect(readDocument('[1,,]', 'jsonc').kind).toBe('broken');
  });

  test('never repeats the text of a file in a complaint', () => {
    for (const format of ['json', 'jsonc', 'toml'] as const) {
      const read = readDocument('token = "hunter2 oops\n{"hunter2": hunter2 "hunter2"', format);
      expect(read.kind).toBe('broken');
      expect(JSON.stringify(read)).not.toContain('hunter2');
    }
  });
});

describe('a key that is there twice', () => {
  const text = '{ "x": 1, "x": 2, "servers": { "a": { "command": "n", "comm\\u0061nd": "m" } } }';

  test('makes the document broken, however it is spelled', () => {
    expect(readDocument('{ "a": 1, "\\u0061": 2 }', 'json')).toMatchObject({
      kind: 'broken',
      line: 1,
      column: 11,
      message: 'A key is there twice in the same object.',
    });
  });

  test('is tolerated away from the paths that count', () => {
    const elsewhere = readDocument('{ "x": 1, "x": 2, "servers": {} }', 'jsonc', [['servers']]);
    expect(elsewhere).toMatchObject({ kind: 'document', document: { value: { x: 2 } } });
    const below = readDocument(text, 'jsonc', [['servers']]);
    expect(below).toMatchObject({ kind: 'broken', column: text.indexOf('"comm\\u') + 1 });
    const above = readDocument('{ "s": { "t": 1 }, "s": {} }', 'json', [['s', 't']]);
    expect(above.kind).toBe('broken');
  });

  test('is refused by TOML in each of its spellings', () => {
    const texts = [
      'a = 1\n"a" = 2',
      '[a]\n[a]',
      'a.b = 1\n[a]\nb = 2',
      'a = { b = 1, b = 2 }',
      '[[a]]\n[a]',
    ];
    for (const one of texts) expect(readDocument(one, 'toml').kind).toBe('broken');
  });
});

describe('TOML', () => {
  const text = [
    '# "c" = [',
    'top = """',
    '[no]',
    'command = "no"',
    '"""',
    '[ mcp_servers . "a.b" ] # c',
    "command = 'C:\\node'   # d",
    'args = [ # e ]',
    '  "x", # "y"',
    "  '''z",
    "]''',",
    ']',
    'env.A.B = "v"',
    'at = 1979-05-27 07:32:00Z # f',
    'inner = { "k" = [{ l = "]}" }], m.n = """"q"""" }',
    '[[list]]',
    'command = "one"',
    '[[list]]',
    'command = "two"',
    '[list.sub]',
    'x = true',
  ].join('\r\n');
  const server = ['mcp_servers', 'a.b'];

  test.each([
    [[...server, 'command'], "'C:\\node'"],
    [[...server, 'args'], "[ # e ]\r\n  \"x\", # \"y\"\r\n  '''z\r\n]''',\r\n]"],
    [[...server, 'args', 1], "'''z\r\n]'''"],
    [[...server, 'env', 'A', 'B'], '"v"'],
    [[...server, 'at'], '1979-05-27 07:32:00Z'],
    [[...server, 'inner', 'k', 0, 'l'], '"]}"'],
    [[...server, 'inner', 'm', 'n'], '""""q""""'],
    [['list', 0, 'command'], '"one"'],
    [['list', 1, 'command'], '"two"'],
    [['list', 1, 'sub', 'x'], 'true'],
  ])('finds the text of %j', (path, expected) => {
    expect(textAt(text, 'toml', path)).toBe(expected);
    expect(textAt(`\uFEFF${text}`, 'toml', path)).toBe(expected);
  });

  test('a table that is written as lines has a value but no span', () => {
    const document = readOrThrow(text, 'toml');
    for (const path of [[], ['mcp_servers'], server, ['list'], [...server, 'inner', 'm']]) {
      expect(document.spanAt(path)).toBeUndefined();
      expect(document.valueAt(path)).toBeDefined();
    }
  });

  test.each([
    ['a value that is missing', 'a = 1\nb =', 2, 4],
    ['a string that does not end', 'a = "x', 1, 5],
    ['two pairs in a line', 'a = 1 b = 2', 1, 7],
    ['a header that does not end', '\n[a', 2, 2],
    ['a lone carriage return', 'a = 1\rb = 2', 1, 6],
  ])('refuses %s and says where', (_, broken, line, column) => {
    const read = readDocument(broken, 'toml');
    expect(read).toMatchObject({ kind: 'broken', line, column });
    expect(readDocument(`\uFEFF${broken}`, 'toml')).toEqual(read);
  });

  test('reads integers that no number can hold', () => {
    expect(readOrThrow('a = 9223372036854775807', 'toml').value).toEqual({
      a: 9223372036854775807n,
    });
    expect(textAt('a = 9223372036854775807', 'toml', ['a'])).toBe('9223372036854775807');
  });
});

describe('hostile texts', () => {
  const many = 400_000;
  const deep = /^The file is nested too deeply\.$/;

  test.each([
    ['json', '['.repeat(many), deep],
    ['jsonc', '{"a":'.repeat(many), deep],
    ['toml', `a = ${'['.repeat(many)}`, deep],
    ['toml', `a = ${'{a='.repeat(many)}`, deep],
    ['toml', `${'a.'.repeat(many)}a = 1`, deep],
    ['toml', `[${'a.'.repeat(many)}a]`, deep],
    ['jsonc', `[${'/* '.repeat(many)}`, /^A comment does not end\.$/],
    ['json', `["${'\\'.repeat(many)}`, /^A string does not end\.$/],
    ['json', '# '.repeat(many), /^This is no JSON value\.$/],
    ['json', `[${'1,'.repeat(3 * many)}1]`, /^The file has too many values\.$/],
    ['toml', '[[a]]\n'.repeat(3 * many), /^The file has too many values\.$/],
    ['toml', `a = ${'"'.repeat(many)}`, /./],
    ['toml', `a = """${'"" '.repeat(many)}`, /./],
    ['toml', `a = ${"'".repeat(many)}`, /./],
    ['toml', `${' '.repeat(many)}=`, /./],
    ['toml', `a = 1${' '.repeat(many)}1`, /./],
    ['toml', '\u0000'.repeat(many), /./],
  ] as const)('%s text %# is broken and costs little', (format, text, message) => {
    const read = readDocument(text, format);
    expect(read.kind === 'broken' ? read.message : '').toMatch(message);
  });

  test('depth is counted to the limit in each format', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(readDocument(nested(100), 'json').kind).toBe('document');
    expect(readDocument(nested(101), 'json').kind).toBe('broken');
    expect(readDocument(`a = ${nested(99)}`, 'toml').kind).toBe('document');
    expect(readDocument(`a = ${nested(101)}`, 'toml').kind).toBe('broken');
  });

  test('a file of more than 32 MiB is refused, counted in bytes', () => {
    const text = JSON.stringify('é'.repeat(16 * 1024 * 1024));
    expect(readDocument(text, 'json')).toMatchObject({
      kind: 'broken',
      message: 'The file is larger than 32 MiB.',
    });
  });
});

describe('sameData', () => {
  test.each([
    [{ a: 1, b: [2, { c: null }] }, { b: [2, { c: null }], a: 1 }, true],
    [Object.assign(Object.create(null), { a: 1 }), { a: 1 }, true],
    [Number.NaN, Number.NaN, true],
    [{ a: undefined }, { b: undefined }, false],
    [[1, 2], [1], false],
    [[], {}, false],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{}, Object.fromEntries([['__proto__', {}]]), false],
    ['1', 1, false],
    [null, {}, false],
  ])('%j and %j: %s', (a, b, isSame) => {
    expect(sameData(a, b)).toBe(isSame);
    expect(sameData(b, a)).toBe(isSame);
  });

  test('a date is the same only when it is of the same kind', () => {
    const text = 'a = [1979-05-27, 1979-05-27, 1979-05-27T00:00:00]';
    const [day, again, midnight] = [0, 1, 2].map((at) =>
      readOrThrow(text, 'toml').valueAt(['a', at]),
    );
    expect(sameData(day, again)).toBe(true);
    expect(sameData(day, midnight)).toBe(false);
  });
});
