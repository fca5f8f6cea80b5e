// A place in a JSON text, and what went wrong there.
import { CARRIAGE_RETURN, END, LINE_FEED, SPACE, TAB } from './units.ts';

export type CanonCode =
  | 'SUB_CANON_SYNTAX'
  | 'SUB_CANON_DUPLICATE_KEY'
  | 'SUB_CANON_DEPTH'
  | 'SUB_CANON_NUMBER';

export interface InvalidJson {
  readonly ok: false;
  readonly code: CanonCode;
  /** Where in the text, in UTF-16 units from 0. */
  readonly offset: number;
  readonly message: string;
}

/** Says that the text just read is canonical as it stands. No JSON value is an empty text. */
export const AS_WRITTEN = '';

/** The canonical text of what was read, `AS_WRITTEN`, or undefined after a failure. */
export type Piece = string | undefined;

export class TextReader {
  readonly text: string;
  /** Whether two keys of one object that differ only in case are a fault. */
  readonly foldsKeys: boolean;
  at = 0;
  failure: InvalidJson | undefined;
  /** Whether the string that was read last has an escape in it. */
  escaped = false;

  constructor(text: string, foldsKeys: boolean) {
    this.text = text;
    this.foldsKeys = foldsKeys;
  }

  /** The unit at a place. Reading past the end would slow every later `charCodeAt` down. */
  unit(at: number): number {
    return at < this.text.length ? this.text.charCodeAt(at) : END;
  }

  /** Moves over white space to the next unit, and says which it is. */
  next(): number {
    const { text } = this;
    const { length } = text;
    let { at } = this;
    while (at < length) {
      const unit = text.charCodeAt(at);
      if (unit > SPACE || !isSpace(unit)) {
        this.at = at;
        return unit;
      }
      at++;
    }
    this.at = at;
    return END;
  }

  /** Fails at a place where something else should have stood. */
  expected(what: string, offset: number): undefined {
    const found = offset < this.text.length ? quoted(this.text.charAt(offset)) : 'the end';
    this.fail('SUB_CANON_SYNTAX', offset, `expected ${what}, found ${found}`);
  }

  fail(code: CanonCode, offset: number, message: string): undefined {
    this.failure = { ok: false, code, offset, message };
  }
}

function isSpace(unit: number): boolean {
  return unit === SPACE || unit === LINE_FEED || unit === CARRIAGE_RETURN || unit === TAB;
}

/** Text from outside, safe to show in a message. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}
