// Notes the steps of a script while it is read: reserved words open and close blocks.
import type { SimpleCommand } from './commands.ts';
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
/** Behind these, a line break ends nothing. */
const JOINS: ReadonlySet<string> = new Set(['|', '&&', '||']);

export class ScriptLog {
  readonly #steps: ShellStep[];
  /** For each open `case`: whether a pattern is next. */
  readonly #cases: boolean[] = [];
  readonly #functions = new Set<string>();
  #functionName: string | undefined;
  #isTimed = false;
  isInTest = false;

  constructor(steps: ShellStep[]) {
    this.#steps = steps;
  }

  get isInPattern(): boolean {
    return this.#cases.at(-1) === true;
  }

  get isInCase(): boolean {
    return this.#cases.at(-1) === false;
  }

  setPatternNext(isNext: boolean): void {
    if (isNext) this.#steps.push({ kind: 'branch' });
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
    this.#steps.push({ kind: 'open', what, functionName: this.#functionName });
    this.#functionName = undefined;
  }

  close(): void {
    this.#steps.push({ kind: 'close' });
  }

  /** The first word of a command: whether it is a reserved word, and no part of the command. */
  takesKeyword(word: string, command: SimpleCommand): boolean {
    const isTimed = this.#isTimed;
    this.#isTimed = word === 'time';
    if (isTimed && word === '-p') return true;
    const block = BLOCKS.get(word);
    if (block !== undefined) this.open(block);
    else if (BRANCHES.has(word)) this.#steps.push({ kind: 'branch' });
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

  /** Notes a command, and the sign behind it. */
  end(command: SimpleCommand, sign: CommandSign | undefined): void {
    this.isInTest = false;
    if (command.words.length > 0 || command.redirections.length > 0) {
      this.#steps.push({ kind: 'command', command });
    }
    if (sign === undefined) return;
    const last = this.#steps.at(-1);
    if (last?.kind === 'sign' && (sign === '\n' || !JOINS.has(last.sign))) return;
    this.#steps.push({ kind: 'sign', sign });
  }
}
