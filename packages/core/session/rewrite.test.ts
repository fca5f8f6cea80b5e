import { describe, expect, it } from 'vitest';
import { rewritten } from '../json/patch-text.ts';
import { parsed } from './json.test-support.ts';

describe('a text with something changed', () => {
  it.each<[string, string, unknown, string]>([
    [
      'keeps numbers that JavaScript cannot hold',
      '{"content":[{"text":"a"}],"structuredContent":{"id":12345678901234567890,"x":1.0}}',
      {
        content: [{ text: '*' }],
        structuredContent: parsed('{"id":12345678901234567890,"x":1.0}'),
      },
      '{"content":[{"text":"*"}],"structuredContent":{"id":12345678901234567890,"x":1.0}}',
    ],
    [
      'keeps how numbers are written',
      '[1e400,-0,1E2,0.10,"a"]',
      [Infinity, -0, 100, 0.1, 'b'],
      '[1e400,-0,1E2,0.10,"b"]',
    ],
    ['tells zeros apart', '[-0,0]', [0, 0], '[0,0]'],
    [
      'keeps escapes',
      '["\\u0041\\/\\ud83d\\ude42","\\ud800","a"]',
      ['A/🙂', '\ud800', 'b'],
      '["\\u0041\\/\\ud83d\\ude42","\\ud800","b"]',
    ],
    ['keeps white space', ' { "a" :\t[ 1 , "b" ] } ', { a: [1, 'c'] }, ' { "a" :\t[ 1 , "c" ] } '],
    [
      'keeps the order of keys that look like integers',
      '{"b":1,"10":"x","9":2}',
      { 9: 2, 10: 'y', b: 1 },
      '{"b":1,"10":"y","9":2}',
    ],
    [
      'finds the end of a string behind backslashes',
      '["\\\\","\\\\\\"","a"]',
      ['\\', '\\"', 'b'],
      '["\\\\","\\\\\\"","b"]',
    ],
    [
      'sees no brackets in strings',
      '[{"]}\\"":"]"},"a",[1.0]]',
      ['x', 'b', [1]],
      '["x","b",[1.0]]',
    ],
    [
      'has a key like any other in `__proto__`',
      '{"__proto__":{"a":"x","n":1.0},"n":1.0}',
      parsed('{"__proto__":{"a":"y","n":1},"n":1}'),
      '{"__proto__":{"a":"y","n":1.0},"n":1.0}',
    ],
    ['takes no inherited member for a key', '{"__proto__":1.0}', {}, '{}'],
    ['takes no inherited method for a key', '{"toString":1.0}', { a: 1 }, '{"a":1}'],
    [
      'has an object of no prototype',
      '{"a":1.0,"b":1}',
      { __proto__: null, a: 1, b: 2 },
      '{"a":1.0,"b":2}',
    ],
    ['writes a scalar of another kind', '[1,"1",null,{}]', ['1', 1, false, 0], '["1",1,false,0]'],
    ['writes an object in place of a list', '[[1.0],2.0]', [{ a: 1 }, 2], '[{"a":1},2.0]'],
    ['writes a list in place of an object', '[{"a":1.0},2.0]', [[1], 2], '[[1],2.0]'],
    ['writes an object that lost a key', '[{"a":1.0,"b":2},1.0]', [{ a: 1 }, 1], '[{"a":1.0},1.0]'],
    [
      'writes an object that has one more',
      '[{"a":1.0},1.0]',
      [{ a: 1, b: 2 }, 1],
      '[{"a":1.0,"b":2},1.0]',
    ],
    ['writes an object with another key', '{"a":1.0}', { b: 1 }, '{"b":1}'],
    ['fills an object', '{ }', { a: 1 }, '{"a":1}'],
    [
      'keeps the start of a longer list',
      '{"a":[1.0, 2.0]}',
      { a: [1, 2, 'x'] },
      '{"a":[1.0, 2.0,"x"]}',
    ],
    ['keeps the start of a shorter list', '[1.0, 2.0 ,[3.0] ]', [1, 2], '[1.0, 2.0]'],
    ['writes a list from where it differs', '[1.0,[2.0],3.0]', [1, [4], 3, 5], '[1.0,[4],3.0,5]'],
    [
      'writes a shorter list from where it differs',
      '[1.0,2.0,3.0,4.0]',
      [1, 3, 4],
      '[1.0,3.0,4.0]',
    ],
    [
      'keeps the digits of what is left of a list',
      '[{"name":"a","n":9007199254740993},{"name":"b","n":9007199254740995},{"name":"c"}]',
      [{ name: 'b', n: 9_007_199_254_740_996 }, { name: 'x' }, { name: 'c', more: 1 }],
      '[{"name":"b","n":9007199254740995},{"name":"x"},{"name":"c","more":1}]',
    ],
    [
      'keeps the digits beside a member that goes and one that comes',
      '{"a":{"n":9007199254740993,"gone":1},"m":0.10000000000000000001}',
      { a: { n: 9_007_199_254_740_992 }, m: 0.1, ttl: 0 },
      '{"a":{"n":9007199254740993},"m":0.10000000000000000001,"ttl":0}',
    ],
    ['empties a list', '[ 1.0, 2.0 ]', [], '[]'],
    ['fills a list', '[ ]', [1], '[1]'],
  ])('%s', (_what, text, changed, expected) => {
    expect(rewritten(text, changed)).toBe(expected);
  });

  it.each<[string, string, unknown, string]>([
    ['the last of which changed', '{"a":"s3cret","a":"x"}', { a: '*' }, '{"a":"*"}'],
    [
      'beside the change',
      '{"a":{"b":"s3cret","b":1.0},"c":"x"}',
      { a: { b: 1 }, c: '*' },
      '{"a":{"b":1.0},"c":"*"}',
    ],
    ['none of which changed', '[{"b":"s3cret", "b":1.0}, 1.0]', [{ b: 1 }, 1], '[{"b":1.0}, 1.0]'],
    ['written in two ways', '{"a":"s3cret","\\u0061":1.0}', { a: 1 }, '{"a":1.0}'],
    ['as many as the changed value has keys', '{"a":1,"a":1}', { a: 1, b: 2 }, '{"a":1,"b":2}'],
    [
      'in each other',
      '{"a":{"a":[1.0],"a":2.0},"a":{"a":1.0,"a":3.0}}',
      { a: { a: 3 } },
      '{"a":{"a":3.0}}',
    ],
    [
      'called `__proto__`',
      '{"__proto__":"s3cret","__proto__":1.0}',
      parsed('{"__proto__":1}'),
      '{"__proto__":1.0}',
    ],
  ])('keeps none of the keys that stand there twice: %s', (_what, text, changed, expected) => {
    expect(rewritten(text, changed)).toBe(expected);
  });

  it.each<[string, string, unknown, string | undefined]>([
    ['undefined', '1', undefined, undefined],
    ['a bigint', '[1,2]', [1n, 2], undefined],
    ['a bigint deep in what is written', '[1,2]', [{ a: 1n }, 2], undefined],
    ['an undefined member', '{"a":1.0,"b":2}', { a: 1, b: undefined }, '{"a":1.0}'],
    ['an undefined member more', '{"a":1.0}', { a: 1, b: undefined }, '{"a":1.0}'],
    ['an undefined item', '[1.0,2,null]', [1, undefined, undefined], '[1.0,null,null]'],
    ['a function', '{"a":1.0,"b":2}', { a: 1, b: () => 1 }, '{"a":1}'],
    ['a function in a list', '[1.0,2]', [1, () => 1], '[1,null]'],
    ['who writes itself', '{"a":1.0}', { a: 1, toJSON: () => 'x' }, '"x"'],
    [
      'who does not write itself',
      '{"a":1.0,"b":{}}',
      { a: 1, b: { toJSON: () => undefined } },
      '{"a":1}',
    ],
    ['a list that writes itself', '[1.0]', Object.assign([1], { toJSON: () => 'x' }), '"x"'],
    ['a boxed string', '["a",1.0]', [Object('a'), 1], '["a",1]'],
    ['what is not enumerable', '{"a":1.0}', Object.defineProperty({}, 'a', { value: 1 }), '{}'],
    ['no number', '[1.0,2]', [1, Number.NaN], '[1.0,null]'],
  ])('says what JSON.stringify says of %s', (_what, text, changed, expected) => {
    expect(rewritten(text, changed)).toBe(expected);
  });

  it.each([
    ['', 'nothing'],
    ['{"a":1', 'no end'],
    ['{"a"', 'no colon'],
    ['{"a":"x', 'a string without end'],
    ['{"a":1}}', 'more than one value'],
    ['{"a":nope}', 'an unknown word'],
    ['{"a":"\\x"}', 'an unknown escape'],
    ['{"a":}', 'no value'],
    ['{a:1}', 'a bare key'],
    ['{"a":1,"b":[}', 'brackets that do not match'],
  ])('is written anew where it was no JSON: %j, %s', (text) => {
    expect(rewritten(text, { a: 1 })).toBe('{"a":1}');
  });

  it('writes nothing of a value that goes in circles', () => {
    const ring: { a: unknown } = { a: 1 };
    ring.a = ring;
    expect(rewritten('{"a":{"a":1}}', ring)).toBeUndefined();
  });
});

