// How much may still be read and made while a command line is read.

const CHARS_MAX = 8_388_608;
const CHARS_SPARE = 32_768;
/** For each character of the line. */
const CHARS_EACH = 16;
/** What a text costs beside its characters: a short line may become some hundred texts. */
const TEXT_COST = 32;

/** Counted in characters: those that are read, and those of every text that is made of them. */
class Budget {
  #charsLeft: number;

  constructor(lineLength: number) {
    this.#charsLeft = Math.min(CHARS_MAX, lineLength * CHARS_EACH + CHARS_SPARE);
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

export { Budget };
