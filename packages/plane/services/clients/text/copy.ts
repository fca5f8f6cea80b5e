// A copy of what a document holds, to work out what it should hold after a change.
import type { ValuePath } from '../types.ts';

/** What these paths lead through can be changed in it; all else is shared, for it may be much. */
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
  const { holder, last } = holderOf(top, path);
  // Not by assignment: `__proto__` is a name like any other.
  const how = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(holder, last, how);
}

/** In place, as well. */
export function dropValue(top: unknown, path: ValuePath): void {
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
