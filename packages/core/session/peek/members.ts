// The members of an object that we decide on: known keys by number, no key twice.
import type { ByteScanner } from '../../json/byte-scanner.ts';
import { asciiBytes, decodeText, stringText } from '../../json/text.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  DOT,
  LOWER_E,
  LOWER_N,
  MINUS,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  UPPER_E,
  ZERO,
} from '../../json/units.ts';
import { isFolded, PROTOCOL, type ProtocolKeys, type ProtocolObject } from './protocol-names.ts';
import type { ByteRange, InvalidReason, MessageId, Seen, SeenParams } from './types.ts';

export type MessageScanner = ByteScanner<InvalidReason>;

/** An object at a known place in the message, and how to read the value of each key. */
export interface ObjectScope {
  readonly place: ProtocolKeys;
  readonly words: readonly Uint8Array[];
  readonly texts: readonly string[];
  /** Reads the value; `key` is the place of its key among `words`, or -1. */
  readonly visit: (scan: MessageScanner, draft: MessageDraft, key: number) => boolean;
  /** Called when a key comes again. */
  readonly repeated?: ((draft: MessageDraft, key: number) => void) | undefined;
}

/** No honest message has more keys in an object that we decide on. */
const KEYS_MAX = 4_096;

export function scopeOf(
  place: ProtocolObject,
  texts: readonly string[],
  hooks: Pick<ObjectScope, 'visit' | 'repeated'>,
): ObjectScope {
  const { visit, repeated } = hooks;
  // All of one shape, whether it has a hook or not: these are read with every message.
  return { place: PROTOCOL[place], words: texts.map(asciiBytes), texts, visit, repeated };
}

/** Reads an object from its opening brace to behind the closing one. */
export function readMembers(
  scan: MessageScanner,
  scope: ObjectScope,
  draft: MessageDraft,
): boolean {
  let known = 0;
  let others: Set<string> | undefined;
  scan.at++;
  if (scan.next() === CLOSE_BRACE) return scan.pass();
  for (;;) {
    if (scan.next() !== QUOTE) return scan.fail('json', scan.at);
    const start = scan.at;
    if (!scan.readString()) return false;
    const end = scan.at;
    const key = scan.escaped
      ? scope.texts.indexOf(stringText(decodeText(scan.bytes, start, end)))
      : placeOf(scope.words, scan.bytes, { start: start + 1, end: end - 1 });
    if (key === -1) {
      others ??= new Set();
      if (others.size >= KEYS_MAX) return scan.fail('too_many_keys', start);
      const text = stringText(decodeText(scan.bytes, start, end));
      if (others.has(text)) scan.complain('duplicate_key');
      if (isFolded(scope.place, text)) scan.complain('folded_key');
      others.add(text);
    } else {
      if ((known & (1 << key)) !== 0) {
        scan.complain('duplicate_key');
        scope.repeated?.(draft, key);
      }
      known |= 1 << key;
    }
    if (!scan.passColon()) return false;
    if (!scope.visit(scan, draft, key)) return false;
    const byte = scan.next();
    if (byte === CLOSE_BRACE) return scan.pass();
    if (!scan.passComma(byte)) return false;
  }
}

/**
 * Reads a value that may be an object at a place, or a list of such objects, and looks for keys that fold to
 * keys of the protocol. Nothing is decided on it here, so a key may stand twice.
 */
export function readInside(scan: MessageScanner, place: ProtocolObject, depth: number): boolean {
  const first = scan.bytes[scan.at];
  if (first === OPEN_BRACE) return readPlace(scan, place, depth + 1);
  if (first !== OPEN_BRACKET) return scan.skipValue(depth);
  scan.at++;
  if (scan.next() === CLOSE_BRACKET) return scan.pass();
  for (;;) {
    const read =
      scan.next() === OPEN_BRACE ? readPlace(scan, place, depth + 2) : scan.skipValue(depth + 1);
    if (!read) return false;
    const byte = scan.next();
    if (byte === CLOSE_BRACKET) return scan.pass();
    if (!scan.passComma(byte)) return false;
  }
}

function readPlace(scan: MessageScanner, place: ProtocolObject, depth: number): boolean {
  const known = PROTOCOL[place];
  scan.at++;
  if (scan.next() === CLOSE_BRACE) return scan.pass();
  for (;;) {
    if (scan.next() !== QUOTE) return scan.fail('json', scan.at);
    const start = scan.at;
    if (!scan.readString()) return false;
    const key = keyIn(scan, known, start);
    if (!scan.passColon()) return false;
    const inside = known.inside.get(key);
    const read = inside === undefined ? scan.skipValue(depth) : readInside(scan, inside, depth);
    if (!read) return false;
    const byte = scan.next();
    if (byte === CLOSE_BRACE) return scan.pass();
    if (!scan.passComma(byte)) return false;
  }
}

/** The key that was just read. */
function keyIn(scan: MessageScanner, known: ProtocolKeys, start: number): string {
  const { bytes, at, escaped } = scan;
  const index = escaped ? -1 : placeOf(known.words, bytes, { start: start + 1, end: at - 1 });
  const exact = known.keys[index];
  if (exact !== undefined) return exact;
  const text = stringText(decodeText(bytes, start, at));
  if (isFolded(known, text)) scan.complain('folded_key');
  return text;
}

