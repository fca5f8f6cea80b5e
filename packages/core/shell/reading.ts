// What is found while a command line is read, and how much reading is left.
import { UNKNOWN } from './word.ts';

interface ShellWord {
  /** Everything that a shell may make of it; an `UNKNOWN` stands for what only the shell knows. */
  readonly texts: readonly string[];
  readonly kind: 'word' | 'redirection' | 'heredoc' | 'comment';
  /** It is said, not done: a comment, a commit message, what `echo` prints. */
  isProse: boolean;
}

interface ShellReading {
  readonly words: readonly ShellWord[];
  /** The words of each simple command, redirections left out, with those inside of `sh -c` and such. */
  readonly commands: readonly (readonly ShellWord[])[];
  /** Some part of it is known to the running shell alone. */
  readonly isDynamic: boolean;
  /** False when there was more than the limits allow. */
  readonly isWhole: boolean;
}

const WORDS_MAX = 250_000;
const VALUES_MAX = 16;
const VALUE_LENGTH_MAX = 8_192;
const VARIABLES_MAX = 256;

class Reading implements ShellReading {
  readonly words: ShellWord[] = [];
  readonly commands: (readonly ShellWord[])[] = [];
  isDynamic = false;
  isWhole = true;
  readonly #variables: Map<string, readonly string[]>;
  #charsLeft: number;

  constructor(charsMax: number, variables: ReadonlyMap<string, readonly string[]>) {
    this.#charsLeft = charsMax;
    this.#variables = new Map(variables);
  }

  get variables(): ReadonlyMap<string, readonly string[]> {
    return this.#variables;
  }

  /** Whether a text of this length may be read, too. */
  takes(length: number): boolean {
    this.#charsLeft -= length;
    if (this.#charsLeft >= 0 && this.words.length < WORDS_MAX) return true;
    this.isWhole = false;
    return false;
  }

  add(word: ShellWord): void {
    if (this.words.length < WORDS_MAX) this.words.push(word);
    else this.isWhole = false;
  }

  /** A variable keeps every value that it was given: which one holds later is not known. */
  assign(name: string, values: readonly string[], isAppended = false): void {
    const before = this.#variables.get(name) ?? [];
    const made = isAppended
      ? (before.length === 0 ? [''] : before).flatMap((start) => values.map((end) => start + end))
      : values;
    const all = [...new Set([...before, ...made])];
    const kept = all.filter(({ length }) => length <= VALUE_LENGTH_MAX).slice(0, VALUES_MAX);
    const isNew = before.length === 0;
    if (kept.length < all.length || (isNew && this.#variables.size >= VARIABLES_MAX)) {
      this.isDynamic = true;
      this.isWhole = false;
    }
    if (!isNew || this.#variables.size < VARIABLES_MAX) this.#variables.set(name, kept);
  }

  /** The values of a variable; one that nobody has set stays as its name, or is empty. */
  valuesOf(name: string): readonly string[] {
    const known = this.#variables.get(name);
    if (known !== undefined) return known;
    this.isDynamic = true;
    return [`$${name}`, ''];
  }

  unknown(): readonly string[] {
    this.isDynamic = true;
    return [UNKNOWN, ''];
  }
}

export type { ShellReading, ShellWord };
export { Reading };
