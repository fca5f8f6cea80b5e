// Server-sent events: bytes in, events out, and back. Reads as the HTML standard says, in a bounded buffer.
import type { ByteRange } from '../../json/byte-scanner.ts';
import { asciiBytes, type Decode, decodeText, sequenceEnd } from '../../json/text.ts';
import { CARRIAGE_RETURN, COLON, LINE_FEED, SPACE } from '../../json/units.ts';

export interface SseEvent {
  /** The name of the event; `message` where none is given. */
  readonly event: string;
  /** The lines of its data, joined. */
  readonly data: string;
  readonly id?: string;
}

export interface SseReaderOptions {
  /** The data of an event and a line that has not ended yet may be this long together. */
  readonly eventBytesMax: number;
  /** A faster decoder of UTF-8 than ours, where the platform has one; it replaces what is malformed. */
  readonly decode?: Decode;
}

/** Reads a stream that arrives in pieces of any size. */
export interface SseReader {
  /** The events that these bytes complete. An event that the stream breaks off is never one. */
  push(bytes: Uint8Array): readonly SseEvent[];
  /** An event was larger than allowed: nothing is read any more. */
  readonly isTooLarge: boolean;
}

export function sseReader(options: SseReaderOptions): SseReader {
  return new EventStream(options);
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const HELD_BYTES_MIN = 256;
const EVENT_FIELD = 'event: ';
const DATA_FIELD = 'data: ';

class EventStream implements SseReader {
  isTooLarge = false;
  private readonly bytesMax: number;
  private readonly decode: Decode;
  /** The start of a line whose end has not come; it grows by doubling, so that tiny pieces stay cheap. */
  private held = new Uint8Array(HELD_BYTES_MIN);
  private heldLength = 0;
  /** The piece before ended with a carriage return: a line feed that follows belongs to it. */
  private endedInReturn = false;
  private isFirstLine = true;
  private event = '';
  private data: string | undefined;
  private dataBytes = 0;
  private id = '';

  constructor({ eventBytesMax, decode }: SseReaderOptions) {
    this.bytesMax = eventBytesMax;
    this.decode = decode ?? decodeReplacing;
  }

  push(bytes: Uint8Array): readonly SseEvent[] {
    return (this.isBetweenEvents(bytes) && this.plainEvents(bytes)) || this.readLines(bytes);
  }

  /** Whether nothing of what came before has a part in these bytes, and no event in them can be too large. */
  private isBetweenEvents({ length }: Uint8Array): boolean {
    if (this.heldLength > 0 || this.endedInReturn || this.isTooLarge) return false;
    const { event, data, id } = this;
    return event === '' && data === undefined && id === '' && length <= this.bytesMax;
  }

  /**
   * Whole events as servers write them: a name, or none, and one line of data. To decode them at once costs a third of
   * reading line by line. Undefined where anything else stands among them.
   */
  private plainEvents(bytes: Uint8Array): readonly SseEvent[] | undefined {
    const text = this.decode(bytes, 0, bytes.length);
    if (text.includes('\r')) return undefined;
    const events: SseEvent[] = [];
    for (let at = 0; at < text.length; ) {
      let event = 'message';
      if (text.startsWith(EVENT_FIELD, at)) {
        const nameEnd = text.indexOf('\n', at);
        if (nameEnd <= at + EVENT_FIELD.length) return undefined;
        event = text.slice(at + EVENT_FIELD.length, nameEnd);
        at = nameEnd + 1;
      }
      if (!text.startsWith(DATA_FIELD, at)) return undefined;
      const end = text.indexOf('\n', at);
      if (text.charCodeAt(end + 1) !== LINE_FEED) return undefined;
      events.push({ event, data: text.slice(at + DATA_FIELD.length, end) });
      at = end + 2;
    }
    this.isFirstLine = false;
    return events;
  }

  private readLines(bytes: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    const { length } = bytes;
    if (length === 0 || this.isTooLarge) return events;
    let at = this.endedInReturn && bytes[0] === LINE_FEED ? 1 : 0;
    this.endedInReturn = false;
    /** The next end of a line of each kind, as far as it is looked for. */
    let feed = -1;
    let carriage = -1;
    while (at < length) {
      if (feed < at) feed = placeOf(bytes, LINE_FEED, at);
      if (carriage < at) carriage = placeOf(bytes, CARRIAGE_RETURN, at);
      const end = Math.min(feed, carriage);
      if (end === length) {
        this.hold(bytes, at, length);
        break;
      }
      this.endLine(bytes, { start: at, end }, events);
      if (this.isTooLarge) break;
      at = end + 1;
      if (end !== carriage) continue;
      if (at === length) this.endedInReturn = true;
      else if (bytes[at] === LINE_FEED) at++;
    }
    return events;
  }

  private endLine(bytes: Uint8Array, line: ByteRange, events: SseEvent[]): void {
    if (this.heldLength === 0) return this.line(bytes, line, events);
    this.hold(bytes, line.start, line.end);
    if (this.isTooLarge) return;
    const length = this.heldLength;
    this.heldLength = 0;
    this.line(this.held, { start: 0, end: length }, events);
  }

  private hold(bytes: Uint8Array, start: number, end: number): void {
    const length = this.heldLength + end - start;
    if (length + this.dataBytes > this.bytesMax) return this.stop();
    if (length > this.held.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.held.length));
      larger.set(this.held.subarray(0, this.heldLength));
      this.held = larger;
    }
    this.held.set(bytes.subarray(start, end), this.heldLength);
    this.heldLength = length;
  }

  private line(bytes: Uint8Array, range: ByteRange, events: SseEvent[]): void {
    const { end } = range;
    let { start } = range;
    if (this.isFirstLine) {
      this.isFirstLine = false;
      if (BYTE_ORDER_MARK.every((byte, index) => bytes[start + index] === byte)) start += 3;
    }
    if (start >= end) return this.dispatch(events);
    if (bytes[start] === COLON) return;
    let colon = start;
    while (colon < end && bytes[colon] !== COLON) colon++;
    const from = bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
    const valueStart = Math.min(from, end);
    this.field(fieldName(bytes, start, colon), bytes, { start: valueStart, end });
  }

  private field(name: string | undefined, bytes: Uint8Array, { start, end }: ByteRange): void {
    if (name === 'data') {
      this.dataBytes += end - start + 1;
      if (this.dataBytes > this.bytesMax + 1) return this.stop();
      const text = this.decode(bytes, start, end);
      this.data = this.data === undefined ? text : `${this.data}\n${text}`;
    } else if (name === 'event') {
      this.event = this.decode(bytes, start, end);
    } else if (name === 'id') {
      const id = this.decode(bytes, start, end);
      if (!id.includes('\0')) this.id = id;
    }
  }

  private dispatch(events: SseEvent[]): void {
    const { data, event, id } = this;
    this.data = undefined;
    this.dataBytes = 0;
    this.event = '';
    if (data === undefined) return;
    events.push({ event: event === '' ? 'message' : event, data, ...(id === '' ? {} : { id }) });
  }

  private stop(): void {
    this.isTooLarge = true;
    this.held = new Uint8Array(0);
    this.heldLength = 0;
    this.data = undefined;
  }
}

