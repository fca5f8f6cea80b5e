// Gathers the short texts of a message that is too long to hold, for a gate that judges it at its end. Of a
// long text, only its key is kept, and whether it may be a command.
import { decodeUtf8 } from '../../json/text.ts';

const TEXT_BYTES_MAX = 4_096;
const TEXTS_MAX = 20_000;
const BYTES_MAX = 4_194_304;
/**
 * Of these at least one stands in every command that does something to a file, or in a path that is
 * longer than it need be: ` $.;<>\\{`. A quote comes with a backslash.
 */
const COMMAND_SIGNS = [0x20, 0x24, 0x2e, 0x3b, 0x3c, 0x3e, 0x5c, 0x7b];

/** The texts in the params of a large message, in their order. */
export interface GatheredTexts {
  readonly texts: readonly {
    /** The key that the text stands behind; empty when there is none. */
    readonly key: string;
    /** Undefined when it is too long. */
    readonly text: string | undefined;
    /** Of a text that is too long: it has blanks or signs in it, so it may be a command. */
    readonly mayBeCommand?: boolean;
  }[];
  /** False when there were more than the limits allow. */
  readonly isWhole: boolean;
}

interface GatheredText {
  key: string;
  text: string | undefined;
  mayBeCommand?: boolean;
}

export class TextGatherer {
  readonly #texts: GatheredText[] = [];
  readonly #buffer = new Uint8Array(TEXT_BYTES_MAX);
  #length = 0;
  #mayBeCommand = false;
  #key = '';
  /** The keys that hold again behind the objects and lists that are open. */
  readonly #outerKeys: string[] = [];
  #bytesLeft = BYTES_MAX;
  #isWhole = true;

  /** An object or a list begins; the items of a list stand behind the key of the list. */
  enter(): void {
    this.#outerKeys.push(this.#key);
  }

  /** It is over. */
  leave(): void {
    this.#key = this.#outerKeys.pop() ?? '';
  }

  /** A string begins. */
  open(): void {
    this.#length = 0;
    this.#mayBeCommand = false;
  }

  /** Its next bytes, as they are written between the quotes. */
  add(bytes: Uint8Array, start: number, end: number): void {
    if (end <= start) return;
    const part = bytes.subarray(start, end);
    if (this.#length + part.length <= TEXT_BYTES_MAX) this.#buffer.set(part, this.#length);
    const wasShort = this.#length <= TEXT_BYTES_MAX;
    this.#length += part.length;
    if (this.#length <= TEXT_BYTES_MAX || this.#mayBeCommand) return;
    // The bytes before the text became too long have not been searched yet.
    const before = wasShort ? this.#buffer.subarray(0, this.#length - part.length) : NOTHING;
    this.#mayBeCommand = COMMAND_SIGNS.some((sign) => part.includes(sign) || before.includes(sign));
  }

  /** The string is over; the value after a key stands behind it. */
  close(isKey: boolean): void {
    const isShort = this.#length <= TEXT_BYTES_MAX;
    this.#bytesLeft -= isShort ? this.#length : 0;
    if (this.#texts.length >= TEXTS_MAX || this.#bytesLeft < 0) {
      this.#isWhole = false;
      return;
    }
    const text = isShort ? this.#decoded() : undefined;
    const found: GatheredText = { key: this.#key, text };
    if (text === undefined) found.mayBeCommand = this.#mayBeCommand;
    this.#texts.push(found);
    if (!isKey) return;
    this.#key = text ?? '';
    // The name of a file may be a key.
    found.key = 'file';
  }

  /** The next value stands behind this key. */
  under(key: string): void {
    this.#key = key;
  }

  texts(): GatheredTexts {
    return { texts: this.#texts, isWhole: this.#isWhole };
  }

  #decoded(): string | undefined {
    const decoded = decodeUtf8(this.#buffer.subarray(0, this.#length));
    if (!decoded.ok) {
      this.#isWhole = false;
      return '';
    }
    try {
      const value: unknown = JSON.parse(`"${decoded.text}"`);
      return typeof value === 'string' ? value : '';
    } catch {
      this.#isWhole = false;
      return '';
    }
  }
}

const NOTHING = new Uint8Array(0);
