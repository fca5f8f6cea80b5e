import { FORMATS } from './formats.ts';
import {
  type Infer,
  type JsonObject,
  type ObjectShape,
  RECORD_KEY_LENGTH_MAX,
  type RecordShape,
  type Shape,
  type StringShape,
  type VariantShape,
} from './shape.ts';

/** One thing that is wrong with a value, at a path, with what would have been right. */
export interface Mismatch {
  readonly path: readonly (string | number)[];
  readonly problem: 'missing' | 'unknown' | 'type' | 'value';
  /** What the contract wants here: "a string", "one of ALLOW, BLOCK", … */
  readonly expected: string;
  /** What stood there, in a few words. */
  readonly got: string;
  /** The names or values that would have been accepted, for suggestions. */
  readonly choices: readonly string[];
}

const MISMATCHES_MAX = 100;
const DEPTH_MAX = 64;
/** Free-form values may nest as deep as arguments that can be hashed. */
const JSON_DEPTH_MAX = 256;
/** All free-form values of one checked value together have at most this many nodes. */
const JSON_NODES_MAX = 100_000;

/** Reads a value against a shape; an empty list means that it fits. */
export function check(shape: Shape, value: unknown): readonly Mismatch[] {
  const walk = new ShapeWalk();
  walk.visit(shape, value);
  return walk.found;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly mismatches: readonly Mismatch[] };

/** Reads a value as a shape's type. Unknown fields of open objects stay where they are. */
export function parseAs<S extends Shape>(shape: S, value: unknown): Parsed<Infer<S>> {
  const mismatches = check(shape, value);
  if (mismatches.length > 0) return { ok: false, mismatches };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `check` has just shown it.
  return { ok: true, value: value as Infer<S> };
}

/** A parser of one shape; `T` is its inferred type, which the compiler cannot infer from here. */
/* @__NO_SIDE_EFFECTS__ */
export function parserFor<T>(shape: Shape): (value: unknown) => Parsed<T> {
  return (value) => {
    const mismatches = check(shape, value);
    if (mismatches.length > 0) return { ok: false, mismatches };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `check` has just shown it.
    return { ok: true, value: value as T };
  };
}

/** One pass over a value: where it is, and what it has found so far. */
class ShapeWalk {
  readonly found: Mismatch[] = [];
  readonly #path: (string | number)[] = [];
  #jsonNodesLeft = JSON_NODES_MAX;

  visit(shape: Shape, value: unknown): void {
    if (this.found.length >= MISMATCHES_MAX) return;
    switch (shape.kind) {
      case 'object':
        return this.#visitObject(shape, value);
      case 'array':
        if (!Array.isArray(value)) return this.#report('type', shape, value);
        if (value.length < shape.itemsMin || value.length > shape.itemsMax) {
          return this.#report('value', shape, value);
        }
        for (const [index, item] of value.entries()) this.#visitAt(index, shape.items, item);
        return;
      case 'record':
        return this.#visitRecord(shape, value);
      case 'variant':
        return this.#visitVariant(shape, value);
      case 'nullable':
        if (value !== null) this.visit(shape.inner, value);
        return;
      case 'json': {
        const problem = this.#jsonProblem(value, 0);
        if (problem !== undefined) this.#report(problem, shape, value);
        return;
      }
      default: {
        const problem = leafProblem(shape, value);
        if (problem !== undefined) this.#report(problem, shape, value);
      }
    }
  }

