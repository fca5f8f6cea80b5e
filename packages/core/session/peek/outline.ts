// The outline of a message that is too long to hold. Every byte of its parts is checked, and the members that
// decisions depend on are kept. Nothing behind its closing brace may pass before it is judged.

import { ByteScanner, MESSAGE_DEPTH_MAX } from '../../json/byte-scanner.ts';
import { StringStream } from '../../json/stream-scalars.ts';
import { asciiBytes, decodeUtf8, isScalarByte } from '../../json/text.ts';
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
} from '../../json/units.ts';
import { type GatheredTexts, TextGatherer } from './gather-texts.ts';
import { emptyDraft, type MessageDraft, type ObjectScope, settle } from './members.ts';
import { DECIDED_SCOPES } from './peek.ts';
import { isFolded, PROTOCOL, type ProtocolObject } from './protocol-names.ts';
import type { InvalidReason, OutlineSoFar, Seen } from './types.ts';

/** An object or array that is open. */
interface OpenLevel {
  readonly kind: 'object' | 'array';
  /** Whose keys its members have; of an array, its items. */
  readonly place: ProtocolObject | undefined;
  /** Reads its members; set only where decisions depend on them. */
  readonly scope: ObjectScope | undefined;
  readonly keys: Set<string>;
  key: string;
}

/** What may come next. */
type Expected =
  | 'message'
  | 'value'
  | 'value or end'
  | 'key'
  | 'key or end'
  | 'colon'
  | 'comma or end'
  | 'nothing';

/** Longer keys and values are not ours; a name, an id or a method must be shorter. */
const CAPTURE_MAX = 4_096;
const KEYS_MAX = 4_096;
/** How much white space behind the message is held until the message is judged. */
const TAIL_MAX = 1_024;

/** The scalars that are kept. */
const CAPTURED: { readonly [P in ProtocolObject]?: readonly string[] } = {
  top: ['jsonrpc', 'id', 'method'],
  params: ['name', 'protocolVersion', 'requestId', 'taskId'],
  meta: ['io.modelcontextprotocol/protocolVersion'],
  result: ['isError', 'protocolVersion', 'resultType'],
  error: ['code'],
};

/** The stand-in for a value that is not kept. */
const STAND_IN = {
  object: asciiBytes('{}'),
  array: asciiBytes('[]'),
  string: asciiBytes('""'),
  scalar: asciiBytes('0'),
};

/** Where nothing matters but that it is JSON. */
const ANY = { place: undefined, scope: undefined, keys: new Set<string>(), key: '' };
const ANY_OBJECT: OpenLevel = { kind: 'object', ...ANY };
const ANY_ARRAY: OpenLevel = { kind: 'array', ...ANY };

