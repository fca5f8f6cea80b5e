// The outline of a message that is too long to hold: its parts go by, and what is decided on is
// picked out. It checks keys and their values where we decide, and the balance of everything else.
import {
  BACKSLASH,
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
} from '../../canon/units.ts';
import type { GatheredTexts } from '../guard.ts';
import { type Draft, emptyDraft, settle } from './draft.ts';
import { TextGatherer } from './gather-texts.ts';
import { noteKey, noteObject, noteScalar, type Place, WANTED } from './outline-fields.ts';
import type { InvalidReason, MessageId, Seen } from './types.ts';

/** What can be told before the end has come. */
interface OutlineSoFar {
  readonly batch: boolean;
  readonly id: MessageId | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
  /** It has a result or an error: it is an answer. */
  readonly answers: boolean;
  readonly metaVersion: string | undefined;
  /** Where the arguments begin, in bytes from the start of the message; -1 while they have not. */
  readonly argsStart: number;
  readonly faulty: boolean;
}

interface Level {
  readonly place: Place;
  readonly keys: Set<string>;
  key: string;
  expects: 'key' | 'colon' | 'value' | 'comma';
}

/** Longer keys and values are not ours; a name, an id or a method must be shorter. */
const CAPTURE_MAX = 4_096;
const KEYS_MAX = 4_096;

class Outline {
  private readonly draft: Draft = emptyDraft();
  private readonly levels: Level[] = [];
  private depth = 0;
  private mode: 'between' | 'string' | 'scalar' = 'between';
  /** Whether the string or scalar at hand is kept. */
  private capturing = false;
  private readonly captured = new Uint8Array(CAPTURE_MAX);
  private capturedLength = 0;
  private escaping = false;
  private started = false;
  private batch = false;
  private base = 0;
  private argsStart = -1;
  private broken = false;
  private idTwice = false;
  /** A carriage return came, and nothing but white space since. */
  private lineBreak = false;
  private reason: InvalidReason | undefined;
  private offset = 0;
  private readonly gatherer: TextGatherer | undefined;

  /** With `gathers`, the texts inside of the params are kept as well. */
  constructor(gathers = false) {
    this.gatherer = gathers ? new TextGatherer() : undefined;
  }

