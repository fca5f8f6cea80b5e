// Notes the steps of a script while it is read: reserved words open and close blocks.
import type { SimpleCommand } from './commands.ts';
import type { Reading } from './reading.ts';
import type { BlockKind, CommandSign, ShellStep } from './steps.ts';

const BLOCKS: ReadonlyMap<string, BlockKind> = new Map([
  ['{', 'group'],
  ['if', 'branching'],
  ['while', 'branching'],
  ['until', 'branching'],
]);
/** Open a block, and are followed by words that are no command. */
const HEADERS: ReadonlySet<string> = new Set(['for', 'select', 'case']);
const CLOSERS: ReadonlySet<string> = new Set(['}', 'done', 'fi', 'esac']);
const BRANCHES: ReadonlySet<string> = new Set(['else', 'elif']);
const SKIPPED: ReadonlySet<string> = new Set(['then', 'do', '!', 'time', 'coproc']);
const DECLARERS: ReadonlySet<string> = new Set([
  'export',
  'declare',
  'typeset',
  'readonly',
  'local',
]);
/** Behind these, a line break ends nothing. */
const JOINS: ReadonlySet<string> = new Set(['|', '&&', '||']);

/** The variables that are set whether the block runs or not, and those of the list around it. */
interface OpenBlock {
  readonly isGroup: boolean;
  readonly certain: ReadonlySet<string>;
  readonly list: ReadonlySet<string>;
  readonly chain: ReadonlySet<string> | undefined;
}

export class ScriptLog {
  readonly #reading: Reading;
  readonly #steps: ShellStep[];
  readonly #blocks: OpenBlock[] = [];
  /** The variables that are set where the list of commands began, and before its first `&&` or `||`. */
  #listStart: ReadonlySet<string>;
  #chainStart: ReadonlySet<string> | undefined;
  /** For each open `case`: whether a pattern is next. */
  readonly #cases: boolean[] = [];
  readonly #functions = new Set<string>();
  #functionName: string | undefined;
  #isTimed = false;
  /** `coproc` stands before the command. */
  isCoprocess = false;
  isInTest = false;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#steps = reading.steps ?? [];
    this.#listStart = reading.certain;
  }

  get isInPattern(): boolean {
    return this.#cases.at(-1) === true;
  }

  get isInCase(): boolean {
    return this.#cases.at(-1) === false;
  }

  setPatternNext(isNext: boolean): void {
    if (isNext) this.#branch();
    this.#cases[this.#cases.length - 1] = isNext;
  }

  startCase(): void {
    this.#cases.push(true);
  }

  isFunction(name: string): boolean {
    return this.#functions.has(name);
  }

  /** The next block is the body of this function. */
  defines(name: string): void {
    this.#functions.add(name);
    this.#functionName = name;
  }

  open(what: BlockKind): void {
    this.isCoprocess = false;
    const isGroup = what === 'group' && this.#functionName === undefined;
    const { certain } = this.#reading;
    this.#blocks.push({ isGroup, certain, list: this.#listStart, chain: this.#chainStart });
    this.#listStart = certain;
    this.#chainStart = undefined;
    this.#steps.push({ kind: 'open', what, functionName: this.#functionName });
    this.#functionName = undefined;
  }

  close(): void {
    const block = this.#blocks.pop();
    if (block !== undefined) {
      this.#listStart = block.list;
      this.#chainStart = block.chain;
      if (!block.isGroup) this.#reading.certain = block.certain;
    }
    this.#steps.push({ kind: 'close' });
  }

  /** What one branch sets is not set in another. */
  #branch(): void {
    this.#steps.push({ kind: 'branch' });
    const certain = this.#blocks.at(-1)?.certain ?? this.#reading.certain;
    this.#reading.certain = certain;
    this.#listStart = certain;
    this.#chainStart = undefined;
  }

  /** The first word of a command: whether it is a reserved word, and no part of the command. */
  takesKeyword(word: string, command: SimpleCommand): boolean {
    const isTimed = this.#isTimed;
    this.#isTimed = word === 'time';
    if (isTimed && word === '-p') return true;
    if (word === 'coproc') this.isCoprocess = true;
    const block = BLOCKS.get(word);
    if (block !== undefined) this.open(block);
    else if (BRANCHES.has(word)) this.#branch();
    else if (CLOSERS.has(word)) {
      if (word === 'esac') this.#cases.pop();
      this.close();
    } else if (!SKIPPED.has(word)) {
      if (HEADERS.has(word)) {
        this.open('branching');
        command.isHeader = true;
      }
      this.isInTest = word === '[[';
      return false;
    }
    return true;
  }

  /** Notes a command. */
  add(command: SimpleCommand): void {
    this.isInTest = false;
    const isApart = this.isCoprocess;
    this.isCoprocess = false;
    if (command.words.length > 0 || command.redirections.length > 0) {
      if (isApart) this.#steps.push({ kind: 'open', what: 'subshell' });
      this.#steps.push({ kind: 'command', command });
      if (isApart) this.#steps.push({ kind: 'close' });
    }
    const [first, ...others] = command.words;
    if (first === undefined) return;
    const program = first.assigns === undefined ? (first.texts[0] ?? '') : '';
    const isSetting = command.words.every(({ assigns }) => assigns !== undefined);
    if (isSetting || DECLARERS.has(program)) {
      const names = command.words.flatMap(({ assigns }) => assigns ?? []);
      if (names.length > 0) this.#reading.setCertain(names, true);
    } else if (program === 'unset') {
      this.#reading.setCertain(
        others.flatMap(({ texts }) => texts),
        false,
      );
    }
  }

  /** Notes the sign behind a command. */
  end(sign: CommandSign | undefined): void {
    if (sign === undefined) return;
    const last = this.#steps.at(-1);
    if (last?.kind === 'sign' && (sign === '\n' || !JOINS.has(last.sign))) return;
    this.#steps.push({ kind: 'sign', sign });
    this.#limitCertain(sign);
  }

  /** What is set in a pipeline or behind `&&` may not be set in the next list. */
  #limitCertain(sign: CommandSign): void {
    const reading = this.#reading;
    if (sign === '&&') this.#chainStart ??= reading.certain;
    else if (sign === '||') reading.certain = this.#chainStart ??= reading.certain;
    else if (sign === '|') reading.certain = this.#chainStart = this.#listStart;
    else {
      reading.certain = sign === '&' ? this.#listStart : (this.#chainStart ?? reading.certain);
      this.#chainStart = undefined;
      this.#listStart = reading.certain;
    }
  }
}
