// Collects simple commands: pipelines, loops, and the words that are only prose.
import { HISTORIES, isMessageOption, variablesSetBy } from './builtins.ts';
import { printedName } from './printed-names.ts';
import type { Reading, ShellWord } from './reading.ts';
import { ScriptLog } from './script-log.ts';
import type { BlockKind, CommandSign, Redirection } from './steps.ts';
import { SPLIT, UNKNOWN } from './word-texts.ts';

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
  readonly redirections: Redirection[];
  readonly heredocs: string[];
  isHeader: boolean;
}

export interface Heredoc {
  readonly end: string;
  readonly isIndented: boolean;
  /** Its end is quoted, so that a shell expands nothing in it. */
  readonly isLiteral: boolean;
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
  readonly #script: ScriptLog | undefined;

  constructor(reading: Reading, isUsed: boolean) {
    this.#reading = reading;
    this.#isUsed = isUsed;
    this.#script = reading.steps === undefined ? undefined : new ScriptLog(reading);
  }

  /** In a `case`, where a pattern is next. */
  get isInPattern(): boolean {
    return this.#script?.isInPattern === true;
  }

  get isInCase(): boolean {
    return this.#script?.isInCase === true;
  }

  get isInTest(): boolean {
    return this.#script?.isInTest === true;
  }

  endPattern(): void {
    this.#script?.setPatternNext(false);
  }

  nextPattern(): void {
    this.#script?.setPatternNext(true);
  }

  /** `f` or `function f`, which is a definition if `()` is next. */
  get startsFunction(): boolean {
    const { words } = this.#current;
    return words.length === 1 || (words.length === 2 && words[0]?.texts[0] === 'function');
  }

  get mayBeArithmetic(): boolean {
    const { words } = this.#current;
    return words.length === 0 || (words.length === 1 && words[0]?.texts[0] === 'for');
  }

  /** What was read so far is the name of a function. */
  openFunction(): void {
    this.defineFunction();
    this.#script?.defines(this.#current.words.at(-1)?.texts[0] ?? '');
    this.#current = newCommand();
  }