  /** The next bytes of the message. */
  feed(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && !this.broken && !this.batch) {
      if (this.mode === 'string') at = this.inString(bytes, at);
      else if (this.mode === 'scalar') at = this.inScalar(bytes, at);
      else {
        this.between(bytes[at] ?? 0, this.base + at);
        at++;
      }
    }
    this.base += bytes.length;
  }

  soFar(): OutlineSoFar {
    const { draft, batch, argsStart } = this;
    return {
      batch,
      id: draft.id ?? undefined,
      method: draft.method ?? undefined,
      name: draft.name,
      answers: draft.result !== undefined || draft.error,
      metaVersion: draft.metaVersion,
      argsStart,
      faulty: this.reason !== undefined,
    };
  }

  /** The whole message has gone by. */
  finish(): Seen {
    if (this.batch) return { kind: 'batch' };
    if (this.reason === undefined && (this.depth > 0 || !this.started))
      this.fail('json', this.base);
    // Of two ids, nobody knows which one the other side takes.
    if (this.idTwice) this.draft.id = null;
    const { reason, offset } = this;
    return settle(this.draft, reason === undefined ? undefined : { reason, offset });
  }

  /** The texts inside of the params, if they were gathered. */
  gathered(): GatheredTexts | undefined {
    return this.gatherer?.texts();
  }

  /** The gatherer, if what comes stands inside of a value of the params. */
  private gathering(): TextGatherer | undefined {
    const isInside = this.depth > this.levels.length && this.levels.at(-1)?.place === 'params';
    return isInside ? this.gatherer : undefined;
  }

  /** Notes what is wrong and goes on: the id may still come. */
  private complain(reason: InvalidReason, offset: number): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.offset = offset;
  }

  private fail(reason: InvalidReason, offset: number): void {
    this.complain(reason, offset);
    this.broken = true;
  }

  /** The level whose members we read, if the next byte belongs to it. */
  private level(): Level | undefined {
    return this.depth === this.levels.length ? this.levels.at(-1) : undefined;
  }

  private between(byte: number, offset: number): void {
    if (byte <= SPACE) return this.space(byte, offset);
    const opens = byte === OPEN_BRACE || byte === OPEN_BRACKET;
    // A reader that ends lines at a carriage return would take what follows for its own message.
    if (this.lineBreak && opens && this.started) this.complain('smuggled', offset);
    this.lineBreak = false;
    switch (byte) {
      case QUOTE:
        return this.openString(offset);
      case OPEN_BRACE:
        return this.openObject(offset);
      case OPEN_BRACKET:
        return this.openArray(offset);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.close(byte, offset);
      case COLON:
      case COMMA:
        return this.separate(byte, offset);
      default:
        return this.openScalar(byte, offset);
    }
  }

  private space(byte: number, offset: number): void {
    if (byte === CARRIAGE_RETURN) this.lineBreak = true;
    else if (byte !== SPACE && byte !== TAB && byte !== LINE_FEED) this.fail('json', offset);
  }

  private openString(offset: number): void {
    const level = this.level();
    if (this.depth === 0) return this.fail(this.started ? 'json' : 'not_object', offset);
    if (level !== undefined && level.expects !== 'key' && level.expects !== 'value') {
      return this.fail('json', offset);
    }
    this.mode = 'string';
    this.escaping = false;
    this.capturing = level !== undefined && (level.expects === 'key' || wanted(level));
    this.capturedLength = 0;
    if (this.capturing) this.capture(QUOTE);
    else this.gathering()?.open();
  }

  private openScalar(byte: number, offset: number): void {
    const level = this.level();
    if (this.depth === 0) return this.fail(this.started ? 'json' : 'not_object', offset);
    if (level !== undefined && level.expects !== 'value') return this.fail('json', offset);
    this.mode = 'scalar';
    this.capturing = level !== undefined && wanted(level);
    this.capturedLength = 0;
    if (this.capturing) this.capture(byte);
  }

  private openObject(offset: number): void {
    const level = this.level();
    if (this.depth === 0) {
      if (this.started) return this.fail('json', offset);
      this.started = true;
      this.enter('top');
      return;
    }
    if (level === undefined) {
      this.depth++;
      return;
    }
    if (level.expects !== 'value') return this.fail('json', offset);
    level.expects = 'comma';
    if (level.place === 'params' && level.key === 'arguments') this.argsStart = offset;
    const inside = noteObject(this.draft, level.place, level.key);
    if (inside === undefined) this.depth++;
    else this.enter(inside);
  }

  private enter(place: Place): void {
    this.levels.push({ place, keys: new Set(), key: '', expects: 'key' });
    this.depth++;
  }

  private openArray(offset: number): void {
    const level = this.level();
    if (this.depth === 0) {
      this.batch = !this.started;
      if (this.started) this.fail('json', offset);
      return;
    }
    if (level !== undefined) {
      if (level.expects !== 'value') return this.fail('json', offset);
      level.expects = 'comma';
      this.note(level, '[');
    }
    this.depth++;
  }

  private close(byte: number, offset: number): void {
    const level = this.level();
    if (this.depth === 0) return this.fail('json', offset);
    if (level !== undefined) {
      const empty = level.expects === 'key' && level.keys.size === 0;
      if (byte !== CLOSE_BRACE || !(empty || level.expects === 'comma')) {
        return this.fail('json', offset);
      }
      this.levels.pop();
    }
    this.depth--;
  }

  private separate(byte: number, offset: number): void {
    const level = this.level();
    if (this.depth === 0) return this.fail('json', offset);
    if (level === undefined) {
      if (byte === COLON) this.gathering()?.colon();
      return;
    }
    if (level.expects !== (byte === COLON ? 'colon' : 'comma')) return this.fail('json', offset);
    level.expects = byte === COLON ? 'value' : 'key';
  }

  private inString(bytes: Uint8Array, from: number): number {
    return this.capturing ? this.readString(bytes, from) : this.skipString(bytes, from);
  }

  private readString(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      this.capture(byte);
      if (this.escaping) this.escaping = false;
      else if (byte === BACKSLASH) this.escaping = true;
      else if (byte === QUOTE) {
        this.closeValue(this.base + at);
        return at + 1;
      }
    }
    return bytes.length;
  }

  /** Looks for the quote that ends the string; most of a long message passes here. */
  private skipString(bytes: Uint8Array, from: number): number {
    const quote = bytes.indexOf(QUOTE, from);
    const until = quote === -1 ? bytes.length : quote;
    const gatherer = this.gathering();
    let slashes = until;
    while (slashes > from && bytes[slashes - 1] === BACKSLASH) slashes--;
    // The run may have begun in the part before.
    const carried = slashes === from && this.escaping ? 1 : 0;
    this.escaping = (until - slashes + carried) % 2 === 1;
    const isOver = quote !== -1 && !this.escaping;
    gatherer?.add(bytes, from, isOver || quote === -1 ? until : quote + 1);
    if (quote === -1) return until;
    if (isOver) {
      gatherer?.close();
      this.closeValue(this.base + quote);
    } else this.escaping = false;
    return quote + 1;
  }

  private inScalar(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      const ends =
        byte <= SPACE || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
      if (ends || byte === COLON || byte === QUOTE) {
        this.closeValue(this.base + at);
        return at;
      }
      if (this.capturing) this.capture(byte);
    }
    return bytes.length;
  }

  private capture(byte: number): void {
    if (this.capturedLength < CAPTURE_MAX) this.captured[this.capturedLength] = byte;
    this.capturedLength++;
  }

  /** A string or scalar is over. */
  private closeValue(offset: number): void {
    this.mode = 'between';
    const level = this.level();
    if (level === undefined) return;
    const isKey = level.expects === 'key';
    level.expects = isKey ? 'colon' : 'comma';
    if (!this.capturing) return this.note(level, '');
    if (this.capturedLength > CAPTURE_MAX) return this.fail(isKey ? 'json' : 'shape', offset);
    const literal = noteScalar(this.draft, this.captured.subarray(0, this.capturedLength), {
      place: level.place,
      key: isKey ? undefined : level.key,
    });
    if (!literal.ok) return this.fail(literal.reason, offset);
    if (isKey) this.takeKey(level, literal.text, offset);
  }

  /** A value whose inside does not matter, but which may be none that the key can have. */
  private note(level: Level, first: '[' | ''): void {
    if (level.place !== 'top') return;
    switch (level.key) {
      case 'id':
        this.draft.id = null;
        return;
      case 'method':
        this.draft.method = null;
        return;
      case 'result':
        this.draft.result = { start: 0, end: 0 };
        return;
      case 'error':
        this.draft.error = true;
        return this.complain('shape', this.base);
      case 'params':
        if (first === '') this.complain('params', this.base);
    }
  }

  private takeKey(level: Level, key: string, offset: number): void {
    if (level.keys.has(key)) {
      if (level.place === 'top' && key === 'id') this.idTwice = true;
      this.complain('duplicate_key', offset);
    }
    if (level.keys.size >= KEYS_MAX) this.fail('too_many_keys', offset);
    level.keys.add(key);
    level.key = key;
    noteKey(this.draft, level.place, key);
  }
}

function wanted({ place, key }: Level): boolean {
  return WANTED[place].includes(key);
}

export type { OutlineSoFar };
export { Outline };
