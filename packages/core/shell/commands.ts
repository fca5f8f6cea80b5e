// Simple commands as they come together: pipelines, loops, and what is only said.
import type { Reading, ShellWord } from './reading.ts';

const PRINTERS: ReadonlySet<string> = new Set(['echo', 'printf']);
const COPIERS: ReadonlySet<string> = new Set(['cat', 'tee']);
const HISTORIES: ReadonlySet<string> = new Set(['git', 'gh', 'glab', 'hg', 'jj', 'svn']);
const MESSAGE_OPTION = /^(?:-[a-z]{0,3}m|-b|-t|--(?:message|body|title|notes))$/;
const OPENERS: ReadonlySet<string> = new Set(['{', '(', 'do', 'then', 'else', 'coproc']);
const CLOSERS: ReadonlySet<string> = new Set(['}', ')', 'done', 'fi', 'esac']);

interface Command {
  readonly words: ShellWord[];
  /** Those of its words that may be command lines themselves. */
  readonly lines: ShellWord[];
  /** The program that it runs, without the folders before it. */
  name: string | undefined;
  /** It has a process substitution: what it prints may be run. */
  isFed: boolean;
}

class Commands {
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
    return COPIERS.has(command.name ?? '');
  }

  /** The next word is the message of a commit, or the text of an issue. */
  get isMessageNext(): boolean {
    const { name, words } = this.#current;
    if (name === undefined || !HISTORIES.has(name)) return false;
    return MESSAGE_OPTION.test(words.at(-1)?.texts[0] ?? '');
  }

  add(word: ShellWord, mayBeLine = false): void {
    this.#reading.add(word);
    if (word.kind !== 'word') return;
    const [text = ''] = word.texts;
    const isFirst = this.#current.words.length === 0;
    if (isFirst && OPENERS.has(text)) this.#groups++;
    else if (isFirst && CLOSERS.has(text)) this.#groups = Math.max(0, this.#groups - 1);
    else {
      this.#current.name ??= text.slice(text.lastIndexOf('/') + 1);
      this.#current.words.push(word);
      if (mayBeLine) this.#current.lines.push(word);
    }
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
    }
    this.#current = newCommand();
    if (how === 'pipe') {
      this.#isPipeOpen = true;
      return [];
    }
    // Behind a pipe sign the line goes on.
    if (how === 'newline' && this.#isPipeOpen && words.length === 0) return [];
    return this.#endPipeline();
  }

  /** What is only said in a whole pipeline is marked. */
  #endPipeline(): readonly ShellWord[] {
    const [first, ...rest] = this.#pipeline;
    const isAlone = rest.length === 0 && this.#groups === 0 && !this.#isPipeOpen;
    const isSaid = isAlone && !this.#isUsed && first?.isFed === false;
    if (isSaid && PRINTERS.has(first.name ?? '')) {
      for (const word of first.words) word.isProse = true;
    }
    const lines = this.#pipeline.flatMap((command) => command.lines);
    this.#pipeline = [];
    this.#isPipeOpen = false;
    return lines;
  }

  /** `for x in a b`: the variable is each of them. */
  #noteLoop(words: readonly ShellWord[]): void {
    const [loop, name, joint, ...items] = words.map(({ texts }) => texts);
    if (!/^(?:for|select)$/.test(loop?.[0] ?? '') || joint?.[0] !== 'in') return;
    this.#reading.assign(name?.[0] ?? '', items.flat());
  }
}

function newCommand(): Command {
  return { words: [], lines: [], name: undefined, isFed: false };
}

export type { Command };
export { Commands };
