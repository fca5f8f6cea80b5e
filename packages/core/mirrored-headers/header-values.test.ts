import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { decodeHeaderValue, encodeHeaderValue } from './header-values.ts';

const sentinel = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('the value of a mirrored header', () => {
  // The table "Encoding examples" of the specification.
  it.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ])('encodes %j as %j', (text, encoded) => {
    expect(encodeHeaderValue(text)).toBe(encoded);
    expect(decodeHeaderValue(encoded)).toBe(text);
  });

  it.each([
    ['a tab inside', 'a\tb'],
    ['a carriage return', 'a\r\nX-Evil: 1'],
    ['DEL', 'a\u007f'],
    ['a blank alone', ' '],
    ['a character beyond the first plane', '🜏'],
    ['the markers with nothing between', '=?base64??='],
  ])('encodes %s in Base64', (_, text) => {
    expect(encodeHeaderValue(text)).toBe(sentinel(text));
    expect(decodeHeaderValue(sentinel(text))).toBe(text);
  });

  it.each([
    ['', ''],
    ['a  b', 'a  b'],
    ['=?base64?SGVsbG8=', '=?base64?SGVsbG8='],
    ['SGVsbG8=', 'SGVsbG8='],
    ['=?BASE64?SGVsbG8=?=', '=?BASE64?SGVsbG8=?='],
    ['=?base64?=', '=?base64?='],
    [' \tus-west1 ', 'us-west1'],
    ['=?base64?dXMtd2VzdDE=?=', 'us-west1'],
  ])('reads %j as %j', (written, text) => {
    expect(decodeHeaderValue(written)).toBe(text);
  });

  it.each([
    ['padding that is missing', '=?base64?SGVsbG8?='],
    ['characters beyond the alphabet', '=?base64?SGVs!!!bG8=?='],
    ['the alphabet of URLs', '=?base64?_-_-?='],
    ['spare bits that are not zero', '=?base64?SGVsbG9=?='],
    ['bytes that are no UTF-8', '=?base64?/w==?='],
    ['an overlong form', '=?base64?wK8=?='],
    ['padding in the middle', '=?base64?QQ==QQ==?='],
    ['blanks between digits', '=?base64?SGVs bG8=?='],
    ['a byte beyond ASCII', 'caf\u00e9'],
    ['a control', 'a\u0001b'],
  ])('is malformed with %s', (_, written) => {
    expect(decodeHeaderValue(written)).toBeUndefined();
  });

  it('comes back as it was, and is always safe in a header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const encoded = encodeHeaderValue(text);
        expect(encoded).toMatch(/^[\x20-\x7e]*$/);
        expect(encoded).toBe(encoded.trim());
        expect(decodeHeaderValue(encoded)).toBe(Buffer.from(text).toString());
      }),
      runs(300),
    );
  });

  it('has one encoding only: no other text between the markers gives the same value', () => {
    const digit = fc.constantFrom(...'ABQghw019+/=-_ ');
    fc.assert(
      fc.property(fc.array(digit, { maxLength: 9 }), (digits) => {
        const inside = digits.join('');
        const text = decodeHeaderValue(`=?base64?${inside}?=`);
        return text === undefined || sentinel(text) === `=?base64?${inside}?=`;
      }),
      runs(300),
    );
  });
});