const FIELD_NAMES = ['data', 'event', 'id'].map((name) => ({ name, spelled: asciiBytes(name) }));

/** The name of a field that means something; to decode each one costs more than to compare it. */
function fieldName(bytes: Uint8Array, start: number, end: number): string | undefined {
  for (const { name, spelled } of FIELD_NAMES) {
    if (spelled.length !== end - start || bytes[start] !== spelled[0]) continue;
    if (spelled.every((byte, index) => bytes[start + index] === byte)) return name;
  }
  return undefined;
}

/** The end of the bytes where it is not among them. */
function placeOf(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

/** U+FFFD in UTF-8. */
const REPLACEMENT = [0xef, 0xbf, 0xbd];

/** The text of bytes; each byte that is not UTF-8 becomes U+FFFD. */
const decodeReplacing: Decode = (bytes, start, end) => {
  const line = bytes.subarray(start, end);
  let bad = 0;
  for (let at = 0; at < line.length; ) {
    const next = characterEnd(line, at);
    if (next === -1) bad++;
    at = next === -1 ? at + 1 : next;
  }
  if (bad === 0) return decodeText(bytes, start, end);
  const repaired = new Uint8Array(line.length + 2 * bad);
  let used = 0;
  for (let at = 0; at < line.length; ) {
    const next = characterEnd(line, at);
    const good = next === -1 ? REPLACEMENT : line.subarray(at, next);
    repaired.set(good, used);
    used += good.length;
    at = next === -1 ? at + 1 : next;
  }
  return decodeText(repaired, 0, used);
};

function characterEnd(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) < 0x80 ? at + 1 : sequenceEnd(bytes, at);
}

/** One event as it is sent; `message` is the name that need not be said. */
export function sseText(event: string, data: string): string {
  const name = event === 'message' ? '' : `event: ${event}\n`;
  // JSON has no line ends of its own; other data may.
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data;
  return `${name}data: ${lines}\n\n`;
}
