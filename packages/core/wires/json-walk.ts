// Walks over the JSON of a request without building it. It reads the bytes as text with one character for each,
// because searching such a text for the end of a string is several times faster than any search in bytes. It finds
// the same structure as every other reader; what stands inside of a string that is skipped is not checked.
import { MESSAGE_DEPTH_MAX } from '../json/byte-scanner.ts';
import { decodeText } from '../json/text.ts';
import { blanksEnd, stringEnd } from '../json/text-parts.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../json/units.ts';

const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![-+.\w])/y;
const PLAIN_KEY = /^[\x20-\x5b\x5d-\x7e]*$/;

export class JsonWalk {
  readonly text: string;
  at: number;
  /** What is wrong, as a sentence; the walk has ended there. */
  fault: string | undefined;
  private readonly bytes: Uint8Array;

  /** `text` is `bytes` in Latin-1. */
  constructor(bytes: Uint8Array, text: string, at = 0) {
    this.bytes = bytes;
    this.text = text;
    this.at = at;
  }

  fail(fault: string): false {
    this.fault ??= fault;
    return false;
  }

  /** Moves over white space, and returns the character there; NaN at the end. */
  next(): number {
    this.at = blanksEnd(this.text, this.at);
    return this.text.charCodeAt(this.at);
  }

  skip(depth: number): boolean {
    switch (this.text.charCodeAt(this.at)) {
      case QUOTE:
        return this.skipString();
      case OPEN_BRACE:
        return this.members(depth, () => this.skip(depth + 1));
      case OPEN_BRACKET:
        return this.items(depth, () => this.skip(depth + 1));
      default:
        return this.skipScalar();
    }
  }

  /** Walks over an object. `read` gets the place of each key, quotes included, and reads its value. */
  members(depth: number, read: (start: number, end: number) => boolean): boolean {
    if (!this.open(depth)) return false;
    if (this.next() === CLOSE_BRACE) return this.pass();
    for (;;) {
      if (this.next() !== QUOTE) return this.malformed('a key');
      const start = this.at;
      if (!this.skipString()) return false;
      const end = this.at;
      if (this.next() !== COLON) return this.malformed('":"');
      this.at++;
      this.next();
      if (!read(start, end)) return false;
      const unit = this.next();
      if (unit === CLOSE_BRACE) return this.pass();
      if (unit !== COMMA) return this.malformed('"," or "}"');
      this.at++;
    }
  }

  items(depth: number, read: () => boolean): boolean {
    if (!this.open(depth)) return false;
    if (this.next() === CLOSE_BRACKET) return this.pass();
    for (;;) {
      this.next();
      if (!read()) return false;
      const unit = this.next();
      if (unit === CLOSE_BRACKET) return this.pass();
      if (unit !== COMMA) return this.malformed('"," or "]"');
      this.at++;
    }
  }

  /** The text of the string that starts here; undefined, and no fault, when it is something else. */
  readString(depth: number): string | undefined {
    const start = this.at;
    const isString = this.text.charCodeAt(start) === QUOTE;
    if (!this.skip(depth) || !isString) return undefined;
    const text = this.decoded(start, this.at);
    if (text === undefined) this.malformed('a valid string');
    return text;
  }

  /** The key at a place; undefined after a fault. */
  key(start: number, end: number): string | undefined {
    const plain = this.text.slice(start + 1, end - 1);
    if (PLAIN_KEY.test(plain)) return plain;
    const text = this.decoded(start, end);
    if (text === undefined) this.malformed('a valid key');
    return text;
  }

  private decoded(start: number, end: number): string | undefined {
    try {
      const text: unknown = JSON.parse(decodeText(this.bytes, start, end));
      return typeof text === 'string' ? text : undefined;
    } catch {
      // An escape or a control character that JSON does not have.
      return undefined;
    }
  }

  private open(depth: number): boolean {
    if (depth >= MESSAGE_DEPTH_MAX) {
      return this.fail(`It nests more than ${MESSAGE_DEPTH_MAX} levels deep.`);
    }
    return this.pass();
  }

  private pass(): true {
    this.at++;
    return true;
  }

  private skipString(): boolean {
    const end = stringEnd(this.text, this.at);
    if (end === -1) return this.malformed('the end of this string');
    this.at = end;
    return true;
  }

  private skipScalar(): boolean {
    SCALAR.lastIndex = this.at;
    if (!SCALAR.test(this.text)) return this.malformed('a value');
    this.at = SCALAR.lastIndex;
    return true;
  }

  private malformed(expected: string): false {
    return this.fail(`It is not valid JSON: byte ${this.at} should be ${expected}.`);
  }
}
