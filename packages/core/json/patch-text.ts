// A JSON text with some of its values changed. What has not changed stays as it was written: a number
// beyond 2^53, `1.0`, an escape or the order of keys would not survive being parsed and written anew.

import { stringText } from './text.ts';
import { itemTexts, memberTexts, stringEnd, valueEnd } from './text-parts.ts';
import {
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from './units.ts';

interface Edit {
  readonly start: number;
  readonly end: number;
  /** Written only when it is needed: what has been noted may have been noted in vain. */
  readonly text: () => string;
}

/** What is nested deeper is written anew as a whole. */
const DEPTH_MAX = 512;
const BLANKS = /[ \t\r\n]*/y;
const WORD = /[-+.0-9A-Za-z]*/y;
const WORDS: ReadonlyMap<string, unknown> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Goes through a text and the value that it should have, and notes where they differ. */
class Walk {
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

  /** The text of this value; undefined when text or value are not what can be walked. */
  rewritten(changed: unknown): string | undefined {
    if (!this.value(changed, this.depth)) return undefined;
    this.skipBlanks();
    return this.at === this.text.length ? this.edited() : undefined;
  }

  private edited(): string {
    const parts: string[] = [];
    let from = 0;
    for (const edit of this.edits) {
      parts.push(this.text.slice(from, edit.start), edit.text());
      from = edit.end;
    }
    return parts.join('') + this.text.slice(from);
  }

  private value(changed: unknown, depth: number): boolean {
    this.skipBlanks();
    if (!isData(changed)) return false;
    const unit = this.text.charCodeAt(this.at);
    if (unit === OPEN_BRACE) return this.object(changed, depth);
    if (unit === OPEN_BRACKET) return this.list(changed, depth);
    return unit === QUOTE ? this.string(changed) : this.word(changed);
  }

  private object(changed: unknown, depth: number): boolean {
    const whole = { start: this.at, mark: this.edits.length, value: changed, depth };
    this.at++;
    if (!isRecord(changed) || depth > DEPTH_MAX) return this.anew(whole);
    const keys = new Set<string>();
    if (!this.sees(CLOSE_BRACE)) {
      do {
        const key = this.key();
        if (key === undefined) return false;
        // A key that stands there twice may hide from us what others read.
        if (keys.has(key) || changed[key] === undefined || !isMember(changed, key)) {
          return this.anew(whole);
        }
        keys.add(key);
        const editsBefore = this.edits.length;
        if (!this.value(changed[key], depth + 1)) return false;
        if (this.edits.length > editsBefore && NAMES.includes(key)) this.isMoved = true;
      } while (this.takes(COMMA));
    }
    if (keys.size !== Object.keys(changed).length) return this.anew(whole);
    return this.takes(CLOSE_BRACE);
  }

  private list(changed: unknown, depth: number): boolean {
    const isMoved = this.isMoved;
    this.isMoved = false;
    const isWalked = this.items(changed, depth);
    this.isMoved = isMoved;
    return isWalked;
  }

  private items(changed: unknown, depth: number): boolean {
    const whole = { start: this.at, mark: this.edits.length, value: changed, depth };
    this.at++;
    if (!Array.isArray(changed) || depth > DEPTH_MAX) return this.anew(whole);
    const { mark } = whole;
    // What is the same from the start on: all that is kept when the length differs.
    let from = 0;
    let end = this.at;
    let count = 0;
    if (!this.sees(CLOSE_BRACKET)) {
      do {
        if (count === changed.length) return this.rest(changed, { from, end, mark, depth });
        // JSON has null where a list has nothing.
        if (!this.value(changed[count] ?? null, depth + 1)) return false;
        count++;
        if (this.edits.length > mark) continue;
        from = count;
        end = this.at;
      } while (this.takes(COMMA));
    }
    if (count < changed.length || this.isMoved)
      return this.rest(changed, { from, end, mark, depth });
    return this.takes(CLOSE_BRACKET);
  }

  /** Writes all of what is open here; what has been noted since the mark no longer matters. */
  private anew({ start, mark, value, depth }: Whole): boolean {
    this.edits.length = mark;
    const end = valueEnd(this.text, start);
    if (end === -1) return false;
    this.at = end;
    this.edits.push({
      start,
      end,
      text: () => exactText(this.text.slice(start, end), value, depth),
    });
    return true;
  }

  /** Writes the rest of a list, behind the items that are kept. */
  private rest(value: readonly unknown[], { from, end: start, mark, depth }: Rest): boolean {
    this.edits.length = mark;
    if (!this.leave()) return false;
    const end = this.at - 1;
    const text = () => {
      const behind = this.text.slice(start, end).replace(/^[ \t\r\n]*,/, '');
      const items = alignedTexts(itemTexts(`[${behind}]`) ?? [], value.slice(from), depth);
      return `${from > 0 && items.length > 0 ? ',' : ''}${items.join(',')}`;
    };
    this.edits.push({ start, end, text });
    return true;
  }

  private string(changed: unknown): boolean {
    const start = this.at;
    this.at = stringEnd(this.text, start);
    if (this.at === -1) return false;
    if (stringText(this.text.slice(start, this.at)) !== changed) this.edit(start, changed);
    return true;
  }

  /** A number, or a word such as `true`. */
  private word(changed: unknown): boolean {
    const start = this.at;
    WORD.lastIndex = start;
    if (!WORD.test(this.text) || WORD.lastIndex === start) return false;
    this.at = WORD.lastIndex;
    const written = this.text.slice(start, this.at);
    const was = WORDS.has(written) ? WORDS.get(written) : Number(written);
    if (!Object.is(was, changed)) this.edit(start, changed);
    return !Number.isNaN(was);
  }

  private edit(start: number, value: unknown): void {
    this.edits.push({ start, end: this.at, text: () => JSON.stringify(value) });
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

  /** Goes behind the bracket that closes what is open here. Without a stack: there is no limit. */
  private leave(): boolean {
    const { text } = this;
    for (let open = 1; open > 0; ) {
      if (this.at >= text.length) return false;
      const unit = text.charCodeAt(this.at);
      if (unit === QUOTE) {
        this.at = stringEnd(text, this.at);
        if (this.at === -1) return false;
        continue;
      }
      this.at++;
      if (unit === OPEN_BRACE || unit === OPEN_BRACKET) open++;
      else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) open--;
    }
    return true;
  }

  private sees(unit: number): boolean {
    this.skipBlanks();
    return this.text.charCodeAt(this.at) === unit;
  }

  private takes(unit: number): boolean {
    const isHere = this.sees(unit);
    if (isHere) this.at++;
    return isHere;
  }

  private skipBlanks(): void {
    if (!isBlank(this.text.charCodeAt(this.at))) return;
    BLANKS.lastIndex = this.at;
    BLANKS.test(this.text);
    this.at = BLANKS.lastIndex;
  }
}

function isBlank(unit: number): boolean {
  return unit === SPACE || unit === TAB || unit === LINE_FEED || unit === CARRIAGE_RETURN;
}

interface Whole {
  readonly start: number;
  readonly mark: number;
  readonly value: unknown;
  readonly depth: number;
}

interface Rest {
  readonly from: number;
  readonly end: number;
  readonly mark: number;
  readonly depth: number;
}

/** The text of a value whose members or items are others than were written; what is left is kept. */
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
  // Of two members of one key, the last is what was parsed.
  const written = new Map(members.map((member) => [member.key, member.value]));
  const texts = Object.keys(value).flatMap((key) => {
    const part = partText(written.get(key), value[key], depth);
    return part === undefined ? [] : [`${JSON.stringify(key)}:${part}`];
  });
  return `{${texts.join(',')}}`;
}

/** Searching for more items than this that were never there is not worth it. */
const MISSES_MAX = 100;

/** The texts of items, of which some are left of what was written, in the same order. */
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

/** What names an item of a list of the protocol. */
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
  return new Walk(text, depth + 1).rewritten(value) ?? JSON.stringify(value);
}

/** Whether this is something that JSON says, and that does not say itself how it is written. */
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
 * is no JSON, or the value not what `JSON.parse` makes.
 */
export function patchJsonText(text: string, changed: unknown): string | undefined {
  return new Walk(text, 1).rewritten(changed);
}