describe('a hostile text', () => {
  const MEBI = 1_048_576;
  const nested = (depth: number, inner: string) => '['.repeat(depth) + inner + ']'.repeat(depth);

  it.each([
    [512, '"b", 1.0'],
    [513, '"b",1'],
    [2_000, '"b",1'],
  ])('is kept down to the 512th level, and changed below: %i levels', (depth, expected) => {
    const text = `{"n":1.0, "deep":${nested(depth - 1, '"a", 1.0')}}`;
    const changed = parsed(text.replace('"a"', '"b"'));
    expect(rewritten(text, changed)).toBe(text.replace('"a", 1.0', expected));
  });

  it('opens a mebibyte of lists', () => {
    const open = '['.repeat(MEBI);
    expect(rewritten(open, { a: 1 })).toBe('{"a":1}');
    expect(rewritten(open, [[1]])).toBe('[[1]]');
    const whole = nested(MEBI / 2, '');
    expect(rewritten(`[${whole},1.0]`, ['x', 1])).toBe('["x",1.0]');
    // Too deep for who writes it: it must not pass at all.
    expect(rewritten(whole, parsed(whole))).toBeUndefined();
  });

  it('has 100,000 members', () => {
    const members = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1.0`);
    const text = `{${members.join()},"a":"x"}`;
    const changed = Object.assign({}, parsed(text), { a: 'y' });
    expect(rewritten(text, changed)).toBe(`${text.slice(0, -3)}y"}`);
    const twice = `{"a":"s3cret",${text.slice(1)}`;
    expect(rewritten(twice, changed)).toBe(`${text.slice(0, -3)}y"}`);
  });

  it('changes each of 100,000 items', () => {
    const text = `[${'"a", 1.0,'.repeat(100_000)}0]`;
    const changed = parsed(text.replaceAll('"a"', '"b"'));
    expect(rewritten(text, changed)).toBe(text.replaceAll('"a"', '"b"'));
  });

  it.each([
    ['plain', 'x'.repeat(MEBI)],
    ['of escaped quotes', '\\"'.repeat(MEBI / 2)],
    ['of backslashes', '\\\\'.repeat(MEBI / 2)],
    ['of brackets', '[{'.repeat(MEBI / 2)],
  ])('has long strings: %s', (_what, long) => {
    const text = `{"${long}":"${long}","b":["${long}"],"a":"x"}`;
    const changed = Object.assign({}, parsed(text), { b: 1, a: 'y' });
    expect(rewritten(text, changed)).toBe(`{"${long}":"${long}","b":1,"a":"y"}`);
  });

  it('has long blanks and numbers', () => {
    const [blanks, digits] = [' '.repeat(MEBI), '1'.repeat(MEBI)];
    const text = `[${blanks}${digits}${blanks},"a"${blanks}]`;
    expect(rewritten(text, [Infinity, 'b'])).toBe(text.replace('a', 'b'));
  });

  it('has the same key twice on every level', () => {
    const levels = 500;
    const long = 'x'.repeat(2_000);
    const text = `${'{"a":'.repeat(levels)}"${long}"${',"a":1.0}'.repeat(levels)}`;
    expect(rewritten(text, parsed(text))).toBe('{"a":1.0}');
    const last = `${'{"a":1.0,"a":'.repeat(levels)}"${long}"${'}'.repeat(levels)}`;
    const value = parsed(last);
    expect(rewritten(last, value)).toBe(JSON.stringify(value));
  });
});
