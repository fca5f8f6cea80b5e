// Changes some values of a JSON text. Everything else stays as it was written: a number beyond 2^53, `1.0`, an escape or the order of keys would not survive being parsed and written anew.

import type { ByteRange } from './byte-scanner.ts';
import { stringText } from './text.ts';
import { blanksEnd, itemTexts, memberTexts, stringEnd, valueEnd } from './text-parts.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './units.ts';

interface Edit {
  readonly start: number;
  readonly end: number;
  /** Built only when it is needed: a later edit may replace this one. */
  readonly text: () => string;
}

/** An object or a list that is being walked through. */
interface OpenValue<T> {
  readonly value: T;
  readonly depth: number;
  readonly start: number;
  /** How many edits were noted before it. */
  readonly mark: number;
}

/** A value that is nested deeper is written anew as a whole. */
const DEPTH_MAX = 512;
const WORDS: ReadonlyMap<string, unknown> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Walks through a text and the value that it should have, and notes where they differ. */
class PatchWalk {
  private readonly text: string;
  private readonly edits: Edit[] = [];
  private readonly depth: number;
  private at = 0;
  /** An item of the list that is open here has another name: it is another item. */
  private isMoved = false;

  constructor(text: string, depth: number) {
    this.text = text;
    this.depth = depth;
  }

  /** The text of this value; undefined when the text or the value cannot be walked. */
  rewritten(changed: unknown): string | undefined {
    if (!this.value(changed, this.depth)) return undefined;
    if (blanksEnd(this.text, this.at) !== this.text.length) return undefined;
    const parts: string[] = [];
    let from = 0;
    for (const edit of this.edits) {
      parts.push(this.text.slice(from, edit.start), edit.text());
      from = edit.end;
    }
    return parts.join('') + this.text.slice(from);
  }

  private value(value: unknown, depth: number): boolean {
    if (!isData(value)) return false;
    const start = blanksEnd(this.text, this.at);
    this.at = start;
    const opened = { value, depth, start, mark: this.edits.length };
    if (this.takes(OPEN_BRACE)) {
      const isWalked = isRecord(value) && depth <= DEPTH_MAX;
      return isWalked ? this.object({ ...opened, value }) : this.anew(opened);
    }
    if (!this.takes(OPEN_BRACKET)) return this.scalar(value);
    if (!Array.isArray(value) || depth > DEPTH_MAX) return this.anew(opened);
    const { isMoved } = this;
    this.isMoved = false;
    const isWalked = this.list({ ...opened, value });
    this.isMoved = isMoved;
    return isWalked;
  }

  private object(opened: OpenValue<{ readonly [key: string]: unknown }>): boolean {
    const { value, depth } = opened;
    const keys = new Set<string>();
    if (!this.sees(CLOSE_BRACE)) {
      do {
        const key = this.key();
        if (key === undefined) return false;
        // If a key stands twice, another reader may see a value that we do not.
        if (keys.has(key) || value[key] === undefined || !isMember(value, key)) {
          return this.anew(opened);
        }
        keys.add(key);
        const editsBefore = this.edits.length;
        if (!this.value(value[key], depth + 1)) return false;
        if (this.edits.length > editsBefore && NAMES.includes(key)) this.isMoved = true;
      } while (this.takes(COMMA));
    }
    if (keys.size !== Object.keys(value).length) return this.anew(opened);
    return this.takes(CLOSE_BRACE);
  }

  private list(opened: OpenValue<readonly unknown[]>): boolean {
    const { value, depth, mark } = opened;
    // The unchanged items at the start: they are kept when the length differs.
    let same = { count: 0, end: this.at };
    let count = 0;
    if (!this.sees(CLOSE_BRACKET)) {
      do {
        if (count === value.length) return this.rest(opened, same);
        // JSON has null where a list has nothing.
        if (!this.value(value[count] ?? null, depth + 1)) return false;
        count++;
        if (this.edits.length === mark) same = { count, end: this.at };
      } while (this.takes(COMMA));
    }
    if (count < value.length || this.isMoved) return this.rest(opened, same);
    return this.takes(CLOSE_BRACKET);
  }