  #visitObject(shape: ObjectShape, value: unknown): void {
    if (!isObject(value)) return this.#report('type', shape, value);
    for (const name of Object.keys(shape.fields)) {
      const field = shape.fields[name];
      if (field === undefined) continue;
      const present = Object.hasOwn(value, name) && value[name] !== undefined;
      if (present) this.#visitAt(name, field.shape, value[name]);
      else if (field.required) this.#reportMissing(name, field.shape);
    }
    this.#visitConditions(shape, value);
    if (!shape.closed) return;
    const known = Object.keys(shape.fields);
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(shape.fields, name)) continue;
      if (this.found.length >= MISMATCHES_MAX) return;
      this.found.push({
        path: [...this.#path, name],
        problem: 'unknown',
        expected: `one of the fields ${known.join(', ')}`,
        got: `the unknown field ${describeValue(name)}`,
        choices: known,
      });
    }
  }

  #visitRecord(shape: RecordShape, value: unknown): void {
    if (!isObject(value)) return this.#report('type', shape, value);
    const { values, keyLengthMax = RECORD_KEY_LENGTH_MAX } = shape;
    for (const key of Object.keys(value)) {
      if (this.found.length >= MISMATCHES_MAX) return;
      if (!isLonger(key, keyLengthMax)) this.#visitAt(key, values, value[key]);
      // Reported on the record: a path with such a key in it would be no help.
      else this.#reportKey(keyLengthMax, key);
    }
  }

  /** A value of a wrong type anywhere inside, or one that is too large to be walked. */
  #jsonProblem(value: unknown, depth: number): 'type' | 'value' | undefined {
    if (--this.#jsonNodesLeft < 0) return 'value';
    if (value === null || isPrimitive(value)) return undefined;
    if (!Array.isArray(value) && !isPlain(value)) return 'type';
    if (depth >= JSON_DEPTH_MAX) return 'value';
    for (const item of Array.isArray(value) ? value : Object.values(value)) {
      const problem = this.#jsonProblem(item, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #visitConditions(shape: ObjectShape, value: Record<string, unknown>): void {
    for (const { field, is, needs } of shape.conditions) {
      if (!Object.hasOwn(value, field) || value[field] !== is) continue;
      for (const name of needs) {
        const needed = shape.fields[name];
        const present = Object.hasOwn(value, name) && (value[name] ?? null) !== null;
        if (present || needed === undefined) continue;
        this.#reportMissing(name, needed.shape, `, because \`${field}\` is \`${is}\``);
      }
    }
  }

  #visitVariant(shape: VariantShape, value: unknown): void {
    if (!isObject(value)) return this.#report('type', shape, value);
    const tag = value[shape.tag];
    const chosen = typeof tag === 'string' && Object.hasOwn(shape.cases, tag) && shape.cases[tag];
    if (chosen) return this.#visitObject(chosen, value);
    const tagShape: Shape = { kind: 'enum', values: Object.keys(shape.cases) };
    if (tag === undefined) return this.#reportMissing(shape.tag, tagShape);
    this.#visitAt(shape.tag, tagShape, tag);
  }

  #visitAt(key: string | number, shape: Shape, value: unknown): void {
    if (this.#path.length >= DEPTH_MAX) return this.#report('value', shape, value);
    this.#path.push(key);
    this.visit(shape, value);
    this.#path.pop();
  }

  #reportMissing(name: string, shape: Shape, because = ''): void {
    this.found.push({
      path: [...this.#path, name],
      problem: 'missing',
      expected: `\`${name}\`, ${describe(shape)}${because}`,
      got: 'nothing',
      choices: choicesOf(shape),
    });
  }

  #reportKey(keyLengthMax: number, key: string): void {
    this.found.push({
      path: [...this.#path],
      problem: 'value',
      expected: `an object with keys of at most ${keyLengthMax} characters`,
      got: `a key of ${key.length} characters`,
      choices: [],
    });
  }

  #report(problem: 'type' | 'value', shape: Shape, value: unknown): void {
    this.found.push({
      path: [...this.#path],
      problem,
      expected: describe(shape),
      got: describeValue(value),
      choices: choicesOf(shape),
    });
  }
}

type LeafShape = Exclude<
  Shape,
  { kind: 'object' | 'array' | 'record' | 'nullable' | 'variant' | 'json' }
>;

