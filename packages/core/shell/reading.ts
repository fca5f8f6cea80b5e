// The result of reading a command line, and the budget for reading it.
import type { ShellStep } from './steps.ts';
import { SPLIT, UNKNOWN, type WordTexts } from './word-texts.ts';

export interface ShellWord {
  /** Everything that a shell may make of it; `UNKNOWN` stands for what only the shell knows. */
  readonly texts: readonly string[];
  readonly kind: 'word' | 'redirection' | 'heredoc' | 'comment';
  /** No program acts on it: a comment, a commit message, what `echo` prints. */
  isProse: boolean;
  /** With steps: the words that it may become; several ways where a variable has several values. */
  readonly ways?: readonly (readonly string[])[];
  /** With steps: no part of it is quoted or comes from a value. */
  readonly isBare?: boolean;
  /** With steps: it sets this variable. */
  readonly assigns?: string | undefined;
}

export interface ShellReading {
  readonly words: readonly ShellWord[];
  /** The words of each simple command without redirections; those inside of `sh -c` are included. */
  readonly commands: readonly (readonly ShellWord[])[];
  /** Some part of it is known to the running shell alone. */
  readonly isDynamic: boolean;
  /** False when there was more than the limits allow. */
  readonly isWhole: boolean;
  /** How many characters were read and made. */
  readonly cost: number;
}

const CHARS_MAX = 8_388_608;
/** Added to the budget of each line, so that a short line may become many texts. */
const CHARS_SPARE = 32_768;
/** For each character of the line. */
const CHARS_EACH = 16;
/** What a text costs beside its characters: a short line may become some hundred texts. */
const TEXT_COST = 32;

/** Counts the characters that are read, and those of every text that is made of them. */
export class Budget {
  readonly #chars: number;
  #charsLeft: number;

  constructor(lineLength: number, spare = CHARS_SPARE) {
    this.#chars = Math.min(CHARS_MAX, lineLength * CHARS_EACH + Math.min(spare, CHARS_SPARE));
    this.#charsLeft = this.#chars;
  }

  get spent(): number {
    return this.#chars - this.#charsLeft;
  }

  /** Once something costs more than is left, nothing is read or made any more. */
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

/** What is known of a line before it is read. */
export interface KnownOfLine {
  readonly variables: ReadonlyMap<string, readonly string[]>;
  readonly isRedefined: boolean;
  readonly isFirstReading: boolean;
  /** Where the steps of the script are put, if anyone wants to know them. */
  readonly steps?: ShellStep[] | undefined;
  /** Variables that are set where the line starts. */
  readonly certain?: ReadonlySet<string> | undefined;
}

const WORDS_MAX = 250_000;
const VALUES_MAX = 64;
const VALUE_LENGTH_MAX = 8_192;
const VARIABLES_MAX = 256;
/** With steps: a variable of more values counts as unknown. */
const KNOWN_VALUES_MAX = 16;

export class Reading implements ShellReading {
  readonly words: ShellWord[] = [];
  readonly commands: (readonly ShellWord[])[] = [];
  readonly budget: Budget;
  readonly steps: ShellStep[] | undefined;
  isDynamic = false;
  /** A quote or a bracket is not closed. */
  isBroken = false;
  /** The line redefines `echo`, `cat` or such: none of its words is prose. */
  readonly isRedefined: boolean;
  readonly #isFirstReading: boolean;
  readonly #variables: Map<string, readonly string[]>;
  /** With steps: the variables that are set wherever the reader is; others may have any value. */
  certain: ReadonlySet<string>;
  #redefines = false;
  #isAll = true;

  constructor(budget: Budget, known: KnownOfLine) {
    this.budget = budget;
    this.steps = known.steps;
    this.isRedefined = known.isRedefined;
    this.#isFirstReading = known.isFirstReading;
    this.#variables = new Map(known.variables);
    this.certain = known.certain ?? new Set();
  }

