import type { JsonValue } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize } from './canonicalize.ts';
import { canonicalizeValue } from './value.ts';

function isJson(value: unknown): value is JsonValue {
  return JSON.stringify(value) !== undefined;
}

describe('canonicalizeValue', () => {
  it('writes what canonicalize makes of the same value as text', () => {
    const property = fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      if (!isJson(value)) throw new TypeError('not JSON');
      const canonical = canonicalizeValue(value);
      expect(canonicalize(JSON.stringify(value))).toEqual({ ok: true, canonical });
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  it('sorts keys by code point', () => {
    expect(canonicalizeValue({ '😀': 1, '\ue000': 2, b: 3, a: 4 })).toBe(
      '{"a":4,"b":3,"\ue000":2,"😀":1}',
    );
  });

  it('writes -0 as 0', () => {
    expect(canonicalizeValue([-0])).toBe('[0]');
  });

  it.each([
    ['not a number', [Number.NaN]],
    ['infinity', { a: Number.POSITIVE_INFINITY }],
  ])('throws on %s', (_, value) => {
    expect(() => canonicalizeValue(value)).toThrow(RangeError);
  });

  it('throws on undefined, which JSON.stringify would drop', () => {
    const holed: Record<string, JsonValue> = { a: 1 };
    Reflect.set(holed, 'b', undefined);
    expect(() => canonicalizeValue(holed)).toThrow(TypeError);
    expect(() => canonicalizeValue([holed['b'] as JsonValue])).toThrow(TypeError);
  });

  it('throws on a value that contains itself', () => {
    const loop: JsonValue[] = [];
    loop.push(loop);
    expect(() => canonicalizeValue(loop)).toThrow(RangeError);
  });
});
