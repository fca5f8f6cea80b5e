// Whether two values read from documents are the same data, however they were written.
import { isObject } from '@subluminal/contracts';
import { TomlDate } from 'smol-toml';
import type { ValuePath } from './tree.ts';

/** Order of keys and prototypes don't count. Both values come from documents of bounded depth. */
export function sameData(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Date || b instanceof Date) return sameDate(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameData(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameData(a[key], b[key]));
}

/** TOML has four kinds of dates; the same moment of another kind is another value. */
function sameDate(a: object, b: object): boolean {
  if (!(a instanceof TomlDate) || !(b instanceof TomlDate)) return false;
  return a.toISOString() === b.toISOString();
}

// A copy of what a document holds, to work out what it should hold after a change.

/** Copies only what these paths lead through; all else is shared, because configs can be large. */
export function copyFor(value: unknown, paths: readonly ValuePath[]): unknown {
  const below = new Map<string | number, ValuePath[]>();
  for (const [step, ...rest] of paths) {
    if (step === undefined) continue;
    const same = below.get(step);
    if (same === undefined) below.set(step, [rest]);
    else same.push(rest);
  }
  if (below.size === 0 || !isHolder(value) || value instanceof Date) return value;
  const copy: object = Array.isArray(value) ? value.slice() : { ...value };
  for (const [step, rests] of below) {
    const inner: unknown = Object.getOwnPropertyDescriptor(copy, step)?.value;
    if (isHolder(inner)) setValue(copy, [step], copyFor(inner, rests));
  }
  return copy;
}

/** In place: the copy is ours, and there may be thousands of servers. Throws when nothing holds it. */
export function setValue(top: unknown, path: ValuePath, value: unknown): void {
  const [holder, last] = [valueAt(top, path.slice(0, -1)), path.at(-1)];
  if (!isHolder(holder) || last === undefined) throw new Error('no such value in the config');
  // Not by assignment: `__proto__` is a name like any other.
  const how = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(holder, last, how);
}

/** In place, as well; nothing where there is no such value. */
export function dropValue(top: unknown, path: ValuePath): void {
  const [holder, last] = [valueAt(top, path.slice(0, -1)), path.at(-1)];
  if (isHolder(holder) && last !== undefined) Reflect.deleteProperty(holder, last);
}

/** A copy without these values, and without the tables that are empty then. */
export function withoutValues(value: unknown, paths: readonly ValuePath[]): unknown {
  const copy = copyFor(value, paths);
  for (const path of paths) {
    let above: ValuePath = path;
    do {
      dropValue(copy, above);
      above = above.slice(0, -1);
    } while (above.length > 0 && isEmpty(valueAt(copy, above)));
  }
  return copy;
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function isHolder(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The value at a path, own properties only. */
export function valueAt(top: unknown, path: ValuePath): unknown {
  let value = top;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) !== (typeof step === 'number')) return undefined;
    value = Object.getOwnPropertyDescriptor(value, step)?.value;
  }
  return value;
}
