// Simple commands as they come together: pipelines, loops, and what is only said.
import { HISTORIES, isMessageOption } from './messages.ts';
import type { Reading, ShellWord } from './reading.ts';
import { variablesSetBy } from './setters.ts';
import { UNKNOWN } from './unit.ts';

const PRINTERS: ReadonlySet<string> = new Set(['echo', 'printf']);
const COPIERS: ReadonlySet<string> = new Set(['cat', 'tee']);
const OPENERS: ReadonlySet<string> = new Set(['{', '(', 'do', 'then', 'else', 'coproc']);
const CLOSERS: ReadonlySet<string> = new Set(['}', ')', 'done', 'fi', 'esac']);

/** Builtins after which a plain name may be another program. */
const REDEFINERS: ReadonlySet<string> = new Set(['alias', 'enable', 'hash']);

const NONE: readonly ShellWord[] = [];

export interface Command {
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
  /** Who reads it. */
  readonly command: Command;
}

export class Commands {
  readonly #reading: Reading;
  /** What is printed here is used: inside of `$(…)`. */
  readonly #isUsed: boolean;
  /** The commands that stand here, without those inside of their words. */
  readonly own: (readonly ShellWord[])[] = [];
  #current: Command = newCommand();
  #pipeline: Command[] = [];
  #groups = 0;
  #isPipeOpen = false;

  constructor(reading: Reading, isUsed: boolean) {
    this.#reading = reading;
    this.#isUsed = isUsed;
  }

  get words(): readonly ShellWord[] {
    return this.#current.words;
  }

  get current(): Command {
    return this.#current;
  }

  /** The command copies its input and does nothing else with it, as far as this line goes. */
  isCopy(command: Command): boolean {
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
    if (this.#current.words.length === 0 && !this.#begin(word.texts[0] ?? '')) return;
    this.#current.words.push(word);
    if (mayBeLine) this.#current.lines.push(word);
  }

  /** False when the first word of a command only opens or closes a group of commands. */
  #begin(text: string): boolean {
    if (OPENERS.has(text)) this.group(1);
    else if (CLOSERS.has(text)) this.group(-1);
    else {
      this.#current.name = text;
      return true;
    }
    return false;
  }

  /** `echo() { … }`: from here on its name may be anything. */
  defineFunction(): void {
    const { words } = this.#current;
    const [name, more] = words[0]?.texts[0] === 'function' ? words.slice(1) : words;
    if (more === undefined && (name?.texts ?? []).some(mayBeSayer)) this.#reading.redefine();
  }

  feed(): void {
    this.#current.isFed = true;
  }

  group(by: 1 | -1): void {
    this.#groups = Math.max(0, this.#groups + by);
  }

  /** A simple command is over. Gives what may be a command line itself, when a pipeline is over. */
  end(how: 'pipe' | 'list' | 'newline'): readonly ShellWord[] {
    const { words } = this.#current;
    if (words.length > 0) {
      this.#pipeline.push(this.#current);
      this.#reading.commands.push(words);
      this.own.push(words);
      this.#noteLoop(words);
      this.#noteSetters(words);
      if (mayRedefine(this.#current)) this.#reading.redefine();
    }
    this.#current = newCommand();
    if (how === 'pipe') {
      this.#isPipeOpen = true;
      return NONE;
    }
    // Behind a pipe sign the line goes on.
    if (how === 'newline' && this.#isPipeOpen && words.length === 0) return NONE;
    return this.#endPipeline();
  }

  /** What is only said in a whole pipeline is marked. */
  #endPipeline(): readonly ShellWord[] {
    const pipeline = this.#pipeline;
    const [first] = pipeline;
    const isAlone = pipeline.length === 1 && this.#groups === 0 && !this.#isPipeOpen;
    this.#isPipeOpen = false;
    if (first === undefined) return NONE;
    const isSaid = isAlone && !this.#isUsed && !first.isFed && PRINTERS.has(first.name);
    if (isSaid && !this.#reading.isRedefined) {
      for (const word of first.words) word.isProse = true;
    }
    this.#pipeline = [];
    return pipeline.length === 1 ? first.lines : pipeline.flatMap(({ lines }) => lines);
  }

  /** The line that `eval` makes of its words. */
  evaluated(): string | undefined {
    const { words } = this.#current;
    if (words[0]?.texts[0] !== 'eval' || words.length < 3) return undefined;
    const line = words.slice(1).map(({ texts }) => texts[0] ?? '');
    return line.join(' ');
  }

  /** What all of it prints, where that is known: it is one `echo`. */
  printed(): string | undefined {
    const [only, more] = this.own;
    const [name, ...words] = only ?? [];
    if (more !== undefined || this.#reading.isRedefined) return undefined;
    if (!PRINTERS.has(name?.texts[0] ?? '')) return undefined;
    const isPlain = words.every(({ texts }) => {
      return texts.length === 1 && !/[%\\]|^-/.test(texts[0] ?? '');
    });
    return isPlain ? words.map(({ texts }) => texts[0] ?? '').join(' ') : undefined;
  }

  /** `read x`: what it is then, only the shell knows. */
  #noteSetters(words: readonly ShellWord[]): void {
    const names = variablesSetBy(words);
    if (names === 'all') this.#reading.loseAll();
    else for (const name of names) this.#reading.lose(name);
  }

  /** `for x in a b`: the variable is each of them. */
  #noteLoop(words: readonly ShellWord[]): void {
    const loop = words[0]?.texts[0];
    if ((loop !== 'for' && loop !== 'select') || words[2]?.texts[0] !== 'in') return;
    const items = words.slice(3).flatMap(({ texts }) => texts);
    this.#reading.assign(words[1]?.texts[0] ?? '', items);
  }
}

/** Whether later commands may not be what their names say, or print to a shell. */
function mayRedefine({ words, isRedirected }: Command): boolean {
  const texts = words.map((word) => word.texts[0] ?? '');
  const [name = '', second = ''] =
    texts[0] === 'builtin' || texts[0] === 'command' ? texts.slice(1) : texts;
  if (name === 'exec') return isRedirected;
  if (name === 'function') return mayBeSayer(second);
  if (name === 'trap') return texts.includes('DEBUG');
  return REDEFINERS.has(name);
}

/** A program whose words are only said, or one that nobody knows. */
function mayBeSayer(name: string): boolean {
  const isKnown = PRINTERS.has(name) || COPIERS.has(name) || HISTORIES.has(name);
  return isKnown || name.includes('$') || name.includes(UNKNOWN);
}

function newCommand(): Command {
  return { words: [], lines: [], name: '', isFed: false, isRedirected: false };
}
