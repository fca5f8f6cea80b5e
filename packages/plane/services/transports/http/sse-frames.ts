// Server-sent events as messages: bytes in, messages out, with what the stream says of itself. The reader of the model
// wires makes texts of events, and holds each one whole; here a message stays bytes, and a large one is passed on in parts.
import type { MessageGatherer } from './gather-message.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const BLANK = Uint8Array.of(SPACE);
/** As bytes. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
/** The name of an event, its id and the time to wait are short; a longer one is ignored. */
const FIELD_BYTES_MAX = 4_096;
/** No name that matters is longer than `event` behind a byte order mark. */
const NAME_BYTES_MAX = 8;

export interface SseHandlers {
  /** An event is over. Its data were a message, unless it has a name of its own: then they are its text. */
  event(event: { readonly name: string; readonly text: string | undefined }): void;
  /** The id that a stream is resumed by from here on. */
  id(id: string): void;
  retry(retryMs: number): void;
}

type Line =
  /** Its name is not known yet. */
  | 'name'
  /** Data of a message. */
  | 'data'
  /** A field that is held until its end. */
  | 'field'
  /** A comment, or too long. */
  | 'skip';

export class SseFrames {
  readonly #message: MessageGatherer;
  readonly #on: SseHandlers;
  #line: Line = 'name';
  #field: 'event' | 'id' | 'retry' | 'data' = 'event';
  #held = '';
  #hasData = false;
  /** A line feed that follows a carriage return belongs to it. */
  #endedInReturn = false;
  #isFirstLine = true;
  /** A space behind the colon is not part of the value. */
  #isValueStart = false;
  #name = '';
  #text: string | undefined;
  #id: string | undefined;

  constructor(message: MessageGatherer, on: SseHandlers) {
    this.#message = message;
    this.#on = on;
  }

  /** Reads as far as it may: fewer bytes than given when a large message must wait for its turn. */
  feed(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length) {
      if (this.#endedInReturn) {
        this.#endedInReturn = false;
        if (chunk[at] === LINE_FEED) at++;
        continue;
      }
      const end = lineEnd(chunk, at);
      const used = this.#part(chunk.subarray(at, end));
      if (used === -1) return at;
      if (at + used < end) {
        at += used;
        continue;
      }
      if (end === chunk.length) return end;
      this.#endLine();
      this.#endedInReturn = chunk[end] === CARRIAGE_RETURN;
      at = end + 1;
    }
    return chunk.length;
  }

  /** The stream is over: an event without its end is none. */
  end(): void {
    this.#message.cut();
  }

  /** Takes a part of a line: how much of it, or -1 when it must wait. */
  #part(bytes: Uint8Array): number {
    if (bytes.length === 0 || this.#line === 'skip') return bytes.length;
    if (this.#line === 'name') return this.#fieldName(bytes);
    const skip = this.#isValueStart && bytes[0] === SPACE ? 1 : 0;
    if (this.#line === 'data') {
      if (!this.#message.add(bytes.subarray(skip))) return -1;
    } else this.#hold(bytes.subarray(skip));
    this.#isValueStart = false;
    return bytes.length;
  }

  /** Reads up to the colon. */
  #fieldName(bytes: Uint8Array): number {
    const colon = bytes.indexOf(COLON);
    const end = colon === -1 ? bytes.length : colon;
    this.#held += latin1(bytes.subarray(0, Math.min(end, NAME_BYTES_MAX + 1)));
    if (this.#held.length > NAME_BYTES_MAX) {
      this.#line = 'skip';
      return bytes.length;
    }
    if (colon === -1) return bytes.length;
    this.#startValue(this.#lineName());
    return colon + 1;
  }

  #lineName(): string {
    const isMarked = this.#isFirstLine && this.#held.startsWith(BYTE_ORDER_MARK);
    return isMarked ? this.#held.slice(BYTE_ORDER_MARK.length) : this.#held;
  }

  #startValue(name: string): void {
    this.#isValueStart = true;
    this.#held = '';
    if (name === 'data') this.#startData();
    else if (name === 'event' || name === 'id' || name === 'retry') {
      this.#line = 'field';
      this.#field = name;
    } else this.#line = 'skip';
  }

  #startData(): void {
    const isMessage = this.#name === '' || this.#name === 'message';
    this.#line = isMessage ? 'data' : 'field';
    this.#field = 'data';
    if (this.#hasData && isMessage) this.#message.add(BLANK);
    this.#hasData = true;
  }

  #hold(bytes: Uint8Array): void {
    if (this.#held.length + bytes.length > FIELD_BYTES_MAX) {
      this.#line = 'skip';
      return;
    }
    this.#held += latin1(bytes);
  }

  #endLine(): void {
    const isName = this.#line === 'name';
    const name = isName ? this.#lineName() : '';
    if (isName && name === '') this.#dispatch();
    else if (isName) this.#startValue(name);
    if (this.#line === 'field') this.#endField(Buffer.from(this.#held, 'latin1').toString());
    this.#isFirstLine = false;
    this.#isValueStart = false;
    this.#held = '';
    this.#line = 'name';
  }

  #endField(value: string): void {
    if (this.#field === 'event') this.#name = value;
    else if (this.#field === 'data') this.#addText(value);
    else if (this.#field === 'id') this.#id = value.includes('\0') ? this.#id : value;
    else if (/^\d{1,9}$/.test(value)) this.#on.retry(Number(value));
  }

  /** A text of many lines is as short as one of one line. */
  #addText(line: string): void {
    const text = this.#text === undefined ? line : `${this.#text}\n${line}`;
    if (text.length <= FIELD_BYTES_MAX) this.#text = text;
  }

  #dispatch(): void {
    const [name, text, id] = [this.#name, this.#text, this.#id];
    this.#name = '';
    this.#text = undefined;
    this.#hasData = false;
    this.#id = undefined;
    // First the id: whoever takes the message may look at where the stream stands.
    if (id !== undefined) this.#on.id(id);
    this.#message.end();
    this.#on.event({ name: name === '' ? 'message' : name, text });
  }
}

/** Keeps bytes apart until the value is whole. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** The end of the line that begins here; the end of the bytes when it is not among them. */
function lineEnd(bytes: Uint8Array, from: number): number {
  const feed = bytes.indexOf(LINE_FEED, from);
  const part = feed === -1 ? bytes : bytes.subarray(0, feed);
  const carriage = part.indexOf(CARRIAGE_RETURN, from);
  return carriage === -1 ? part.length : carriage;
}
