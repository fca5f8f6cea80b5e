// Calls as bytes, written once and only numbered anew: the driver must cost as little as it can.
// bench/stdio/echo-server.mjs knows their form.

const HEAD = '{"jsonrpc":"2.0","id":';
const CALL = ',"method":"tools/call","params":{"name":"create_note","arguments":{"n":"';
const TEXT = '","text":"';
const TAIL = '"}}}\n';
const RESULT = ',"result":{"content":[{"type":"text","text":"';
const RESULT_TAIL = '"}]}}\n';
const DIGITS = 8;
const NUMBER_FIRST = 10_000_000;
const NUMBER_LAST = 99_999_999;
const ID_AT = HEAD.length;
const N_AT = HEAD.length + DIGITS + CALL.length;
const OVERHEAD = N_AT + DIGITS + TEXT.length + TAIL.length;
const WORDS =
  'Commit first: a crash must not lose an allowed call. The plane says which call it was. ';

/** A call of exactly so many bytes, its newline included; no two have the same id or arguments. */
export class Requests {
  readonly messageBytes: number;
  readonly answerBytes: number;
  readonly #ring: Buffer;
  readonly #slots: number;
  #number = NUMBER_FIRST;

  /** `slots`: how many may be under way at once. */
  constructor(messageBytes: number, slots: number) {
    const text = textOf(messageBytes - OVERHEAD);
    const number = String(NUMBER_FIRST);
    const one = `${HEAD}${number}${CALL}${number}${TEXT}${text}${TAIL}`;
    this.messageBytes = one.length;
    this.answerBytes = `${HEAD}${number}${RESULT}${text}${RESULT_TAIL}`.length;
    this.#slots = slots;
    this.#ring = Buffer.from(one.repeat(slots), 'latin1');
  }

  /** The next call. */
  one(): Buffer {
    const [bytes] = this.next(1);
    if (bytes === undefined) throw new Error('one call is one piece');
    return bytes;
  }

  /** The next calls, in one or two pieces. */
  next(count: number): readonly Buffer[] {
    const first = this.#number % this.#slots;
    for (let at = 0; at < count; at++) this.#renumber();
    const upTo = first + count;
    if (upTo <= this.#slots) return [this.#slice(first, upTo)];
    return [this.#slice(first, this.#slots), this.#slice(0, upTo - this.#slots)];
  }

  #slice(from: number, to: number): Buffer {
    return this.#ring.subarray(from * this.messageBytes, to * this.messageBytes);
  }

  #renumber(): void {
    const number = this.#number++;
    if (number > NUMBER_LAST) throw new Error('the numbers of the calls are used up');
    const start = (number % this.#slots) * this.messageBytes;
    this.#put(start + ID_AT, number);
    this.#put(start + N_AT, number);
  }

  #put(at: number, number: number): void {
    let rest = number;
    for (let digit = at + DIGITS - 1; digit >= at; digit--) {
      this.#ring[digit] = 0x30 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
  }
}

/** Prose with an escape now and then, as arguments have. */
function textOf(length: number): string {
  if (length < 0) throw new Error(`a call takes at least ${OVERHEAD} bytes`);
  const line = `${WORDS}\\n`;
  const text = line.repeat(Math.floor(length / line.length));
  return text + 'x'.repeat(length - text.length);
}
