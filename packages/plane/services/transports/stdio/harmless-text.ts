// What a server writes to its stderr is hostile text that ends on a terminal, now or when somebody
// looks at a log. Nothing in it may move the cursor, set a title, fill a clipboard, hide what
// follows or give an order to a build server.
import { harmless } from '@subluminal/core/visible';

/** Nothing to do: the usual case. */
const PLAIN = /^[\x20-\x7e\t\n]*$/;
/** Colours are taken out; they are the one thing that well-meaning servers send. */
// oxlint-disable-next-line no-control-regex -- That is what is looked for.
const COLOR = /\u001b\[[0-9;:]{0,64}m/g;
/** Stays as it is: a tab, and what makes a symbol an emoji or not. */
const KEPT = /(\t|\uFE0E|\uFE0F)/;
/** The beginning of an order to a build server; its rest may come with the next bytes. */
const BEGUN_ORDER = /#(?=#\w*$)|#$|(?<=^|\s):$/g;
const HELD_LENGTH_MAX = 8_192;

/** Bytes of any cut in, harmless text out, line by line. */
export class HarmlessText {
  // Whatever is no UTF-8 becomes U+FFFD: some terminals take single bytes for orders.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** A line without its end. */
  #held = '';

  get isHolding(): boolean {
    return this.#held !== '';
  }

  /** The lines that are whole by now; a line that does not end comes in parts. */
  push(chunk: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('\n') + 1;
    this.#held = text.slice(end);
    const whole = shown(text.slice(0, end));
    return this.#held.length > HELD_LENGTH_MAX ? whole + this.flush() : whole;
  }

  /** What is held, without waiting for the rest of its line. */
  flush(): string {
    const text = shown(this.#held);
    this.#held = '';
    return text.replace(BEGUN_ORDER, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
  }

  /** There is nothing more to come. */
  end(): string {
    this.#held += this.#decoder.decode();
    return this.flush();
  }
}

function shown(text: string): string {
  if (PLAIN.test(text) && !text.includes('::') && !text.includes('##')) return text;
  // A bare carriage return would have the line written over.
  const lines = text.replaceAll(/\r\n?/g, '\n').replace(COLOR, '').split('\n');
  return lines.map(shownLine).join('\n');
}

function shownLine(line: string): string {
  const parts = line.split(KEPT);
  return parts.map((part, index) => (index % 2 === 1 ? part : harmless(part))).join('');
}