  /** Writes the whole open value anew, and drops the edits in it. */
  private anew({ start, mark, value, depth }: OpenValue<unknown>): boolean {
    const end = valueEnd(this.text, start);
    return this.replace(mark, { start, end }, () =>
      exactText(this.text.slice(start, end), value, depth),
    );
  }

  /** Writes the rest of a list anew, behind the unchanged items. */
  private rest(
    { start: open, mark, value, depth }: OpenValue<readonly unknown[]>,
    { count, end: start }: { readonly count: number; readonly end: number },
  ): boolean {
    const end = valueEnd(this.text, open) - 1;
    const isWalked = this.replace(mark, { start, end }, () => {
      const behind = this.text.slice(start, end).replace(/^[ \t\r\n]*,/, '');
      const items = alignedTexts(itemTexts(`[${behind}]`) ?? [], value.slice(count), depth);
      return `${count > 0 && items.length > 0 ? ',' : ''}${items.join(',')}`;
    });
    return isWalked && this.takes(CLOSE_BRACKET);
  }

  /** Notes one edit in place of all since the mark; false when there is no end. */
  private replace(mark: number, { start, end }: Omit<Edit, 'text'>, text: Edit['text']): boolean {
    if (end < start) return false;
    this.edits.length = mark;
    this.edits.push({ start, end, text });
    this.at = end;
    return true;
  }

  /** A string, a number or a word such as `true`. */
  private scalar(value: unknown): boolean {
    const start = this.at;
    const end = valueEnd(this.text, start);
    if (end === -1) return false;
    this.at = end;
    const written = this.text.slice(start, end);
    // A long text must not be looked up as a word.
    const isText = this.text.charCodeAt(start) === QUOTE;
    const was = isText ? stringText(written) : wordOrNumber(written);
    if (!Object.is(was, value)) this.edits.push({ start, end, text: () => JSON.stringify(value) });
    return !Number.isNaN(was);
  }

  /** A key, with the colon behind it. */
  private key(): string | undefined {
    if (!this.sees(QUOTE)) return undefined;
    const start = this.at;
    const end = stringEnd(this.text, start);
    if (end === -1) return undefined;
    this.at = end;
    return this.takes(COLON) ? stringText(this.text.slice(start, end)) : undefined;
  }

  private sees(unit: number): boolean {
    this.at = blanksEnd(this.text, this.at);
    return this.text.charCodeAt(this.at) === unit;
  }

  private takes(unit: number): boolean {
    const isHere = this.sees(unit);
    if (isHere) this.at++;
    return isHere;
  }
}

function wordOrNumber(written: string): unknown {
  return WORDS.has(written) ? WORDS.get(written) : Number(written);
}

/** The text of a value whose members or items have changed; unchanged ones stay as written. */
function exactText(text: string, value: unknown, depth: number): string {
  if (depth > DEPTH_MAX) return JSON.stringify(value);
  if (Array.isArray(value)) {
    const items = itemTexts(text);
    return items === undefined
      ? JSON.stringify(value)
      : `[${alignedTexts(items, value, depth).join(',')}]`;
  }
  const members = isRecord(value) ? memberTexts(text) : undefined;
  if (!isRecord(value) || members === undefined) return JSON.stringify(value);
  // If a key stands twice, JSON.parse has taken the last member.
  const written = new Map(members.map((member) => [member.key, member.value]));
  const texts = Object.keys(value).flatMap((key) => {
    const part = partText(written.get(key), value[key], depth);
    return part === undefined ? [] : [`${JSON.stringify(key)}:${part}`];
  });
  return `{${texts.join(',')}}`;
}

/** After this many new items, the written ones are no longer searched. */
const MISSES_MAX = 100;

