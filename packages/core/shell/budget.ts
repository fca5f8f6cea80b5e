// How much may still be read and made while a command line is read.

const CHARS_MAX = 8_388_608;
/** On top of it, so that a short line may become many texts. */
const CHARS_SPARE = 32_768;
/** For each character of the line. */
const CHARS_EACH = 16;
/** What a text costs beside its characters: a short line may become some hundred texts. */
const TEXT_COST = 32;

/** Counted in characters: those that are read, and those of every text that is made of them. */
export class Budget {
  #charsLeft: number;

  readonly #chars: number;

  constructor(lineLength: number, spare = CHARS_SPARE) {
    this.#chars = Math.min(CHARS_MAX, lineLength * CHARS_EACH + Math.min(spare, CHARS_SPARE));
    this.#charsLeft = this.#chars;
  }

  get spent(): number {
    return this.#chars - this.#charsLeft;
  }

  /** Once something was more than was left, nothing is read or made any more. */
  get isSpent(): boolean {
    return this.#charsLeft < 0;
  }

  takes(chars: number): boolean {
    if (this.#charsLeft >= 0) this.#charsLeft -= chars;
    return this.#charsLeft >= 0;
  }

  takesText(length: number): boolean {
    return this.takes(length + TEXT_COST);
  }
}