/** Which of the words stands there, or -1. */
function placeOf(
  words: readonly Uint8Array[],
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
): number {
  const length = end - start;
  for (let place = 0; place < words.length; place++) {
    const word = words[place];
    if (word?.length === length && isWord(word, bytes, start)) return place;
  }
  return -1;
}

export function isWord(word: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < word.length; index++) {
    if (bytes[start + index] !== word[index]) return false;
  }
  return true;
}

// A draft is filled while a message is read, and becomes the message in the end.

export interface MessageDraft {
  version: boolean;
  /** `null` when it is there but cannot be used. */
  id: MessageId | null | undefined;
  method: string | null | undefined;
  readonly params: { -readonly [K in keyof SeenParams]: SeenParams[K] };
  result: ByteRange | undefined;
  error: boolean;
  /** Of a result. */
  protocolVersion: string | undefined;
  extra: boolean;
  isError: boolean;
  resultType: string | undefined;
  hasTask: boolean;
  forged: boolean;
  code: number | undefined;
  message: ByteRange | undefined;
}

export interface MessageFault {
  readonly reason: InvalidReason;
  readonly offset: number;
}

export function emptyDraft(): MessageDraft {
  return {
    version: false,
    id: undefined,
    method: undefined,
    params: {
      name: undefined,
      args: undefined,
      argsAreCanonical: false,
      meta: undefined,
      progressToken: undefined,
      toolUseId: undefined,
      metaVersion: undefined,
      hasCapabilities: false,
      protocolVersion: undefined,
      requestId: undefined,
      taskId: undefined,
      subscriptionId: undefined,
      more: false,
      bound: false,
    },
    result: undefined,
    error: false,
    protocolVersion: undefined,
    extra: false,
    isError: false,
    resultType: undefined,
    hasTask: false,
    forged: false,
    code: undefined,
    message: undefined,
  };
}

/** The message that a draft holds, or why it is invalid. */
export function settle(draft: MessageDraft, fault: MessageFault | undefined): Seen {
  const reason = fault?.reason ?? shapeFault(draft);
  if (reason !== undefined) return invalid(draft, { reason, offset: fault?.offset ?? 0 });
  const { id, method, params, extra } = draft;
  if (typeof method === 'string') {
    if (id === undefined || id === null) return { kind: 'notification', method, params, extra };
    return { kind: 'request', id, method, params, extra };
  }
  const { code, message, result, protocolVersion, resultType, hasTask, forged } = draft;
  return {
    kind: 'response',
    id: id ?? undefined,
    failed: draft.error ? 'rpc' : draft.isError ? 'tool' : 'no',
    code,
    message,
    result,
    protocolVersion,
    resultType,
    needsInput: resultType === 'input_required',
    hasTask,
    forged,
    extra,
  };
}

function shapeFault(draft: MessageDraft): InvalidReason | undefined {
  const { id, method, result, error, version } = draft;
  if (!version) return 'version';
  if (id === null) return 'id';
  if (method === null) return 'method';
  const answers = result !== undefined || error;
  if (method !== undefined) return answers ? 'conflict' : undefined;
  if (result !== undefined && error) return 'conflict';
  if (!answers) return 'shape';
  return id === undefined && !error ? 'shape' : undefined;
}

function invalid(draft: MessageDraft, { reason, offset }: MessageFault): Seen {
  const id = draft.id ?? undefined;
  const asks = draft.result === undefined && !draft.error;
  return { kind: 'invalid', reason, offset, id, asks, method: draft.method ?? undefined };
}

// Ids of requests: strings, numbers and null; nothing else is an id.

/** A message with a longer id is refused. */
export const ID_BYTES_MAX = 1_024;
const NULL_ID: MessageId = { type: 'null', json: 'null' };

/** The id in a valid JSON value, or undefined. Two spellings of one id give the same id. */
export function idOf(bytes: Uint8Array, start: number, end: number): MessageId | undefined {
  const first = bytes[start] ?? 0;
  if (first === QUOTE) {
    const written = decodeText(bytes, start, end);
    const json = written.includes('\\') ? JSON.stringify(stringText(written)) : written;
    return { type: 'string', json };
  }
  if (first === LOWER_N) return NULL_ID;
  if (first !== MINUS && (first < ZERO || first > NINE)) return undefined;
  const json = decodeText(bytes, start, end);
  if (!isWhole(bytes, start, end)) return fractionId(Number(json));
  return { type: 'number', json: json === '-0' ? '0' : json };
}

/** Whether a number is written in digits alone: then it is kept as written, however large. */
function isWhole(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === DOT || byte === LOWER_E || byte === UPPER_E) return false;
  }
  return true;
}

/** 1.0 and 1e2 come back as 1 and 100. */
function fractionId(value: number): MessageId | undefined {
  return Number.isFinite(value) ? { type: 'number', json: String(value) } : undefined;
}
