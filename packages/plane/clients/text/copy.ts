// A copy of what a document holds, to work out what it should hold after a change.
import type { ValuePath } from '../types.ts';

/** Dates of TOML stay what they are: nothing in them changes. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isHolder(value) || value instanceof Date) return value;
  const copy = {};
  for (const [key, inner] of Object.entries(value)) setValue(copy, [key], copyOf(inner));
  return copy;
}

/** In place: the copy is ours, and there may be thousands of servers. Throws when nothing holds it. */
function setValue(top: unknown, path: ValuePath, value: unknown): void {
  const { holder, last } = holderOf(top, path);
  // Not by assignment: `__proto__` is a name like any other.
  const how = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(holder, last, how);
}

/** In place, as well. */
function dropValue(top: unknown, path: ValuePath): void {
  const { holder, last } = holderOf(top, path);
  Reflect.deleteProperty(holder, last);
}

function holderOf(top: unknown, path: ValuePath): { holder: object; last: string | number } {
  const last = path.at(-1);
  let holder = top;
  for (const step of path.slice(0, -1)) {
    holder = isHolder(holder) ? Object.getOwnPropertyDescriptor(holder, step)?.value : undefined;
  }
  if (last === undefined || !isHolder(holder)) throw new Error('no such value in the config');
  return { holder, last };
}

function isHolder(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export { copyOf, dropValue, setValue };