  /** What is known of the line after it was read once. */
  get known(): KnownOfLine {
    return { variables: this.#variables, isRedefined: this.#redefines, isFirstReading: false };
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

  /** Notes that something was left out. */
  leaveOut(): void {
    this.#isAll = false;
  }

  /** The texts of a word; notes where some are missing. */
  wholeTexts({ texts, isWhole }: WordTexts): readonly string[] {
    if (isWhole) return texts;
    if (this.steps !== undefined && !this.isOver) return this.unknown();
    this.leaveOut();
    return texts;
  }

  add(word: ShellWord): void {
    if (this.words.length < WORDS_MAX) this.words.push(word);
  }

  /** A variable keeps every value that it is given: which one it has later is not known. */
  assign(name: string, values: readonly string[], isAppended = false): void {
    const before = this.#variables.get(name) ?? [];
    if (before.length === 0 && this.#variables.size >= VARIABLES_MAX) return this.#leaveOutValue();
    const kept = new Set(before);
    for (const start of isAppended && before.length > 0 ? before : ['']) {
      for (const end of values) {
        const length = start.length + end.length;
        if (!this.budget.takesText(length)) break;
        if (length > VALUE_LENGTH_MAX && this.steps !== undefined) kept.add(UNKNOWN);
        else if (length > VALUE_LENGTH_MAX) this.#leaveOutValue();
        else if (kept.size < VALUES_MAX) kept.add(start + end);
        else if (!kept.has(start + end)) this.#leaveOutValue();
      }
    }
    const isKnown = this.steps === undefined || kept.size <= KNOWN_VALUES_MAX;
    this.#variables.set(name, isKnown ? [...kept] : [UNKNOWN]);
  }

  #leaveOutValue(): void {
    this.isDynamic = true;
    this.leaveOut();
  }

  /** The variable may have any value besides those that it was given. */
  lose(name: string): void {
    this.isDynamic = true;
    const isLost = this.#variables.get(name)?.includes(UNKNOWN) === true;
    if (!isLost) this.assign(name, this.steps === undefined ? ['', UNKNOWN] : [UNKNOWN]);
  }

  /** A script is sourced and may set any variable. The first reading tells which there are. */
  loseAll(): void {
    this.isDynamic = true;
    if (this.#isFirstReading) {
      const names = [...this.#variables.keys()].filter((name) => name !== 'IFS');
      for (const name of names) this.lose(name);
    }
  }

  /** Whether these are the values of a variable that the line does not set. */
  isUnset([name = '', empty, more]: readonly string[]): boolean {
    if (!name.startsWith('$') || empty !== '' || more !== undefined) return false;
    return !this.#variables.has(name.slice(1));
  }

  /** The values of a variable; one that the line does not set stays as its name, or is empty. */
  valuesOf(name: string): readonly string[] {
    const known = this.#variables.get(name);
    if (known !== undefined && this.#isCertain(name)) return known;
    // It may not be set yet, or be set where the line starts.
    if (known !== undefined) return [...new Set([...known, '', UNKNOWN])];
    this.isDynamic = true;
    return this.steps === undefined ? [`$${name}`, ''] : [UNKNOWN];
  }

  /** With steps: one more list that a variable may hold, `"${name[@]}"`. */
  assignList(name: string, items: readonly string[], isAppended = false): void {
    const list = items.join(SPLIT);
    this.assign(`${name}[@]`, [isAppended ? SPLIT + list : list], isAppended);
  }

  #isCertain(name: string): boolean {
    return this.steps === undefined || /^[\d@*]/.test(name) || this.certain.has(name);
  }

  /** With steps: variables that are set from here on, or no more. */
  setCertain(names: readonly string[], isSet: boolean): void {
    const certain = new Set(this.certain);
    for (const name of names) {
      if (isSet) certain.add(name);
      else certain.delete(name);
    }
    this.certain = certain;
  }

  /** The lists that a variable may hold, each as one text. */
  listsOf(name: string): readonly string[] {
    return this.#variables.get(`${name}[@]`) ?? this.valuesOf(name);
  }

  unknown(): readonly string[] {
    this.isDynamic = true;
    return this.steps === undefined ? [UNKNOWN, ''] : [UNKNOWN];
  }
}
