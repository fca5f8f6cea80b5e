// Shapes are the one source of a contract: TypeScript infers the type, `check` reads a value
// against it, `jsonSchema` publishes it. Plain data, so that nothing costs anything until used; the marks on the
// functions tell a bundler that a shape nobody uses can go.

import type { Format } from './formats.ts';

export type Scalar = string | number | boolean;

export interface StringShape {
  readonly kind: 'string';
  readonly lengthMin: number;
  readonly lengthMax: number;
  readonly format?: Format;
}
export interface NumberShape {
  readonly kind: 'number' | 'integer';
  readonly min?: number;
  readonly max?: number;
}
export interface BooleanShape {
  readonly kind: 'boolean';
}
export interface EnumShape<V extends string = string> {
  readonly kind: 'enum';
  readonly values: readonly V[];
}
export interface ArrayShape<I extends Shape = Shape> {
  readonly kind: 'array';
  readonly items: I;
  readonly itemsMin: number;
  readonly itemsMax: number;
}
export interface RecordShape<I extends Shape = Shape> {
  readonly kind: 'record';
  readonly values: I;
  /** RECORD_KEY_LENGTH_MAX when absent. */
  readonly keyLengthMax?: number;
}
/** When `field` has the value `is`, the fields in `needs` must be there and not null. */
export interface Condition {
  readonly field: string;
  readonly is: string;
  readonly needs: readonly string[];
}
export interface ObjectShape<F extends Fields = Fields> {
  readonly kind: 'object';
  readonly fields: F;
  /** A closed object rejects unknown fields; an open one ignores them. */
  readonly closed: boolean;
  readonly conditions: readonly Condition[];
}
export interface NullableShape<I extends PlainShape = PlainShape> {
  readonly kind: 'nullable';
  readonly inner: I;
}
/** One of several closed or open objects; the value of one field says which. */
export interface VariantShape<C extends Cases = Cases> {
  readonly kind: 'variant';
  readonly tag: string;
  readonly cases: C;
}
/** A text or a number. Not a union of any shapes: the compiler could not infer through that. */
export interface EitherShape {
  readonly kind: 'either';
  readonly options: readonly (StringShape | NumberShape)[];
}
export interface ScalarShape {
  readonly kind: 'scalar';
  /** Of a string. */
  readonly lengthMax: number;
}
export interface JsonShape {
  readonly kind: 'json';
}

/** Every shape but nullable: a nullable shape does not nest, so the compiler knows where to stop. */
type PlainShape =
  | StringShape
  | NumberShape
  | BooleanShape
  | EnumShape
  | ArrayShape
  | RecordShape
  | ObjectShape
  | VariantShape
  | EitherShape
  | ScalarShape
  | JsonShape;
export type Shape = PlainShape | NullableShape;

export interface Field<S extends Shape = Shape, R extends boolean = boolean> {
  readonly shape: S;
  readonly required: R;
  readonly doc: string;
  /** What `withDefaults` puts where the field is left out; then the schema does not require it. */
  readonly default?: JsonValue;
}
export type Fields = { readonly [name: string]: Field };

type Cases = { readonly [tag: string]: ObjectShape };

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

type RequiredKeys<F extends Fields> = {
  [K in keyof F]: F[K]['required'] extends true ? K : never;
}[keyof F];
type Simplify<T> = { [K in keyof T]: T[K] };

export type Infer<S extends Shape> =
  S extends NullableShape<infer I>
    ? InferPlain<I> | null
    : S extends PlainShape
      ? InferPlain<S>
      : never;

/** A table, since a long chain of conditions would take the compiler too deep. */
interface InferByKind<S> {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly enum: S extends EnumShape<infer V> ? V : never;
  readonly array: S extends ArrayShape<infer I> ? readonly Infer<I>[] : never;
  readonly record: S extends RecordShape<infer I> ? { readonly [key: string]: Infer<I> } : never;
  readonly object: S extends ObjectShape<infer F> ? InferFields<F> : never;
  readonly variant: S extends VariantShape<infer C> ? InferCases<C> : never;
  readonly either: string | number;
  readonly scalar: Scalar;
  readonly json: JsonValue;
}
type InferPlain<S extends PlainShape> = InferByKind<S>[S['kind']];
type InferCases<C extends Cases> = { [K in keyof C]: InferFields<C[K]['fields']> }[keyof C];

export type InferFields<F extends Fields> = Simplify<
  { readonly [K in RequiredKeys<F>]: Infer<F[K]['shape']> } & {
    readonly [K in Exclude<keyof F, RequiredKeys<F>>]?: Infer<F[K]['shape']>;
  }
>;

