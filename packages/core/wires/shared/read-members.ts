// Reading of JSON that a client or a provider wrote: a member of the wrong type is a problem with its place.
import {
  type Failure,
  failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type SubCode,
} from '@subluminal/contracts';
import type { Effort, Rest, WireName } from './form.ts';

/** Collects what is wrong while a body is read, so that the readers need no early return at every step. */
export class Problems {
  #first: string | undefined;

  add(path: string, expected: string): void {
    this.#first ??= `\`${path}\` must be ${expected}.`;
  }

  failure(code: SubCode, fix: string): Failure | undefined {
    return this.#first === undefined ? undefined : failure(code, this.#first, fix);
  }
}

export function stringIn(object: JsonObject, name: string): string | undefined {
  const value = memberOf(object, name);
  return typeof value === 'string' ? value : undefined;
}

export function numberIn(object: JsonObject, name: string): number | undefined {
  const value = memberOf(object, name);
  return typeof value === 'number' ? value : undefined;
}

export function booleanIn(object: JsonObject, name: string): boolean | undefined {
  const value = memberOf(object, name);
  return typeof value === 'boolean' ? value : undefined;
}

export function objectIn(object: JsonObject, name: string): JsonObject | undefined {
  const value = memberOf(object, name);
  return isJsonObject(value) ? value : undefined;
}

export function listIn(object: JsonObject, name: string): readonly JsonValue[] | undefined {
  const value = memberOf(object, name);
  return isJsonList(value) ? value : undefined;
}

/** The objects of a list; what is no object in it is left out. */
export function objectsIn(object: JsonObject, name: string): readonly JsonObject[] {
  return (listIn(object, name) ?? []).filter((item) => isJsonObject(item));
}

/** A count of tokens: a number that no tokens can be, or none at all, counts nothing. */
export function countIn(object: JsonObject | undefined, name: string): number {
  const value = object === undefined ? undefined : numberIn(object, name);
  const count = Math.floor(value ?? 0);
  return count > 0 && Number.isSafeInteger(count) ? count : 0;
}

const EFFORTS: { readonly [E in Effort]: true } = {
  none: true,
  minimal: true,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
};

/** How hard a model shall think; undefined for a word that is not known. */
export function effortIn(object: JsonObject, name: string): Effort | undefined {
  const value = stringIn(object, name) ?? '';
  return isEffort(value) ? value : undefined;
}

function isEffort(text: string): text is Effort {
  return Object.hasOwn(EFFORTS, text);
}

export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Names like `__proto__` are no members. */
function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The members whose names are not known; none when all are, or are null. */
export function restOf(
  wire: WireName,
  object: JsonObject,
  known: ReadonlySet<string>,
): Rest | undefined {
  const entries = Object.entries(object).filter(
    ([name, value]) => !known.has(name) && value !== null,
  );
  return entries.length === 0 ? undefined : { wire, members: Object.fromEntries(entries) };
}

/** What is written again of a block, a message or a request that came by this wire. */
export function restMembers(wire: WireName, rest: Rest | undefined): JsonObject {
  return rest?.wire === wire ? rest.members : {};
}

/** A JSON object without the members that have no value. */
export function jsonObject(fields: { readonly [name: string]: JsonValue | undefined }): JsonObject {
  const entries = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

const JSON_DEPTH_MAX = 256;

/** A text that holds a JSON object; undefined when it is none, or nested so deeply that it could not be written. */
export function parseObject(text: string): JsonObject | undefined {
  if (!isShallow(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(text: string): boolean {
  if (text.length <= JSON_DEPTH_MAX) return true;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (isQuoted) {
      if (unit === 0x5c) at += 1;
      else if (unit === 0x22) isQuoted = false;
    } else if (unit === 0x22) isQuoted = true;
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return false;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return true;
}