function leafProblem(shape: LeafShape, value: unknown): 'type' | 'value' | undefined {
  switch (shape.kind) {
    case 'string':
      if (typeof value !== 'string') return 'type';
      return fitsString(shape, value) ? undefined : 'value';
    case 'enum':
      if (typeof value !== 'string') return 'type';
      return shape.values.includes(value) ? undefined : 'value';
    case 'integer':
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'type';
      if (shape.kind === 'integer' && !Number.isSafeInteger(value)) return 'value';
      const low = shape.min ?? Number.NEGATIVE_INFINITY;
      const high = shape.max ?? Number.POSITIVE_INFINITY;
      return value >= low && value <= high ? undefined : 'value';
    }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'type';
    case 'either':
      return shape.options.some((option) => check(option, value).length === 0) ? undefined : 'type';
    case 'scalar':
      if (!isPrimitive(value)) return 'type';
      return typeof value === 'string' && isLonger(value, shape.lengthMax) ? 'value' : undefined;
  }
}

function fitsString(shape: StringShape, value: string): boolean {
  if (value.length < shape.lengthMin || isLonger(value, shape.lengthMax)) return false;
  return shape.format === undefined || FORMATS[shape.format].pattern.test(value);
}

/** Whether a text has more characters than that, counted as JSON Schema does: by code point. */
export function isLonger(value: string, lengthMax: number): boolean {
  if (value.length <= lengthMax) return false;
  if (value.length > 2 * lengthMax) return true;
  let length = 0;
  for (const _ of value) length++;
  return length > lengthMax;
}

function isPrimitive(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'boolean';
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a UUID as we write them, in lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For what `JSON.parse` has made: such an object holds nothing but JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

/** The same object without the fields that are undefined. */
export function definedFields<T extends object>(
  fields: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- These are fields of `fields`.
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** An object as JSON.parse makes them: no class, and nothing that changes how it is written. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return typeof (value as { readonly toJSON?: unknown }).toJSON !== 'function';
}

function choicesOf(shape: Shape): readonly string[] {
  if (shape.kind === 'nullable') return choicesOf(shape.inner);
  return shape.kind === 'enum' ? shape.values : [];
}

/** A shape in words, for error messages. */
export function describe(shape: Shape): string {
  switch (shape.kind) {
    case 'string':
      if (shape.format !== undefined) return FORMATS[shape.format].words;
      return `${shape.lengthMin > 0 ? 'a non-empty' : 'a'} string of at most ${shape.lengthMax} characters`;
    case 'enum':
      return shape.values.length === 1
        ? `\`${shape.values[0]}\``
        : `one of ${shape.values.join(', ')}`;
    case 'integer':
    case 'number':
      return `${shape.kind === 'integer' ? 'a whole number' : 'a number'}${range(shape)}`;
    case 'boolean':
      return 'true or false';
    case 'array': {
      const least = shape.itemsMin > 0 ? ` of at least ${shape.itemsMin}` : '';
      return `a list${least}; each item ${describe(shape.items)}`;
    }
    case 'record':
      return `an object; each value ${describe(shape.values)}`;
    case 'object':
    case 'variant':
      return 'an object';
    case 'nullable':
      return `${describe(shape.inner)}, or null`;
    case 'either':
      return shape.options.map(describe).join(', or ');
    case 'scalar':
      return `a string of at most ${shape.lengthMax} characters, a number, true or false`;
    case 'json':
      return `a JSON value of at most ${JSON_NODES_MAX} parts, nested at most ${JSON_DEPTH_MAX} deep`;
  }
}

function range(shape: { readonly min?: number; readonly max?: number }): string {
  if (shape.min !== undefined && shape.max !== undefined)
    return ` from ${shape.min} to ${shape.max}`;
  if (shape.min !== undefined) return ` of at least ${shape.min}`;
  if (shape.max !== undefined) return ` of at most ${shape.max}`;
  return '';
}

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return value === undefined ? 'nothing' : 'an object';
  return value.length > 60 ? `a string of ${value.length} characters` : `\`${value}\``;
}
