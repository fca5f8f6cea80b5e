// Walks over the JSON of a request without building it. It reads the bytes as text with one character for each,
// because searching such a text for the end of a string is several times faster than any search in bytes. It finds
// the same structure as every other reader; what stands inside of a string that is skipped is not checked.
import { MESSAGE_DEPTH_MAX } from '../json/byte-scanner.ts';
import { foldKey } from '../json/fold-key.ts';
import { decodeText } from '../json/text.ts';
import { blanksEnd, stringEnd } from '../json/text-parts.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from '../json/units.ts';

const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![-+.\w])/y;
/** ASCII without escapes: such a text is what it looks like. */
const PLAIN = /^[ !#-[\]-~]*$/;
/** More keys than an object of any wire has; they are compared one by one. */
const KEYS_MAX = 1_000;

/** The brackets that close what is open. One walk skips at a time, so all share it. */
const OPEN = new Uint8Array(MESSAGE_DEPTH_MAX + 1);

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

  /** The same walk at another place. */
  from(at: number): this {
    this.at = at;
    return this;
  }

  /** Moves over white space, and returns the character there; NaN at the end. */
  next(): number {
    this.at = blanksEnd(this.text, this.at);
    return this.text.charCodeAt(this.at);
  }

  /** Skips a value that stands `depth` levels deep. */
  skip(depth: number): boolean {
    const end = skippedEnd(this.text, this.at, depth);
    if (end >= 0) {
      this.at = end;
      return true;
    }
    if (end === TOO_DEEP) return this.tooDeep();
    this.at = -end;
    return this.malformed('something else');
  }

  /** Walks over an object whose keys matter: two that are one for some reader are refused. */
  members(depth: number, read: (key: string) => boolean): boolean {
    if (!this.open(depth)) return false;
    if (this.next() === CLOSE_BRACE) return this.pass();
    const folds: string[] = [];
    for (;;) {
      if (this.next() !== QUOTE) return this.malformed('a key');
      const start = this.at;
      if (!this.skipString()) return false;
      const key = this.decoded(start, this.at);
      if (key === undefined) return this.malformed('a valid key');
      if (!this.passColon()) return false;
      const fold = foldKey(key);
      if (folds.includes(fold)) return this.fail('It has a key twice.');
      if (folds.push(fold) > KEYS_MAX) {
        return this.fail(`An object has more than ${KEYS_MAX} keys.`);
      }
      if (!read(key)) return false;
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

  private passColon(): boolean {
    if (this.next() !== COLON) return this.malformed('":"');
    this.at++;
    this.next();
    return true;
  }

  private decoded(start: number, end: number): string | undefined {
    const plain = this.text.slice(start + 1, end - 1);
    if (PLAIN.test(plain)) return plain;
    try {
      const text: unknown = JSON.parse(decodeText(this.bytes, start, end));
      return typeof text === 'string' ? text : undefined;
    } catch {
      // An escape or a control character that JSON does not have.
      return undefined;
    }
  }

  private open(depth: number): boolean {
    return depth < MESSAGE_DEPTH_MAX ? this.pass() : this.tooDeep();
  }

  private tooDeep(): false {
    return this.fail(`It nests more than ${MESSAGE_DEPTH_MAX} levels deep.`);
  }

  private pass(): true {
    this.at++;
    return true;
  }

  private skipString(): boolean {
    const end = quotedEnd(this.text, this.at);
    if (end === -1) return this.malformed('the start of a string that ends');
    this.at = end;
    return true;
  }

  private malformed(expected: string): false {
    return this.fail(`It is not valid JSON: byte ${this.at} should be ${expected}.`);
  }
}

/** Below zero, and no place in a text. */
const TOO_DEEP = Number.NEGATIVE_INFINITY;

/**
 * Where the value that starts here ends; or the place of a fault, negated; or `TOO_DEEP`. All in one loop without
 * recursion: this is where a request spends its time.
 */
function skippedEnd(text: string, start: number, depth: number): number {
  let at = start;
  let level = depth;
  let isKey = false;
  for (;;) {
    let unit = text.charCodeAt(at);
    if (unit <= SPACE) unit = text.charCodeAt((at = blanksEnd(text, at)));
    if (unit === QUOTE) {
      const end = quotedEnd(text, at);
      if (end === -1) return -at;
      at = end;
      if (isKey) {
        unit = text.charCodeAt(at);
        if (unit <= SPACE) unit = text.charCodeAt((at = blanksEnd(text, at)));
        if (unit !== COLON) return -at;
        at++;
        isKey = false;
        continue;
      }
    } else if (isKey) {
      return -at;
    } else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (level === MESSAGE_DEPTH_MAX) return TOO_DEEP;
      const close = unit === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
      at = blanksEnd(text, at + 1);
      if (text.charCodeAt(at) !== close) {
        OPEN[level++] = close;
        isKey = close === CLOSE_BRACE;
        continue;
      }
      at++;
    } else {
      SCALAR.lastIndex = at;
      if (!SCALAR.test(text)) return -at;
      at = SCALAR.lastIndex;
    }
    // Behind a value: what is open ends here, or goes on.
    for (;;) {
      if (level === depth) return at;
      unit = text.charCodeAt(at);
      if (unit <= SPACE) unit = text.charCodeAt((at = blanksEnd(text, at)));
      const close = OPEN[level - 1];
      if (unit !== COMMA && unit !== close) return -at;
      at++;
      if (unit === COMMA) {
        isKey = close === CLOSE_BRACE;
        break;
      }
      level--;
    }
  }
}

/** Where the string that starts here ends, its quote included; -1 when it has no end. */
function quotedEnd(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1);
  if (quote === -1 || text.charCodeAt(quote - 1) !== BACKSLASH)
    return quote === -1 ? -1 : quote + 1;
  return stringEnd(text, start);
}
