// One value held against the limits of its parameter. The rewritten schemas say the same, so that
// what fits a schema is not refused here; what a schema cannot say, only this can.
import type { JsonValue } from '@subluminal/contracts';
import type { ParamLimit } from './types.ts';

/** Which limit a value breaks, in words for the agent. */
type Broken = string | undefined;

const VALUES_SHOWN_MAX = 10;
const DEPTH_MAX = 64;

/** A value at its place: a list itself, or a single value (alone, or as an item of a list). */
export function brokenLimit(limit: ParamLimit, value: JsonValue): Broken {
  const size = sizeBroken(limit, value) ?? recipientsBroken(limit, value);
  if (size !== undefined) return size;
  if (Array.isArray(value)) {
    const { itemsMax } = limit;
    if (itemsMax === undefined || value.length <= itemsMax) return undefined;
    return `at most ${itemsMax} items`;
  }
  return numberBroken(limit, value) ?? textBroken(limit, value) ?? choiceBroken(limit, value);
}

function numberBroken({ maximum, minimum }: ParamLimit, value: JsonValue): Broken {
  if (maximum === undefined && minimum === undefined) return undefined;
  // Null, or a text that a server would read as a number, must not be a way around.
  if (typeof value !== 'number') return `a number${rangeWords(minimum, maximum)}`;
  const low = minimum ?? Number.NEGATIVE_INFINITY;
  const high = maximum ?? Number.POSITIVE_INFINITY;
  return value >= low && value <= high ? undefined : `a number${rangeWords(minimum, maximum)}`;
}

function rangeWords(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined) return ` of at most ${maximum}`;
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

export function isTextual({ lengthMax, lengthMin, pattern }: ParamLimit): boolean {
  return lengthMax !== undefined || lengthMin !== undefined || pattern !== undefined;
}

function textBroken(limit: ParamLimit, value: JsonValue): Broken {
  if (!isTextual(limit)) return undefined;
  if (typeof value !== 'string') return 'a text';
  const { lengthMax = Number.POSITIVE_INFINITY, lengthMin = 0, pattern } = limit;
  const length = lengthOf(value);
  if (length > lengthMax) return `a text of at most ${lengthMax} characters`;
  if (length < lengthMin) return `a text of at least ${lengthMin} characters`;
  if (pattern === undefined || pattern.test(value)) return undefined;
  return `a text that matches \`${pattern.source}\``;
}

/** Counted by code point, as JSON Schema does. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function choiceBroken({ values }: ParamLimit, value: JsonValue): Broken {
  if (values === undefined || values.some((allowed) => allowed === value)) return undefined;
  const shown = values.slice(0, VALUES_SHOWN_MAX).map((allowed) => JSON.stringify(allowed));
  return `one of ${shown.join(', ')}${values.length > VALUES_SHOWN_MAX ? ', …' : ''}`;
}

function recipientsBroken({ recipientsMax }: ParamLimit, value: JsonValue): Broken {
  if (recipientsMax === undefined || recipientsIn(value, 0) <= recipientsMax) return undefined;
  return recipientsMax === 1 ? 'at most one recipient' : `at most ${recipientsMax} recipients`;
}

/**
 * What parts recipients, as the inside of a character class. A space is none: it stands in names too.
 * Several addresses in one text are counted by their `@` as well.
 */
export const RECIPIENT_SEPARATORS =
  ',;|\\u0000-\\u001f\\u007f-\\u009f\\u060c\\u061b\\u2028\\u2029\\u3001\\ufe10\\ufe11\\ufe14\\ufe50\\ufe51\\ufe54\\uff0c\\uff1b\\uff5c\\uff64';
const SEPARATOR = new RegExp(`[${RECIPIENT_SEPARATORS}]`, 'gu');

/** Everything that may be an address counts: parts of a text, items of a list, texts in objects. */
function recipientsIn(value: JsonValue, depth: number): number {
  if (value === null || value === '') return 0;
  if (typeof value === 'string') {
    const parts = 1 + (value.match(SEPARATOR)?.length ?? 0);
    return Math.max(parts, addressesIn(value, depth));
  }
  if (typeof value !== 'object') return 1;
  if (depth >= DEPTH_MAX) return Number.POSITIVE_INFINITY;
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item: JsonValue) => sum + recipientsIn(item, depth + 1), 0);
  }
  // A name beside an address is no recipient, a second address is.
  const parts = Object.values(value).map((part) => addressesIn(part, depth + 1));
  return Math.max(
    1,
    parts.reduce((sum, count) => sum + count, 0),
  );
}

function addressesIn(value: JsonValue, depth: number): number {
  if (typeof value === 'string') return value.match(/@/g)?.length ?? 0;
  if (value === null || typeof value !== 'object') return 0;
  if (depth >= DEPTH_MAX) return Number.POSITIVE_INFINITY;
  const items: readonly JsonValue[] = Object.values(value);
  return items.reduce<number>((sum, item) => sum + addressesIn(item, depth + 1), 0);
}

function sizeBroken({ bytesMax }: ParamLimit, value: JsonValue): Broken {
  if (bytesMax === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return utf8Length(text) <= bytesMax ? undefined : `at most ${bytesMax} bytes`;
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each half of a pair counts two, so that both make the four bytes of one character.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