export class Outline {
  /** Where the closing brace of the message stands; -1 while it has not come. */
  closedAt = -1;
  /** How many bytes were fed. */
  bytesFed = 0;
  private readonly draft: MessageDraft = emptyDraft();
  private readonly levels: OpenLevel[] = [];
  private expected: Expected = 'message';
  private reading: 'between' | 'string' | 'scalar' = 'between';
  private readonly text = new StringStream();
  /** Whether the current string or scalar is kept. */
  private capturing = false;
  private readonly captured = new Uint8Array(CAPTURE_MAX);
  private capturedLength = 0;
  private batch = false;
  private argsStart = -1;
  private broken = false;
  /** A carriage return came: nothing may follow it. */
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
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    while (at < bytes.length && !this.broken && !this.batch) {
      if (this.reading === 'string') at = this.inString(bytes, view, at);
      else if (this.reading === 'scalar') at = this.inScalar(bytes, at);
      else {
        this.between(bytes[at] ?? 0, this.bytesFed + at);
        at++;
      }
    }
    this.bytesFed += bytes.length;
  }

  soFar(): OutlineSoFar {
    const { draft, batch, argsStart } = this;
    return {
      batch,
      id: draft.id ?? undefined,
      method: draft.method ?? undefined,
      name: draft.params.name,
      answers: draft.result !== undefined || draft.error,
      metaVersion: draft.params.metaVersion,
      argsStart,
      faulty: this.isFaulty,
    };
  }

  get isFaulty(): boolean {
    return this.reason !== undefined;
  }

  /** The end of the message. */
  finish(): Seen {
    if (this.batch) return { kind: 'batch' };
    if (this.closedAt === -1 && !this.isFaulty) this.fail('json', this.bytesFed);
    const { draft, reason, offset } = this;
    // The bytes of these ranges are gone.
    draft.params.args = undefined;
    draft.params.argsAreCanonical = false;
    draft.params.progressToken = undefined;
    draft.params.toolUseId = undefined;
    draft.message = undefined;
    if (draft.result !== undefined) draft.result = { start: 0, end: 0 };
    return settle(draft, reason === undefined ? undefined : { reason, offset });
  }

  /** The texts inside of the params, if they were gathered. */
  gathered(): GatheredTexts | undefined {
    return this.gatherer?.texts();
  }

  /** The gatherer, if the next value is inside of the params, but not in `_meta`. */
  private gathering(): TextGatherer | undefined {
    const { gatherer, levels } = this;
    if (gatherer === undefined || levels[1]?.place !== 'params') return undefined;
    return levels[2]?.place === 'meta' ? undefined : gatherer;
  }

  /** Notes a fault and goes on: the id may still come. */
  private complain(reason: InvalidReason, offset: number): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.offset = offset;
  }

  private fail(reason: InvalidReason, offset: number): void {
    this.complain(reason, offset);
    this.broken = true;
  }

  private between(byte: number, offset: number): void {
    // A reader that ends lines at a carriage return would take the rest for another message.
    if (this.lineBreak) this.complain('smuggled', offset);
    this.lineBreak = byte === CARRIAGE_RETURN;
    if (byte <= SPACE) return this.space(byte, offset);
    switch (byte) {
      case QUOTE:
        return this.openString(offset);
      case OPEN_BRACE:
      case OPEN_BRACKET:
        return this.open(byte === OPEN_BRACE ? 'object' : 'array', offset);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.close(byte === CLOSE_BRACE ? 'object' : 'array', offset);
      case COLON:
        return this.step(['colon'], 'value', offset);
      case COMMA:
        return this.step(['comma or end'], this.isInObject ? 'key' : 'value', offset);
      default:
        return this.openScalar(byte, offset);
    }
  }

  private space(byte: number, offset: number): void {
    const isSpace =
      byte === SPACE || byte === TAB || byte === LINE_FEED || byte === CARRIAGE_RETURN;
    const isTooLong = this.closedAt !== -1 && offset - this.closedAt > TAIL_MAX;
    if (!isSpace || isTooLong) this.fail('json', offset);
  }

  private get isInObject(): boolean {
    return this.levels.at(-1)?.kind === 'object';
  }

  /** Moves to the next state if this was expected, else fails. */
  private step(from: readonly Expected[], to: Expected, offset: number): void {
    if (from.includes(this.expected)) this.expected = to;
    else this.fail(this.expected === 'message' ? 'not_object' : 'json', offset);
  }

  private get takesValue(): boolean {
    return this.expected.startsWith('value');
  }

  private get takesKey(): boolean {
    return this.expected.startsWith('key');
  }

  /** The level whose member comes next, if its members matter. */
  private levelAt(): OpenLevel | undefined {
    const level = this.levels.at(-1);
    return level?.kind === 'object' && level.place !== undefined ? level : undefined;
  }

  private openString(offset: number): void {
    const level = this.levelAt();
    if (!this.takesKey && !this.takesValue) return this.step([], 'nothing', offset);
    this.reading = 'string';
    this.text.begin();
    this.capturing = level !== undefined && (this.takesKey || isCaptured(level));
    this.capturedLength = 0;
    if (this.capturing) this.capture(QUOTE);
    else this.gathering()?.open();
  }

  private openScalar(byte: number, offset: number): void {
    if (!this.takesValue) return this.step([], 'nothing', offset);
    const level = this.levelAt();
    this.reading = 'scalar';
    this.capturing = level !== undefined && isCaptured(level);
    this.capturedLength = 0;
    if (!isScalarByte(this.captured, 0, byte)) return this.fail('json', offset);
    this.capture(byte);
  }

  private open(kind: OpenLevel['kind'], offset: number): void {
    if (this.expected === 'message') return this.openMessage(kind);
    if (!this.takesValue) return this.fail('json', offset);
    if (this.levels.length >= MESSAGE_DEPTH_MAX) return this.fail('depth', offset);
    this.levels.push(this.levelFor(kind, offset));
    this.gathering()?.enter();
    this.expected = kind === 'object' ? 'key or end' : 'value or end';
  }

  private openMessage(kind: OpenLevel['kind']): void {
    this.batch = kind === 'array';
    this.levels.push(placeLevel('object', 'top'));
    this.expected = 'key or end';
  }

  /** The level of an object or array that begins here, by the member that it is the value of. */
  private levelFor(kind: OpenLevel['kind'], offset: number): OpenLevel {
    const plain = kind === 'object' ? ANY_OBJECT : ANY_ARRAY;
    const outer = this.levels.at(-1);
    if (outer?.place === undefined) return plain;
    if (outer.kind === 'array') return kind === 'object' ? placeLevel(kind, outer.place) : plain;
    const isArgs = outer.place === 'params' && outer.key === 'arguments';
    if (isArgs && kind === 'object') this.argsStart = offset;
    this.visit(outer, STAND_IN[kind], offset);
    const inside = PROTOCOL[outer.place].inside.get(outer.key);
    // A list holds nothing that is decided on.
    const isPlain = inside === undefined || (kind === 'array' && inside in DECIDED_SCOPES);
    return isPlain ? plain : placeLevel(kind, inside);
  }

  private close(kind: OpenLevel['kind'], offset: number): void {
    const isEnd = this.expected === (kind === 'object' ? 'key or end' : 'value or end');
    const isOpen = this.levels.at(-1)?.kind === kind;
    if (!isOpen || !(isEnd || this.expected === 'comma or end')) return this.fail('json', offset);
    this.gathering()?.leave();
    this.levels.pop();
    this.expected = this.levels.length === 0 ? 'nothing' : 'comma or end';
    if (this.levels.length === 0) this.closedAt = offset;
  }

  private inString(bytes: Uint8Array, view: DataView, from: number): number {
    const { text } = this;
    const end = text.read(bytes, view, from);
    if (this.capturing) for (let at = from; at < end; at++) this.capture(bytes[at] ?? 0);
    else this.gathering()?.add(bytes, from, text.ended ? end - 1 : end);
    if (text.fault !== undefined) this.complain(text.fault, this.bytesFed + end);
    if (text.ended) this.closeValue(this.bytesFed + end);
    return end;
  }

  private inScalar(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      const { captured, capturedLength: length } = this;
      if (byte <= SPACE || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.closeScalar(this.bytesFed + at);
        return at;
      }
      // Whatever comes later, this cannot become a value: nothing more of it passes.
      if (length >= CAPTURE_MAX || !isScalarByte(captured, length, byte)) {
        this.fail('json', this.bytesFed + at);
        return at;
      }
      this.capture(byte);
    }
    return bytes.length;
  }

  /** Checks the number or word that has ended. */
  private closeScalar(offset: number): void {
    const written = this.captured.subarray(0, this.capturedLength);
    const scan = new ByteScanner<InvalidReason>(written, false);
    if (scan.skipValue(1) && scan.at === written.length) this.closeValue(offset);
    else this.fail(scan.reason ?? 'json', offset);
  }

  private capture(byte: number): void {
    if (this.capturedLength < CAPTURE_MAX) this.captured[this.capturedLength] = byte;
    this.capturedLength++;
  }

  /** A string or scalar is over. */
  private closeValue(offset: number): void {
    const level = this.levelAt();
    const isKey = this.takesKey;
    const standIn = this.reading === 'string' ? STAND_IN.string : STAND_IN.scalar;
    if (this.reading === 'string' && !this.capturing) this.gathering()?.close(isKey);
    this.reading = 'between';
    this.expected = isKey ? 'colon' : 'comma or end';
    if (level === undefined) return;
    if (!this.capturing) return this.visit(level, standIn, offset);
    if (this.capturedLength > CAPTURE_MAX) return this.fail(isKey ? 'json' : 'shape', offset);
    const bytes = this.captured.subarray(0, this.capturedLength);
    if (!isKey) return this.visit(level, bytes, offset);
    const key = textOf(bytes);
    if (key === undefined) return this.fail('json', offset);
    this.takeKey(level, key, offset);
  }

  /** Reads the value of a member as it is read in a message that is held as a whole. */
  private visit({ scope, key }: OpenLevel, value: Uint8Array, offset: number): void {
    if (scope === undefined) return;
    const scan = new ByteScanner<InvalidReason>(value, false);
    scope.visit(scan, this.draft, scope.texts.indexOf(key));
    if (scan.reason !== undefined) this.complain(scan.reason, offset);
  }

  private takeKey(level: OpenLevel, key: string, offset: number): void {
    const { place, scope, keys } = level;
    level.key = key;
    this.gathering()?.under(key);
    if (place === undefined) return;
    if (isFolded(PROTOCOL[place], key)) this.complain('folded_key', offset);
    if (scope === undefined) return;
    if (keys.has(key)) {
      scope.repeated?.(this.draft, scope.texts.indexOf(key));
      this.complain('duplicate_key', offset);
    }
    if (keys.size >= KEYS_MAX) this.fail('too_many_keys', offset);
    keys.add(key);
  }
}

function placeLevel(kind: OpenLevel['kind'], place: ProtocolObject): OpenLevel {
  return { kind, place, scope: DECIDED_SCOPES[place], keys: new Set(), key: '' };
}

function isCaptured({ place, key }: OpenLevel): boolean {
  return place !== undefined && CAPTURED[place]?.includes(key) === true;
}

/** The text of a string; undefined when it is not valid. */
function textOf(literal: Uint8Array): string | undefined {
  const decoded = decodeUtf8(literal);
  if (!decoded.ok) return undefined;
  try {
    return String(JSON.parse(decoded.text));
  } catch {
    return undefined;
  }
}
