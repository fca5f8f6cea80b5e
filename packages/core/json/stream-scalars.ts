// The inside of a JSON string that arrives in parts. Control characters, escapes and UTF-8 are checked, also
// where a part ends in the middle of them.
import { isHex, type JsonReason } from './byte-scanner.ts';
import { BEYOND_ASCII, oddByteAt } from './plain-bytes.ts';
import { restLength, secondMax, secondMin } from './text.ts';
import { BACKSLASH, CARRIAGE_RETURN, ESCAPES, LOWER_U, QUOTE, SPACE } from './units.ts';

const HEX_DIGITS = 4;

export class StringStream {
  /** The first fault in the bytes read last. */
  fault: JsonReason | undefined;
  /** The string has ended; the byte read last was its quote. */
  ended = false;
  /** After a backslash. */
  private escaping = false;
  private hexLeft = 0;
  /** How many continuation bytes must come, and the range of the next one. */
  private restLeft = 0;
  private restMin = 0x80;
  private restMax = 0xbf;

  /** Behind the opening quote. */
  begin(): void {
    this.ended = false;
    this.escaping = false;
    this.hexLeft = 0;
    this.restLeft = 0;
  }

  /** Reads to the end of the string or of the bytes, and returns that place. */
  read(bytes: Uint8Array, view: DataView, from: number): number {
    const { length } = bytes;
    let at = from;
    /** The next quote and the next backslash, as far as they are looked for. */
    let quote = -1;
    let slash = -1;
    // Imports of another script of the bundle are looked up at each use.
    const oddAt = oddByteAt;
    const more = BEYOND_ASCII;
    this.fault = undefined;
    while (at < length) {
      if (this.isBetween) {
        if (quote < at) quote = placeOf(bytes, QUOTE, at);
        if (slash < at) slash = placeOf(bytes, BACKSLASH, at);
        at = oddAt(view, { from: at, until: Math.min(quote, slash) }, more);
        if (at >= length) break;
        // Nearly every escape is of one letter, which is here already.
        if (at === slash && isLetterEscape(bytes[at + 1])) {
          at += 2;
          continue;
        }
      }
      this.take(bytes[at++] ?? 0);
      if (this.ended) break;
    }
    return at;
  }

  /** Neither an escape nor a character is half read. */
  private get isBetween(): boolean {
    return !this.escaping && this.hexLeft === 0 && this.restLeft === 0;
  }

  private take(byte: number): void {
    if (this.restLeft > 0) this.takeRest(byte);
    else if (this.hexLeft > 0) this.takeHex(byte);
    else if (this.escaping) this.takeEscape(byte);
    else if (byte === QUOTE) this.ended = true;
    else if (byte === BACKSLASH) this.escaping = true;
    else if (byte < SPACE) this.complain(byte === CARRIAGE_RETURN ? 'smuggled' : 'json');
    else if (byte >= 0x80) this.beginCharacter(byte);
  }

  private takeEscape(byte: number): void {
    this.escaping = false;
    if (byte === LOWER_U) this.hexLeft = HEX_DIGITS;
    else if (ESCAPES[byte] === 0) this.complain('json');
  }

  private takeHex(byte: number): void {
    this.hexLeft--;
    if (isHex(byte)) return;
    this.hexLeft = 0;
    this.complain('json');
    // It may be the quote that ends the string.
    this.take(byte);
  }

  private beginCharacter(lead: number): void {
    this.restLeft = restLength(lead);
    if (this.restLeft === 0) return this.complain('utf8');
    this.restMin = secondMin(lead);
    this.restMax = secondMax(lead);
  }

  private takeRest(byte: number): void {
    const isRest = byte >= this.restMin && byte <= this.restMax;
    this.restLeft--;
    this.restMin = 0x80;
    this.restMax = 0xbf;
    if (isRest) return;
    this.restLeft = 0;
    this.complain('utf8');
    this.take(byte);
  }

  private complain(reason: JsonReason): void {
    this.fault ??= reason;
  }
}

/** Whether a byte behind a backslash makes an escape with it; false where no byte is there yet. */
function isLetterEscape(byte: number | undefined): boolean {
  return byte !== undefined && byte !== LOWER_U && ESCAPES[byte] !== 0;
}

/** The end of the bytes where it is not among them. */
function placeOf(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}