/** The texts of items. Those that are left of the written ones are in the same order. */
function alignedTexts(
  written: readonly string[],
  values: readonly unknown[],
  depth: number,
): readonly string[] {
  let next = 0;
  let misses = 0;
  return values.map((value) => {
    const until = misses > MISSES_MAX ? next + 1 : written.length;
    for (let at = next; at < until; at++) {
      const text = written[at];
      if (text === undefined || !isLike(JSON.parse(text), value)) continue;
      next = at + 1;
      return partText(text, value, depth) ?? 'null';
    }
    misses++;
    return partText(undefined, value, depth) ?? 'null';
  });
}

/** The keys that name an item of a list of the protocol. */
const NAMES: readonly string[] = ['name', 'uri', 'uriTemplate'];

/** Whether an item is the same one, though it may have been changed. */
function isLike(before: unknown, after: unknown): boolean {
  if (isRecord(before) && isRecord(after)) {
    const name = NAMES.find((key) => typeof before[key] === 'string');
    if (name !== undefined) return before[name] === after[name];
  }
  return JSON.stringify(before) === JSON.stringify(after);
}

function partText(text: string | undefined, value: unknown, depth: number): string | undefined {
  if (text === undefined) return JSON.stringify(value);
  return new PatchWalk(text, depth + 1).rewritten(value) ?? JSON.stringify(value);
}

/** Whether this is a JSON value without a `toJSON` of its own. */
function isData(value: unknown): boolean {
  const type = typeof value;
  if (type === 'string' || type === 'number' || type === 'boolean' || value === null) return true;
  if (typeof value !== 'object' || !(Array.isArray(value) || isRecord(value))) return false;
  return typeof Reflect.get(value, 'toJSON') !== 'function';
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Whatever its name: `__proto__` may be one, too. */
function isMember(value: object, key: string): boolean {
  return Object.prototype.propertyIsEnumerable.call(value, key);
}

/**
 * The text of a value, made of a text that differs from it in some places. Undefined when the text
 * is no JSON, or `JSON.parse` could not have made the value.
 */
function patchJsonText(text: string, changed: unknown): string | undefined {
  return new PatchWalk(text, 1).rewritten(changed);
}

// A message with one of its values replaced. Everything else stays as it was written, byte by byte.

/** The JSON of a value; undefined when it has none. */
function jsonOf(value: unknown): string | undefined {
  try {
    const text: unknown = JSON.stringify(value);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The JSON of a value that was parsed from this text and changed since: unchanged parts stay as they were
 * written. Undefined only when the value has no JSON.
 */
export function rewritten(text: string, changed: unknown): string | undefined {
  try {
    return patchJsonText(text, changed) ?? jsonOf(changed);
  } catch {
    return jsonOf(changed);
  }
}

/** Turns text into UTF-8. The outside may supply a faster one. */
export type Encode = (text: string) => Uint8Array;

/** The bytes with others in place of a range. */
export function spliced(
  bytes: Uint8Array,
  { start, end }: ByteRange,
  inserted: Uint8Array,
): Uint8Array {
  const behind = start + inserted.length;
  const whole = new Uint8Array(behind + bytes.length - end);
  whole.set(bytes.subarray(0, start));
  whole.set(inserted, start);
  whole.set(bytes.subarray(end), behind);
  return whole;
}

/** The first byte of a sequence, by the number of bytes that follow it. */
const LEADS = [0, 0xc0, 0xe0, 0xf0];

/** UTF-8 of JSON that was decoded or that `JSON.stringify` wrote: neither leaves a lone surrogate. */
export const utf8Of: Encode = (text) => {
  const bytes = new Uint8Array(text.length * 3);
  let used = 0;
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    if (point < 0x80) {
      bytes[used++] = point;
      continue;
    }
    const rest = point < 0x8_00 ? 1 : point < 0x1_00_00 ? 2 : 3;
    bytes[used++] = (LEADS[rest] ?? 0) | (point >> (6 * rest));
    for (let shift = 6 * (rest - 1); shift >= 0; shift -= 6) {
      bytes[used++] = 0x80 | ((point >> shift) & 0x3f);
    }
    if (rest === 3) at++;
  }
  return bytes.subarray(0, used);
};