/** The longest text of a field that sets no limit of its own. */
export const STRING_LENGTH_MAX = 65_536;
const ARRAY_ITEMS_MAX = 10_000;
/** Short, because a YAML alias repeats a long text for the price of its name. */
const SCALAR_LENGTH_MAX = 4_096;
export const RECORD_KEY_LENGTH_MAX = 1_024;

/** A non-empty string, unless `lengthMin` is 0. */
/* @__NO_SIDE_EFFECTS__ */
export function string(limits: { lengthMin?: number; lengthMax?: number } = {}): StringShape {
  const { lengthMin = 1, lengthMax = STRING_LENGTH_MAX } = limits;
  return { kind: 'string', lengthMin, lengthMax };
}

/* @__NO_SIDE_EFFECTS__ */
export function formatted(format: Format): StringShape {
  return { kind: 'string', lengthMin: 1, lengthMax: 128, format };
}

/* @__NO_SIDE_EFFECTS__ */
export function integer(limits: { min?: number; max?: number } = {}): NumberShape {
  return { kind: 'integer', ...limits };
}

/* @__NO_SIDE_EFFECTS__ */
export function number(limits: { min?: number; max?: number } = {}): NumberShape {
  return { kind: 'number', ...limits };
}

/* @__NO_SIDE_EFFECTS__ */
export function boolean(): BooleanShape {
  return { kind: 'boolean' };
}

/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const V extends string>(...values: readonly V[]): EnumShape<V> {
  return { kind: 'enum', values };
}

/* @__NO_SIDE_EFFECTS__ */
export function array<I extends Shape>(
  items: I,
  limits: { itemsMin?: number; itemsMax?: number } = {},
): ArrayShape<I> {
  const { itemsMin = 0, itemsMax = ARRAY_ITEMS_MAX } = limits;
  return { kind: 'array', items, itemsMin, itemsMax };
}

/* @__NO_SIDE_EFFECTS__ */
export function record<I extends Shape>(values: I): RecordShape<I> {
  return { kind: 'record', values, keyLengthMax: RECORD_KEY_LENGTH_MAX };
}

/* @__NO_SIDE_EFFECTS__ */
export function open<F extends Fields>(
  fields: F,
  conditions: readonly Condition[] = [],
): ObjectShape<F> {
  return { kind: 'object', fields, closed: false, conditions };
}

/* @__NO_SIDE_EFFECTS__ */
export function closed<F extends Fields>(
  fields: F,
  conditions: readonly Condition[] = [],
): ObjectShape<F> {
  return { kind: 'object', fields, closed: true, conditions };
}

/* @__NO_SIDE_EFFECTS__ */
export function nullable<I extends PlainShape>(inner: I): NullableShape<I> {
  return { kind: 'nullable', inner };
}

/* @__NO_SIDE_EFFECTS__ */
export function variant<C extends Cases>(tag: string, cases: C): VariantShape<C> {
  return { kind: 'variant', tag, cases };
}

/** Objects have `variant` instead. */
/* @__NO_SIDE_EFFECTS__ */
export function either(asText: StringShape, asNumber: NumberShape): EitherShape {
  return { kind: 'either', options: [asText, asNumber] };
}

/** A short string, a number or a boolean. */
/* @__NO_SIDE_EFFECTS__ */
export function scalar(): ScalarShape {
  return { kind: 'scalar', lengthMax: SCALAR_LENGTH_MAX };
}

/** Any JSON value. */
/* @__NO_SIDE_EFFECTS__ */
export function json(): JsonShape {
  return { kind: 'json' };
}

/* @__NO_SIDE_EFFECTS__ */
export function required<S extends Shape>(shape: S, doc: string): Field<S, true> {
  return { shape, required: true, doc };
}

/* @__NO_SIDE_EFFECTS__ */
export function optional<S extends Shape>(shape: S, doc: string): Field<S, false> {
  return { shape, required: false, doc };
}

/** May be left out by people; `withDefaults` fills it in, and from then on it is there. */
/* @__NO_SIDE_EFFECTS__ */
export function defaulted<S extends Shape>(
  shape: S,
  value: JsonValue,
  doc: string,
): Field<S, true> {
  return { shape, required: true, doc, default: value };
}

/** The same object with nothing left out: every field is required. */
/* @__NO_SIDE_EFFECTS__ */
export function complete<F extends Fields>(
  shape: ObjectShape<F>,
): ObjectShape<{ readonly [K in keyof F]: Field<F[K]['shape'], true> }>;
/* @__NO_SIDE_EFFECTS__ */
export function complete(shape: ObjectShape): ObjectShape {
  const fields = Object.entries(shape.fields).map(([name, field]) => {
    return [name, { ...field, required: true }] as const;
  });
  return { ...shape, fields: Object.fromEntries(fields) };
}
