// JSON values on their way: small and flat enough to be looked at, their texts, and their shape.
import { isObject } from '@subluminal/contracts';
import { isBounded } from '../surface/names/bounded.ts';

/** All that a message may hold that is small enough to be shown to a gate. */
const BOUNDS = { depthMax: 512, valuesMax: 600_000 };

/** Whether a value can be walked and written without end or overflow. */
export function isWalkable(value: unknown): boolean {
  return isBounded(value, BOUNDS);
}

/** The member that names a tool, a prompt or a resource. */
export function nameOf(item: unknown, key: string): string | undefined {
  const name: unknown = isObject(item) ? item[key] : undefined;
  return typeof name === 'string' ? name : undefined;
}

export function namesOf(items: readonly unknown[], key: string): readonly string[] {
  return items.flatMap((item) => nameOf(item, key) ?? []);
}

/** Every key, text and number, in order. */
export function textsOf(value: unknown): readonly string[] {
  const texts: string[] = [];
  const visit = (part: unknown): void => {
    if (typeof part === 'string') texts.push(part);
    else if (typeof part === 'number') texts.push(String(part));
    else if (Array.isArray(part)) for (const item of part) visit(item);
    else if (isObject(part)) {
      for (const [key, member] of Object.entries(part)) {
        texts.push(key);
        visit(member);
      }
    }
  };
  visit(value);
  return texts;
}

/** Whether a number stands anywhere in a value. */
export function holdsNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number';
  return Object.values(value).some(holdsNumber);
}

/** Whether no number in a value may have lost digits when it was parsed. */
export function holdsOnlySafeNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(holdsOnlySafeNumbers);
}

/** The value with each text replaced, and each key; the very same where nothing was. */
export function withTexts(
  value: unknown,
  change: (text: string) => string,
  changeKey: (key: string) => string = (key) => key,
): unknown {
  if (typeof value === 'string') return change(value);
  if (isObject(value)) return withMembers(value, change, changeKey);
  if (!Array.isArray(value)) return value;
  const items: readonly unknown[] = value;
  let changed: unknown[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = withTexts(items[index], change, changeKey);
    if (changed === undefined && item === items[index]) continue;
    changed ??= items.slice(0, index);
    changed.push(item);
  }
  return changed ?? items;
}

function withMembers(
  value: { readonly [key: string]: unknown },
  change: (text: string) => string,
  changeKey: (key: string) => string,
): unknown {
  let members: Map<string, unknown> | undefined;
  const keys = Object.keys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? '';
    const member = withTexts(value[key], change, changeKey);
    let name = changeKey(key);
    if (members === undefined && name === key && member === value[key]) continue;
    members ??= new Map(keys.slice(0, index).map((before) => [before, value[before]]));
    // Of two keys that become one, the second gets a further bracket.
    while (name !== key && (members.has(name) || Object.hasOwn(value, name))) name = `(${name}`;
    members.set(name, member);
  }
  return members === undefined ? value : Object.fromEntries(members);
}

/** Whether two values differ in nothing but the contents of texts: a schema of types fits both. */
export function isSameShape(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left === 'string') return typeof right === 'string';
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => isSameShape(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && isSameShape(left[key], right[key]));
}

/** The bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each half of a pair counts two, so that both make the four bytes of one character.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
