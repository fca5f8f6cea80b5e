// Canonical text of our own documents, which are values already.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { compareKeys, type Key } from './order.ts';
import { DEPTH_MAX } from './scan.ts';

/** The canonical text of a value that we built ourselves; throws when it is not JSON. */
function canonicalizeValue(value: JsonValue): string {
  return write(value, 0);
}

function write(value: JsonValue, depth: number): string {
  if (depth > DEPTH_MAX) throw new RangeError(`a document nests deeper than ${DEPTH_MAX}`);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return writeNumber(value);
  if (typeof value !== 'object') throw new TypeError(`a document holds a ${typeof value}`);
  return isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1);
}

/** ECMAScript writes the shortest digits that read back, in the form that is canonical here. */
function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`a document holds the number ${value}`);
  return String(value);
}

function writeArray(value: readonly JsonValue[], depth: number): string {
  return `[${Array.from(value, (item) => write(item, depth)).join(',')}]`;
}

function writeObject(value: JsonObject, depth: number): string {
  const keys: Key[] = Object.keys(value).map((key) => ({
    source: key,
    start: 0,
    end: key.length,
  }));
  const members = keys.toSorted(compareKeys).map(({ source: key }) => {
    const member = value[key];
    if (member === undefined) throw new TypeError(`a document holds undefined at \`${key}\``);
    return `${JSON.stringify(key)}:${write(member, depth)}`;
  });
  return `{${members.join(',')}}`;
}

function isArray(value: JsonObject | readonly JsonValue[]): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export { canonicalizeValue };
