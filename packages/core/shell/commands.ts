// Collects simple commands: pipelines, loops, and the words that are only prose.
import { HISTORIES, isMessageOption, variablesSetBy } from './builtins.ts';
import type { Reading, ShellWord } from './reading.ts';
import { UNKNOWN } from './word-texts.ts';

const PRINTERS: ReadonlySet<string> = new Set(['echo', 'printf']);
const COPIERS: ReadonlySet<string> = new Set(['cat', 'tee']);
const OPENERS: ReadonlySet<string> = new Set(['{', '(', 'do', 'then', 'else', 'coproc']);
const CLOSERS: ReadonlySet<string> = new Set(['}', ')', 'done', 'fi', 'esac']);

/** Builtins after which a plain name may be another program. */
const REDEFINERS: ReadonlySet<string> = new Set(['alias', 'enable', 'hash']);

const NONE: readonly ShellWord[] = [];

export interface SimpleCommand {
  readonly words: ShellWord[];
  /** Those of its words that may be command lines themselves. */
  readonly lines: ShellWord[];
  /** The program that it runs, as it is written. */
  name: string;
  /** It has a process substitution: what it prints may be run. */
  isFed: boolean;
  isRedirected: boolean;
}

export interface Heredoc {
  readonly end: string;
  readonly isIndented: boolean;
  /** The command that reads it. */
  readonly command: SimpleCommand;
}

export class Commands {
  readonly #reading: Reading;
  /** Inside of `$(…)`: what is printed here becomes a part of a command. */
  readonly #isUsed: boolean;
  /** The commands that stand here, without those inside of their words. */
  readonly #own: (readonly ShellWord[])[] = [];
  #current: SimpleCommand = newCommand();
  #pipeline: SimpleCommand[] = [];
  #groups = 0;
  #isPipeOpen = false;

  constructor(reading: Reading, isUsed: boolean) {
    this.#reading = reading;
    this.#isUsed = isUsed;
  }

  get current(): SimpleCommand {
    return this.#current;
  }

  /** The command copies its input and does nothing else with it, as far as this line goes. */
  isCopy(command: SimpleCommand): boolean {
    const isAlone = this.#pipeline.length === 0 && !this.#isPipeOpen && this.#groups === 0;
    if (command !== this.#current || !isAlone || this.#isUsed || command.isFed) return false;
    return COPIERS.has(command.name) && !this.#reading.isRedefined;
  }

  /** The next word is the message of a commit, or the text of an issue. */
  get isMessageNext(): boolean {
    const { name, words } = this.#current;
    return HISTORIES.has(name) && !this.#reading.isRedefined && isMessageOption(words);
  }

  add(word: ShellWord, mayBeLine = false): void {
    this.#reading.add(word);
    if (word.kind === 'redirection') this.#current.isRedirected = true;
    if (word.kind !== 'word') return;
    if (this.#current.words.length === 0) {
      const [text = ''] = word.texts;
      if (OPENERS.has(text)) return this.group(1);
      if (CLOSERS.has(text)) return this.group(-1);
      this.#current.name = text;
    }
    this.#current.words.push(word);
    if (mayBeLine) this.#current.lines.push(word);
  }

  /** `echo() { … }`: from here on this name may run anything. */
  defineFunction(): void {
    const { words } = this.#current;
    const [name, more] = words[0]?.texts[0] === 'function' ? words.slice(1) : words;
    if (more === undefined && (name?.texts ?? []).some(mayPrint)) this.#reading.redefine();
  }

  group(by: 1 | -1): void {
    this.#groups = Math.max(0, this.#groups + by);
  }

  /** Ends a simple command. At the end of a pipeline, gives its words that may be command lines. */
  end(how: 'pipe' | 'list' | 'newline'): readonly ShellWord[] {
    const { words } = this.#current;
    if (words.length > 0) {
      this.#pipeline.push(this.#current);
      this.#reading.commands.push(words);
      this.#own.push(words);
      this.#noteVariables(words);
      if (mayRedefine(this.#current)) this.#reading.redefine();
    }
    this.#current = newCommand();
    if (how === 'pipe') {
      this.#isPipeOpen = true;
      return NONE;
    }
    // A pipeline goes on behind a pipe sign at the end of a line.
    if (how === 'newline' && this.#isPipeOpen && words.length === 0) return NONE;
    return this.#endPipeline();
  }

  /** Marks the words of a lone `echo` as prose. */
  #endPipeline(): readonly ShellWord[] {
    const pipeline = this.#pipeline;
    const [first] = pipeline;
    const isAlone = pipeline.length === 1 && this.#groups === 0 && !this.#isPipeOpen;
    this.#isPipeOpen = false;
    if (first === undefined) return NONE;
    const isPrinted = isAlone && !this.#isUsed && !first.isFed && PRINTERS.has(first.name);
    if (isPrinted && !this.#reading.isRedefined) {
      for (const word of first.words) word.isProse = true;
    }
    this.#pipeline = [];
    return pipeline.length === 1 ? first.lines : pipeline.flatMap(({ lines }) => lines);
  }

  /** The line that `eval` makes of its words. */
  evaluated(): string | undefined {
    const [name, ...texts] = firstTexts(this.#current.words);
    return name === 'eval' && texts.length > 1 ? texts.join(' ') : undefined;
  }

  /** What all of it prints, where that is known: it is one `echo`. */
  printed(): string | undefined {
    const [only = NONE, more] = this.#own;
    const [name = '', ...texts] = firstTexts(only);
    if (more !== undefined || this.#reading.isRedefined || !PRINTERS.has(name)) return undefined;
    const isPlain = only.slice(1).every((word) => word.texts.length === 1);
    return isPlain && !texts.some((text) => /[%\\]|^-/.test(text)) ? texts.join(' ') : undefined;
  }

  #noteVariables(words: readonly ShellWord[]): void {
    const [loop, name = '', preposition] = firstTexts(words.slice(0, 3));
    // `for x in a b`: the variable is each of them.
    if ((loop === 'for' || loop === 'select') && preposition === 'in') {
      const items = words.slice(3).flatMap(({ texts }) => texts);
      this.#reading.assign(name, items);
    }
    const names = variablesSetBy(words);
    if (names === 'all') this.#reading.loseAll();
    else for (const lost of names) this.#reading.lose(lost);
  }
}

function firstTexts(words: readonly ShellWord[]): readonly string[] {
  return words.map(({ texts: [text = ''] }) => text);
}

/** Whether the names of later commands may run something else, or what they print may be run. */
function mayRedefine({ words, isRedirected }: SimpleCommand): boolean {
  const texts = firstTexts(words);
  const [name = '', second = ''] =
    texts[0] === 'builtin' || texts[0] === 'command' ? texts.slice(1) : texts;
  if (name === 'exec') return isRedirected;
  if (name === 'function') return mayPrint(second);
  if (name === 'trap') return texts.includes('DEBUG');
  return REDEFINERS.has(name);
}

/** A program whose words may be prose, or one that only the running shell knows. */
function mayPrint(name: string): boolean {
  const isKnown = PRINTERS.has(name) || COPIERS.has(name) || HISTORIES.has(name);
  return isKnown || name.includes('$') || name.includes(UNKNOWN);
}

function newCommand(): SimpleCommand {
  return { words: [], lines: [], name: '', isFed: false, isRedirected: false };
}
