import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { ByteScanner } from './byte-scanner.ts';
import { canonicalize } from './canonicalize.ts';
import { DEPTH_MAX } from './units.ts';

/** Whether a scanner takes these bytes for an object in canonical form. */
function isCanonicalObject(bytes: Uint8Array): boolean {
  const scan = new ByteScanner(bytes, true);
  return scan.skipCanonical(0) === 'canonical' && scan.at === bytes.length;
}

function seen(text: string): boolean {
  const bytes = Buffer.from(`,${text},`);
  return isCanonicalObject(bytes.subarray(1, -1));
}

/** JSON as somebody might write it: valid or nearly so, canonical or nearly so. */
function anyText(): fc.Arbitrary<string> {
  const pieces = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '"b"',
      '"é"',
      '"😀"',
      '"\\n"',
      '"\\/"',
      '"\\u0041"',
    ],
    ...['0', '-0', '1', '-1', '01', '1.5', '1.50', '0.000001', '0.0000001', '1e3', '1E3', '-0.5'],
    ...[
      '123456789012345678901',
      '1234567890123456789012',
      'true',
      'false',
      'null',
      ' ',
      '\t',
      '{}',
    ],
    ...['"a":1', '"b":2', '"a":{}', '"aa":[]', '\u0001', '"\\ud800"', '.', '-', 'tru'],
  );
  const torn = fc.array(pieces, { maxLength: 8 }).map((parts) => `{${parts.join('')}}`);
  const value = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
  const object = fc.dictionary(fc.string({ unit: 'binary' }), value);
  const written = object.map((given) => JSON.stringify(given));
  const canonical = written.map((text) => {
    const result = canonicalize(text);
    return result.ok ? result.canonical : text;
  });
  return fc.oneof(torn, written, canonical);
}

describe('the canonical form, seen from bytes', () => {
  it('never takes a text that is not canonical for canonical', () => {
    const property = fc.property(anyText(), (text) => {
      if (!seen(text)) return;
      expect(canonicalize(text, { foldsKeys: true })).toEqual({ ok: true, canonical: text });
    });
    fc.assert(property, runs(5_000));
  });

  it.each([
    '{}',
    '{"a":1}',
    '{"a":"x\\n\\"y\\"\\\\","b":[true,false,null,{}],"c":{"d":-1.25}}',
    '{"a":"é😀\u2028\u007f","b":{"é":1}}',
    `{"text":"${'long '.repeat(100)}"}`,
    `{"a":${'['.repeat(DEPTH_MAX - 1)}${']'.repeat(DEPTH_MAX - 1)}}`,
  ])('knows what is canonical: %j', (text) => {
    expect(canonicalize(text)).toEqual({ ok: true, canonical: text });
    expect(seen(text)).toBe(true);
  });

  it.each([
    ['no object', '[]'],
    ['keys out of order', '{"b":1,"a":2}'],
    ['a key twice', '{"a":1,"a":2}'],
    ['a longer key first', '{"aa":1,"a":2}'],
    ['keys beyond ASCII', '{"a":0,"é":1,"\uffff":2,"😀":3}'],
    ['keys that differ only in case', '{"A":0,"a":1}'],
    ['white space', '{"a": 1}'],
    ['an escape that needs none', '{"a":"\\/"}'],
    ['a number with an exponent', '{"a":1e3}'],
    ['a zero with a sign', '{"a":-0}'],
    ['a control character', '{"a":"\u0001"}'],
    ['two values', '{}{}'],
    ['an end too early', '{"a":1'],
    ['too much depth', `{"a":${'['.repeat(DEPTH_MAX)}${']'.repeat(DEPTH_MAX)}}`],
  ])('leaves the rest to who reads the text: %s', (_, text) => {
    expect(seen(text)).toBe(false);
  });

  it('sees nothing beyond the end that it is given', () => {
    const bytes = Buffer.from('{"a":"b"}');
    for (let end = 0; end < bytes.length; end++) {
      expect(isCanonicalObject(bytes.subarray(0, end))).toBe(false);
    }
  });
});
