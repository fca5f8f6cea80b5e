// Whether two values read from documents are the same data, however they were written.

import { isObject } from '@subluminal/contracts';
import { TomlDate } from 'smol-toml';

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
