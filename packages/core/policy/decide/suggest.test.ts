import type { JsonObject, JsonValue, Suggest } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { jsonObject } from '../testing/scenario.ts';
import { suggestArgs } from './suggest.ts';

const keys = fc.constantFrom('a', 'b', 'c', '__proto__', 'toString');
const numbers = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.double(), fc.constant(2 ** 53));
const scalars = fc.oneof(numbers.filter(Number.isFinite), fc.constantFrom('x', 'y'), fc.boolean());
const values = fc.oneof(
  scalars,
  numbers,
  fc.constant(null),
  fc.array(scalars, { maxLength: 2 }),
  fc.dictionary(keys, numbers, { maxKeys: 2 }),
);
const objects = <T>(value: fc.Arbitrary<T>) =>
  fc.uniqueArray(fc.tuple(keys, value), { selector: ([key]) => key }).map(Object.fromEntries<T>);
const ranges = fc
  .tuple(fc.integer({ min: -9, max: 9 }), fc.nat(9))
  .chain(([min, width]) => fc.constantFrom({ min }, { max: min }, { min, max: min + width }));
const recipes: fc.Arbitrary<Suggest> = fc.record(
  {
    clamp: objects(ranges),
    drop: fc.uniqueArray(keys, { minLength: 1 }),
    one_of: objects(fc.array(scalars, { minLength: 1, maxLength: 3 })),
  },
  { requiredKeys: [] },
);

const own = <T>(object: { readonly [key: string]: T } | undefined, key: string): T | undefined =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

/** What one key becomes; undefined when it is gone. */
function corrected(recipe: Suggest, key: string, value: JsonValue): JsonValue | undefined {
  if (recipe.drop?.includes(key)) return undefined;
  const allowed = own(recipe.one_of, key);
  if (allowed !== undefined && !allowed.some((one) => one === value)) return allowed[0];
  const range = allowed === undefined ? own(recipe.clamp, key) : undefined;
  if (range === undefined || typeof value !== 'number') return value;
  if (range.min !== undefined && value < range.min) return range.min;
  return range.max !== undefined && value > range.max ? range.max : value;
}

function isExact(value: JsonValue): boolean {
  if (typeof value === 'number') {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  }
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isExact);
}

describe('suggestArgs', () => {
  it('gives a plain JSON object or null, and never a number that lost digits', () => {
    verifies('SL-10.2');
    fc.assert(
      fc.property(recipes, objects(values), (recipe, args: JsonObject) => {
        const before = JSON.stringify(args);
        const suggested = suggestArgs(recipe, args);
        expect(JSON.stringify(args)).toBe(before);
        if (suggested === null) return;
        expect(Array.isArray(suggested)).toBe(false);
        expect(isExact(suggested)).toBe(true);
        const text = JSON.stringify(suggested);
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        expect(text).not.toBe(before);
      }),
      { numRuns: 1_000 },
    );
  });

  it('changes the keys that the rule names, and nothing else', () => {
    fc.assert(
      fc.property(recipes, objects(values), (recipe, args: JsonObject) => {
        // A key that is both clamped and listed is decided by the list.
        const both = Object.keys(recipe.clamp ?? {}).some((key) => own(recipe.one_of, key));
        fc.pre(!both);
        const wanted = Object.entries(args).flatMap(([key, value]) => {
          const now = corrected(recipe, key, value);
          return now === undefined ? [] : [[key, now] as const];
        });
        const same =
          wanted.length === Object.keys(args).length &&
          wanted.every(([key, value]) => value === args[key]);
        const none = same || !wanted.every(([, value]) => isExact(value));
        const suggested = suggestArgs(recipe, args);
        expect(suggested && Object.entries(suggested)).toEqual(none ? null : wanted);
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps a dangerous key as data and changes no prototype', () => {
    const args = jsonObject('{"__proto__":{"admin":true},"x":1}');
    const suggested = suggestArgs({ drop: ['x'] }, args);
    expect(JSON.stringify(suggested)).toBe('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(suggested)).toBe(Object.prototype);
  });

  it('gives up on arguments that are nested too deep', () => {
    let deep: JsonValue = 1;
    for (let index = 0; index < 1_000; index++) deep = [deep];
    expect(suggestArgs({ drop: ['x'] }, { x: 1, deep })).toBeNull();
  });

  it('stays in the allowed values when a key is clamped and listed', () => {
    const recipe: Suggest = { clamp: { n: { max: 10 } }, one_of: { n: [5, 7] } };
    expect(suggestArgs(recipe, { n: 50 })).toEqual({ n: 5 });
    expect(suggestArgs(recipe, { n: 9 })).toEqual({ n: 5 });
    expect(suggestArgs(recipe, { n: 7 })).toBeNull();
  });
});
