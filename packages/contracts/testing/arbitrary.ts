// Random values that fit a shape, for property tests.
import * as fc from 'fast-check';
import type { ObjectShape, Shape, StringShape } from '../shape/shape.ts';

const TEXT_LENGTH_MAX = 40;
const ITEMS_MAX = 4;

/** Values that fit the shape, its conditions included. */
export function arbitraryOf(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'string':
      return text(shape);
    case 'integer': {
      const { min = -1_000_000, max = Number.MAX_SAFE_INTEGER } = shape;
      return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
    }
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true, ...limits(shape) });
    case 'boolean':
      return fc.boolean();
    case 'enum':
      return fc.constantFrom(...shape.values);
    case 'array': {
      const maxLength = Math.min(shape.itemsMax, shape.itemsMin + ITEMS_MAX);
      return fc.array(arbitraryOf(shape.items), { minLength: shape.itemsMin, maxLength });
    }
    case 'record':
      return fc.dictionary(fc.string({ unit: 'binary' }), arbitraryOf(shape.values), {
        maxKeys: ITEMS_MAX,
      });
    case 'object':
      return object(shape);
    case 'nullable':
      return fc.option(arbitraryOf(shape.inner), { nil: null });
    case 'variant':
      return fc.oneof(...Object.values(shape.cases).map(object));
    case 'either':
      return fc.oneof(...shape.options.map(arbitraryOf));
    case 'scalar':
      return fc.oneof(fc.string(), fc.boolean(), fc.integer());
    case 'json':
      return fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
  }
}

function limits(shape: { readonly min?: number; readonly max?: number }) {
  const { min, max } = shape;
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

function text(shape: StringShape): fc.Arbitrary<string> {
  switch (shape.format) {
    case 'sha256':
      return fc
        .array(fc.constantFrom(...'0123456789abcdef'.split('')), { minLength: 64, maxLength: 64 })
        .map((digits) => digits.join(''));
    case 'rfc3339':
      return fc
        .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
        .map((date) => date.toISOString());
    case 'pack_version':
      return fc.tuple(fc.nat(999), fc.nat(999)).map(([minor, patch]) => `0.${minor}.${patch}`);
    default: {
      const maxLength = Math.min(shape.lengthMax, shape.lengthMin + TEXT_LENGTH_MAX);
      // Line separators, quotes and control characters included.
      return fc.string({ unit: 'binary', minLength: shape.lengthMin, maxLength });
    }
  }
}

function object(shape: ObjectShape): fc.Arbitrary<unknown> {
  const fields = Object.entries(shape.fields);
  const arbitraries = fields.map(([name, field]) => [name, arbitraryOf(field.shape)] as const);
  const needed = fields.filter(([, field]) => field.required).map(([name]) => name);
  return fc
    .record(Object.fromEntries(arbitraries), { requiredKeys: needed })
    .filter((value) => meetsConditions(shape, value));
}

function meetsConditions(shape: ObjectShape, value: Record<string, unknown>): boolean {
  return shape.conditions.every(
    ({ field, is, needs }) =>
      value[field] !== is || needs.every((name) => (value[name] ?? null) !== null),
  );
}
