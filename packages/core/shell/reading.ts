// What is found while a command line is read.
import type { Budget } from './budget.ts';
import { UNKNOWN } from './unit.ts';
import type { WordTexts } from './word.ts';

export interface ShellWord {
  /** Everything that a shell may make of it; an `UNKNOWN` stands for what only the shell knows. */
  readonly texts: readonly string[];
  readonly kind: 'word' | 'redirection' | 'heredoc' | 'comment';
  /** It is said, not done: a comment, a commit message, what `echo` prints. */
  isProse: boolean;
}

export interface ShellReading {
  readonly words: readonly ShellWord[];
  /** The words of each simple command, redirections left out, with those inside of `sh -c` and such. */
  readonly commands: readonly (readonly ShellWord[])[];
  /** Some part of it is known to the running shell alone. */
  readonly isDynamic: boolean;
  /** False when there was more than the limits allow. */
  readonly isWhole: boolean;
  /** How many characters were read and made. */
  readonly cost: number;
}

/** What is known of a line before it is read. */
export interface Known {
  readonly variables: ReadonlyMap<string, readonly string[]>;
  readonly isRedefined: boolean;
  /** It was not read before. */
  readonly isFirst: boolean;
}

const WORDS_MAX = 250_000;
const VALUES_MAX = 64;
const VALUE_LENGTH_MAX = 8_192;
const VARIABLES_MAX = 256;

export class Reading implements ShellReading {
  readonly words: ShellWord[] = [];
  readonly commands: (readonly ShellWord[])[] = [];
  readonly budget: Budget;
  isDynamic = false;
  /** The line makes something else of `echo`, `cat` or such: nothing in it is only said. */
  readonly isRedefined: boolean;
  readonly #isFirst: boolean;
  #redefines = false;
  #isAll = true;
  readonly #variables: Map<string, readonly string[]>;

  constructor(budget: Budget, { variables, isRedefined, isFirst }: Known) {
    this.budget = budget;
    this.#isFirst = isFirst;
    this.#variables = new Map(variables);
    this.isRedefined = isRedefined;
  }

  /** What is known of the line when it was read once. */
  get known(): Known {
    return { variables: this.#variables, isRedefined: this.#redefines, isFirst: false };
  }

  redefine(): void {
    this.#redefines = true;
  }

  get cost(): number {
    return this.budget.spent;
  }

  get isWhole(): boolean {
    return this.#isAll && !this.isOver;
  }

  /** The limits are reached: nothing more is read. */
  get isOver(): boolean {
    return this.budget.isSpent || this.words.length >= WORDS_MAX;
  }

  /** Something was left out. */
  leaveOut(): void {
    this.#isAll = false;
  }

  /** The texts of a word; it is noted where some are missing. */
  wholeTexts({ texts, isWhole }: WordTexts): readonly string[] {
    if (!isWhole) this.leaveOut();
    return texts;
  }

  add(word: ShellWord): void {
    if (this.words.length < WORDS_MAX) this.words.push(word);
  }

  /** A variable keeps every value that it was given: which one holds later is not known. */
  assign(name: string, values: readonly string[], isAppended = false): void {
    const before = this.#variables.get(name) ?? [];
    if (before.length === 0 && this.#variables.size >= VARIABLES_MAX) return this.#leaveOutValue();
    const kept = new Set(before);
    const starts = isAppended && before.length > 0 ? before : [''];
    for (const start of starts) {
      for (const end of values) {
        if (!this.#keep(kept, start, end)) break;
      }
    }
    this.#variables.set(name, [...kept]);
  }

  /** The variable may be anything besides what it was given. */
  lose(name: string): void {
    this.isDynamic = true;
    const isLost = this.#variables.get(name)?.includes(UNKNOWN) === true;
    if (!isLost) this.assign(name, ['', UNKNOWN]);
  }

  /** A script is read in: it may set each variable that there is. The first reading tells which. */
  loseAll(): void {
    this.isDynamic = true;
    if (this.#isFirst) for (const name of [...this.#variables.keys()]) this.lose(name);
  }

  /** False when no other value can be kept. */
  #keep(kept: Set<string>, start: string, end: string): boolean {
    const length = start.length + end.length;
    if (!this.budget.takesText(length)) return false;
    const value = start + end;
    if (kept.has(value)) return true;
    if (length <= VALUE_LENGTH_MAX && kept.size < VALUES_MAX) kept.add(value);
    else this.#leaveOutValue();
    return kept.size < VALUES_MAX || this.#isAll;
  }

  #leaveOutValue(): void {
    this.isDynamic = true;
    this.leaveOut();
  }

  /** Whether these are the values of a variable that nobody has set. */
  isUnset([name = '', empty, more]: readonly string[]): boolean {
    if (!name.startsWith('$') || empty !== '' || more !== undefined) return false;
    return !this.#variables.has(name.slice(1));
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