  /** Behind the name of a program, and not in what only looks like a command. */
  get isInWords(): boolean {
    const { words, isHeader } = this.#current;
    const isCommand = words.some(({ assigns }) => assigns === undefined);
    return (
      this.#script !== undefined && isCommand && !isHeader && words[0]?.texts[0] !== 'function'
    );
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

  add(word: ShellWord, { mayBeLine = false, sign = '' } = {}): void {
    this.#reading.add(word);
    if (word.kind === 'redirection') {
      this.#current.isRedirected = true;
      if (this.#script !== undefined) this.#current.redirections.push({ sign, word });
    }
    if (word.kind !== 'word' || this.#takesReserved(word)) return;
    if (this.#current.words.length === 0) {
      const [text = ''] = word.texts;
      if (OPENERS.has(text)) return this.group(1);
      if (CLOSERS.has(text)) return this.group(-1);
      this.#current.name = text;
    }
    this.#current.words.push(word);
    if (mayBeLine) this.#current.lines.push(word);
  }

  /** With steps: whether a word is a part of the structure, and of no command. */
  #takesReserved({ isBare, texts: [text = ''] }: ShellWord): boolean {
    const script = this.#script;
    const { words } = this.#current;
    if (script === undefined || isBare !== true) return script?.isInPattern === true;
    if (script.isInPattern) {
      if (text === 'esac') script.takesKeyword(text, this.#current);
      return true;
    }
    if (words.length === 0) {
      if (OPENERS.has(text)) this.#groups++;
      if (CLOSERS.has(text)) this.#groups = Math.max(0, this.#groups - 1);
      return script.takesKeyword(text, this.#current);
    }
    if (text === ']]') script.isInTest = false;
    if (text === '{' && words.length === 1 && script.isCoprocess) {
      this.#current = newCommand();
      return script.takesKeyword(text, this.#current);
    }
    if (words.length !== 2) return false;
    const [head] = words[0]?.texts ?? [];
    if (head === 'function' && text === '{') {
      this.openFunction();
      script.open('group');
      return true;
    }
    if (!this.#current.isHeader || head !== 'case' || text !== 'in') return false;
    this.#current = newCommand();
    script.startCase();
    return true;
  }

  /** `echo() { … }`: from here on this name may run anything. */
  defineFunction(): void {
    const { words } = this.#current;
    const [name, more] = words[0]?.texts[0] === 'function' ? words.slice(1) : words;
    if (more === undefined && (name?.texts ?? []).some(mayPrint)) this.#reading.redefine();
  }

  group(by: 1 | -1, block?: BlockKind): void {
    if (block !== undefined && by > 0) this.#script?.open(block);
    else if (block !== undefined) this.#script?.close();
    this.#groups = Math.max(0, this.#groups + by);
  }

  /** Ends a simple command. At the end of a pipeline, gives its words that may be command lines. */
  end(how: 'pipe' | 'list' | 'newline', sign?: CommandSign): readonly ShellWord[] {
    const { words } = this.#current;
    this.#script?.add(this.#current);
    if (words.length > 0) {
      this.#pipeline.push(this.#current);
      this.#reading.commands.push(words);
      this.#own.push(words);
      this.#noteVariables(words);
      if (mayRedefine(this.#current)) this.#reading.redefine();
    }
    this.#script?.end(sign);
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
    return this.#printedText() ?? (this.#script === undefined ? undefined : this.#printedName());
  }

  #printedName(): string | undefined {
    const last = this.#own.at(-1) ?? NONE;
    const isCount = last[0]?.texts[0] === 'wc' && this.#own.length > 1;
    if (this.#own.length !== 1 && !isCount) return undefined;
    return last.every(({ texts }) => texts.length === 1)
      ? printedName(firstTexts(last))
      : undefined;
  }

  #printedText(): string | undefined {
    const [only = NONE, more] = this.#own;
    const [name = '', ...texts] = firstTexts(only);
    if (more !== undefined || this.#reading.isRedefined || !PRINTERS.has(name)) return undefined;
    const isPlain = only.slice(1).every((word) => word.texts.length === 1);
    return isPlain && !texts.some((text) => /[%\\]|^-/.test(text)) ? texts.join(' ') : undefined;
  }

  /** With steps: what `$1` and `$@` are. */
  #assignPositional(words: readonly ShellWord[]): void {
    if (this.#script === undefined) return;
    const list = words.flatMap(({ texts }) => texts).join(SPLIT);
    for (const name of ['@', '*']) this.#reading.assign(name, [list]);
    for (const [index, { texts }] of words.slice(0, POSITIONAL_MAX).entries()) {
      this.#reading.assign(String(index + 1), texts);
    }
  }

  #noteVariables(words: readonly ShellWord[]): void {
    const [loop, name = '', preposition] = firstTexts(words.slice(0, 3));
    // `for x in a b`: the variable is each of them.
    if ((loop === 'for' || loop === 'select') && preposition === 'in') {
      const items = words.slice(3).flatMap(({ texts }) => texts);
      this.#reading.assign(name, items);
      if (name === 'IFS') this.#reading.lose(name);
      if (this.#script !== undefined) this.#reading.setCertain([name], true);
    }
    if (this.#script?.isFunction(loop ?? '')) this.#assignPositional(words.slice(1));
    if (loop === 'set' && name === '--') this.#assignPositional(words.slice(2));
    const names = variablesSetBy(words);
    if (names === 'all') this.#reading.loseAll();
    else for (const lost of names) this.#reading.lose(lost);
  }
}

/** More of them are found as `$@`. */
const POSITIONAL_MAX = 9;

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
  return {
    words: [],
    lines: [],
    name: '',
    isFed: false,
    isRedirected: false,
    redirections: [],
    heredocs: [],
    isHeader: false,
  };
}
