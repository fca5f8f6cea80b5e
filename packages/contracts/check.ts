import type { ObjectShape, Shape, VariantShape } from './shape.ts';

/** One thing that is wrong with a value, at a path, with what would have been right. */
interface Mismatch {
  readonly path: readonly (string | number)[];
  readonly problem: 'missing' | 'unknown' | 'type' | 'value';
  /** What the contract wants here: "a string", "one of ALLOW, BLOCK", … */
  readonly expected: string;
  /** What stood there, in a few words. */
  readonly got: string;
  /** The names or values that would have been accepted, for suggestions. */
  readonly choices: readonly string[];
}

interface Walk {
  readonly found: Mismatch[];
  readonly path: (string | number)[];
}

const MISMATCHES_MAX = 100;
const DEPTH_MAX = 64;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;
const SHA256_HEX = /^[0-9a-f]{64}$/;

/** Reads a value against a shape; an empty list means that it fits. */
function check(shape: Shape, value: unknown): readonly Mismatch[] {
  const walk: Walk = { found: [], path: [] };
  visit(shape, value, walk);
  return walk.found;
}

function visit(shape: Shape, value: unknown, walk: Walk): void {
  if (walk.found.length >= MISMATCHES_MAX) return;
  switch (shape.kind) {
    case 'object':
      return visitObject(shape, value, walk);
    case 'array':
      if (!Array.isArray(value)) return report(walk, 'type', shape, value);
      if (value.length < shape.itemsMin || value.length > shape.itemsMax) {
        return report(walk, 'value', shape, value);
      }
      for (const [index, item] of value.entries()) visitAt(shape.items, item, index, walk);
      return;
    case 'record':
      if (!isObject(value)) return report(walk, 'type', shape, value);
      for (const key of Object.keys(value)) visitAt(shape.values, value[key], key, walk);
      return;
    case 'variant':
      return visitVariant(shape, value, walk);
    case 'nullable':
      if (value !== null) visit(shape.inner, value, walk);
      return;
    default: {
      const problem = leafProblem(shape, value);
      if (problem !== undefined) report(walk, problem, shape, value);
    }
  }
}

function visitObject(shape: ObjectShape, value: unknown, walk: Walk): void {
  if (!isObject(value)) return report(walk, 'type', shape, value);
  for (const name of Object.keys(shape.fields)) {
    const field = shape.fields[name];
    if (field === undefined) continue;
    const present = Object.hasOwn(value, name) && value[name] !== undefined;
    if (present) visitAt(field.shape, value[name], name, walk);
    else if (field.required) reportMissing(walk, name, field.shape);
  }
  if (!shape.closed) return;
  const known = Object.keys(shape.fields);
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(shape.fields, name)) continue;
    walk.found.push({
      path: [...walk.path, name],
      problem: 'unknown',
      expected: `one of the fields ${known.join(', ')}`,
      got: `the unknown field \`${name}\``,
      choices: known,
    });
  }
}

function visitVariant(shape: VariantShape, value: unknown, walk: Walk): void {
  if (!isObject(value)) return report(walk, 'type', shape, value);
  const tag = value[shape.tag];
  const chosen = typeof tag === 'string' && Object.hasOwn(shape.cases, tag) && shape.cases[tag];
  if (chosen) return visitObject(chosen, value, walk);
  const tagShape: Shape = { kind: 'enum', values: Object.keys(shape.cases) };
  if (tag === undefined) return reportMissing(walk, shape.tag, tagShape);
  visitAt(tagShape, tag, shape.tag, walk);
}

function visitAt(shape: Shape, value: unknown, key: string | number, walk: Walk): void {
  if (walk.path.length >= DEPTH_MAX) return report(walk, 'value', shape, value);
  walk.path.push(key);
  visit(shape, value, walk);
  walk.path.pop();
}

type LeafShape = Exclude<Shape, { kind: 'object' | 'array' | 'record' | 'nullable' | 'variant' }>;

function leafProblem(shape: LeafShape, value: unknown): 'type' | 'value' | undefined {
  switch (shape.kind) {
    case 'string': {
      if (typeof value !== 'string') return 'type';
      const fits = value.length >= shape.lengthMin && value.length <= shape.lengthMax;
      return fits && fitsFormat(shape.format, value) ? undefined : 'value';
    }
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
    case 'scalar':
      return isScalar(value) ? undefined : 'type';
    case 'json':
      return isJson(value, 0) ? undefined : 'type';
  }
}

function fitsFormat(format: string | undefined, value: string): boolean {
  if (format === 'rfc3339') return RFC3339.test(value) && !Number.isNaN(Date.parse(value));
  if (format === 'sha256') return SHA256_HEX.test(value);
  return true;
}

function isScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'boolean';
}

function isJson(value: unknown, depth: number): boolean {
  if (value === null || isScalar(value)) return true;
  if (depth >= DEPTH_MAX) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1));
  return isObject(value) && Object.values(value).every((item) => isJson(item, depth + 1));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function reportMissing(walk: Walk, name: string, shape: Shape): void {
  walk.found.push({
    path: [...walk.path, name],
    problem: 'missing',
    expected: `\`${name}\`, ${describe(shape)}`,
    got: 'nothing',
    choices: choicesOf(shape),
  });
}

function report(walk: Walk, problem: 'type' | 'value', shape: Shape, value: unknown): void {
  walk.found.push({
    path: [...walk.path],
    problem,
    expected: describe(shape),
    got: describeValue(value),
    choices: choicesOf(shape),
  });
}

function choicesOf(shape: Shape): readonly string[] {
  if (shape.kind === 'nullable') return choicesOf(shape.inner);
  return shape.kind === 'enum' ? shape.values : [];
}

/** A shape in words, for error messages. */
function describe(shape: Shape): string {
  switch (shape.kind) {
    case 'string':
      if (shape.format === 'rfc3339') return 'an RFC 3339 time in UTC, like 2026-01-31T12:00:00Z';
      if (shape.format === 'sha256') return 'a SHA-256 as 64 lowercase hex digits';
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
    case 'scalar':
      return 'a string, number or boolean';
    case 'json':
      return 'a JSON value';
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
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return String(value);
  return value.length > 60 ? `a string of ${value.length} characters` : `\`${value}\``;
}

export type { Mismatch };
export { check, describe, isObject };
