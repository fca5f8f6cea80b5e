// Walks through the steps of a script, and notes what each of its commands touches.
import { isLasting, isSpecialVariable, noteVariable } from './environment.ts';
import { Findings } from './findings.ts';
import { WorkingFolders } from './folders.ts';
import type { Argument } from './options.ts';
import type { CommandOutline } from './outline.ts';
import { runProgram } from './program-runs.ts';
import { PRESET_OF_SCRIPT, readScript, valueCount } from './read-shell.ts';
import type { ShellWord } from './reading.ts';
import type { BlockKind, Redirection, ScriptCommand, ShellStep } from './steps.ts';
import { SPLIT, UNKNOWN } from './word-texts.ts';

/** Scripts in scripts, and programs behind programs. */
const DEPTH_MAX = 20;
const FEED_MAX = 32;
const BODIES_MAX = 16;
const HANDLERS_MAX = 16;
const POSITIONAL_MAX = 9;
/** Readings of a line because of what `eval` sets. */
const ROUNDS_MAX = 3;
/** A command whose words are known in more ways than these is too large. */
const VARIANTS_MAX = 16;
const COMMAND_COST = 64;
/** For all readings of a line together: scripts inside of scripts are read again. */
const COST_MAX = 16_777_216;
const COST_SPARE = 524_288;
const COST_EACH = 64;

/** What feeds the input of a command: the commands to the left of it, or a block of them. */
export type Feed = readonly ScriptCommand[] | 'block' | undefined;

export interface Surroundings {
  readonly folders: WorkingFolders;
  readonly depth: number;
  readonly feed: Feed;
  /** The shell that it runs in: functions of one are not known to another. */
  readonly shell: number;
  /** It runs whenever the line does. */
  readonly isCertain: boolean;
}

/** One run of a program, with what is around it. */
export interface ProgramRun extends Surroundings {
  readonly args: readonly Argument[];
  readonly command: ScriptCommand;
  /** Another program runs it, and knows no functions and aliases. */
  readonly isWrapped: boolean;
  /** A program that nobody knows may run it, or may mean something else by its name. */
  readonly isGuess?: boolean;
}

interface Block {
  readonly isOwnShell: boolean;
  readonly saved: ReturnType<WorkingFolders['save']>;
  readonly feed: Feed;
  readonly inherited: Feed;
}

interface FunctionBody {
  /** Where it is written. */
  readonly opening: ShellStep;
  readonly steps: readonly ShellStep[];
}

type Variables = ReadonlyMap<string, readonly string[]>;

export class ScriptOutline {
  readonly findings = new Findings();
  readonly aliases = new Map<string, readonly string[]>();
  readonly #line: string;
  #costLeft: number;
  /** A name may be defined several times. */
  readonly #functions = new Map<string, readonly FunctionBody[]>();
  /** Those that are defined whatever happens, with the shell that knows them. */
  readonly #certainFunctions = new Map<string, number>();
  #shells = 0;
  readonly #called = new Set<string>();
  /** Those that are being walked through: a call of itself adds nothing. */
  readonly #running = new Set<ShellStep>();
  readonly #noted = new Set<string>();
  #variables: Variables;
  /** What `trap` runs later, and how many folders its shell had been in. */
  readonly #handlers: { text: string; around: Surroundings; visited: number }[] = [];
  /** `eval` has set a variable, or called a function, that was read before as if it had not. */
  #isOutdated = false;

  constructor(line: string, variables: Variables = PRESET_OF_SCRIPT) {
    this.#variables = variables;
    this.#line = line.replaceAll('\0', '');
    this.#costLeft = Math.min(COST_MAX, line.length * COST_EACH + COST_SPARE);
  }

  outline(rounds = ROUNDS_MAX): CommandOutline {
    const folders = new WorkingFolders();
    const start = { folders, depth: 0, feed: undefined, shell: 0, isCertain: true };
    this.#read(this.#line, start);
    this.#runHandlers();
    // A function that nobody calls may be called by what the line sets up.
    const around = { ...start, folders: new WorkingFolders(), depth: 1, isCertain: false };
    for (const name of this.#functions.keys()) {
      if (!this.#called.has(name)) this.callFunction(name, around);
    }
    if (!this.#isOutdated) return this.findings.outline();
    if (rounds > 0) return new ScriptOutline(this.#line, this.#variables).outline(rounds - 1);
    this.findings.addOpaque('too_large', this.#line);
    return this.findings.outline();
  }

  /** A text that the shell may run in any folder that it goes to from here on. */
  addHandler(text: string, around: Surroundings): void {
    if (this.#handlers.length >= HANDLERS_MAX) return this.findings.addOpaque('too_large', text);
    this.#handlers.push({ text, around, visited: around.folders.visited.length });
  }

  #runHandlers(): void {
    for (const { text, around, visited } of this.#handlers) {
      const later = [...new Set(around.folders.visited.slice(visited))];
      if (later.length > HANDLERS_MAX) this.findings.addOpaque('too_large', text);
      else if (later.length > 0)
        this.runScript(text, { ...around, folders: new WorkingFolders(later) });
    }
  }

  /** Runs a text in a shell of its own. */
  runScript(text: string, around: Surroundings, positional: readonly Argument[] = []): void {
    const shell = ++this.#shells;
    const own = { ...around, folders: around.folders.copy(), shell, isCertain: true };
    this.#read(text, own, positional);
  }

  /** Runs a text in the same shell: what it sets may be used by what was read before. */
  evaluate(text: string, around: Surroundings): void {
    const before = valueCount(this.#variables);
    this.#read(text, around);
    if (valueCount(this.#variables) > before) this.#isOutdated = true;
  }

  /** Reads a text as a script, and walks through it. */
  #read(text: string, around: Surroundings, positional: readonly Argument[] = []): void {
    if (around.depth >= DEPTH_MAX || this.#costLeft < 0) {
      return this.findings.addOpaque('too_large', text);
    }
    if (text.includes(UNKNOWN)) this.findings.addOpaque('dynamic_program', text);
    const given = this.#variables;
    const variables = positional.length === 0 ? given : withPositional(given, positional);
    const script = readScript(text, { variables, spare: this.#costLeft });
    this.#costLeft -= script.cost;
    if (!script.isWhole) this.findings.addOpaque('too_large', text);
    if (script.isBroken || !isBalanced(script.steps)) this.findings.addOpaque('unreadable', text);
    this.#variables = positional.length === 0 ? script.variables : given;
    const isEvaluated = around.depth > 0 && around.shell === 0;
    if (isEvaluated && valueCount(script.variables) > valueCount(variables))
      this.#isOutdated = true;
    this.#noteVariables(script.variables, around);
    this.#walk(script.steps, { ...around, depth: around.depth + 1 });
  }

  #noteVariables(variables: Variables, around: Surroundings): void {
    for (const [name, values] of variables) {
      if (!isSpecialVariable(name)) continue;
      const added = values.filter((value) => !this.#noted.has(`${name}=${value}`));
      for (const value of added) this.#noted.add(`${name}=${value}`);
      noteVariable(this, { name, values: added }, around);
    }
  }

  /** Counts work; false when the limit is reached. */
  takes(cost: number): boolean {
    this.#costLeft -= cost;
    return this.#costLeft >= 0;
  }

  /** A function may be no more, so that its name is a program again. */
  forgetFunction(name: string): void {
    this.#certainFunctions.delete(name);
  }

  /** Runs a function that the line defines; false where the name may be that of a program. */
  callFunction(name: string, around: Surroundings, args: readonly Argument[] = []): boolean {
    const bodies = this.#functions.get(name);
    if (bodies === undefined) return false;
    this.#called.add(name);
    if (args.length > 0) this.#noteCall(args);
    const isFunction = this.#certainFunctions.get(name) === around.shell;
    if (around.depth >= DEPTH_MAX) this.findings.addOpaque('too_large', name);
    for (const { opening, steps } of around.depth >= DEPTH_MAX ? [] : bodies) {
      if (this.#running.has(opening)) continue;
      this.#running.add(opening);
      this.#walk(steps, { ...around, depth: around.depth + 1, isCertain: false });
      this.#running.delete(opening);
    }
    return isFunction;
  }

  /** A call that the reader has not seen: its body must be read again with these arguments. */
  #noteCall(args: readonly Argument[]): void {
    const list = args.flatMap(({ texts }) => texts).join(SPLIT);
    const known = this.#variables.get('@') ?? [];
    if (known.includes(list)) return;
    const variables = new Map(this.#variables);
    for (const name of ['@', '*']) variables.set(name, [...known, list]);
    for (const [index, { texts }] of args.slice(0, POSITIONAL_MAX).entries()) {
      const before = variables.get(String(index + 1)) ?? [];
      variables.set(String(index + 1), [...new Set([...before, ...texts])]);
    }
    this.#variables = variables;
    this.#isOutdated = true;
  }

  #walk(steps: readonly ShellStep[], around: Surroundings): void {
    const { folders } = around;
    const blocks: Block[] = [];
    let feed = around.feed;
    let inherited = around.feed;
    let last: ScriptCommand | 'block' | undefined;
    let pipeStart = folders.save();
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at];
      if (step === undefined || !this.takes(COMMAND_COST) || this.findings.isFull) {
        return this.findings.addOpaque('too_large', this.#line);
      }
      if (step.kind === 'open' && step.functionName !== undefined) {
        const end = closeOf(steps, at);
        const isAlone = !isJoin(steps[at - 1]) && !isJoin(steps[end + 1]);
        const isCertain = around.isCertain && blocks.length === 0 && isAlone;
        this.#define(step.functionName, { opening: step, steps: steps.slice(at + 1, end) });
        if (isCertain) this.#certainFunctions.set(step.functionName, around.shell);
        at = end;
      } else if (step.kind === 'open') {
        const isOwnShell = step.what !== 'group' && step.what !== 'branching';
        blocks.push({ isOwnShell, saved: folders.save(), feed, inherited });
        inherited = feedOf(step.what, feed);
        feed = inherited;
      } else if (step.kind === 'close') {
        const block = blocks.pop();
        if (block === undefined) continue;
        if (block.isOwnShell) folders.restore(block.saved);
        else folders.merge(block.saved);
        ({ inherited, feed } = block);
        last = 'block';
      } else if (step.kind === 'branch') {
        const block = blocks.at(-1);
        if (block !== undefined) folders.merge(block.saved);
      } else if (step.kind === 'command') {
        const isCertain = around.isCertain && blocks.length === 0 && !isJoin(steps[at - 1]);
        this.#runCommand(step.command, { ...around, feed, isCertain });
        last = step.command;
      } else if (step.sign === '|') {
        feed = nextFeed(feed === inherited ? [] : feed, last);
        folders.restore(pipeStart);
      } else {
        if (feed !== inherited) folders.restore(pipeStart);
        folders.sign(step.sign);
        feed = inherited;
        pipeStart = folders.save();
      }
    }
  }

  #define(name: string, body: FunctionBody): void {
    const bodies = this.#functions.get(name) ?? [];
    if (bodies.some(({ opening }) => opening === body.opening)) return;
    if (bodies.length >= BODIES_MAX) this.findings.addOpaque('too_large', name);
    else this.#functions.set(name, [...bodies, body]);
  }

  #runCommand(command: ScriptCommand, around: Surroundings): void {
    if (command.isHeader) return;
    for (const redirection of command.redirections) this.#redirect(redirection, around);
    const start = command.words.findIndex(({ assigns }) => assigns === undefined);
    const words = start === -1 ? [] : command.words.slice(start);
    for (const word of command.words) {
      if (word.assigns !== undefined) this.#noteValue(word, around);
      if (word.assigns === 'IFS' && isLasting(words)) this.#noteSeparator(word, words);
    }
    const variants = argumentLists(words);
    if (variants === undefined) this.findings.addOpaque('too_large', this.#line);
    for (const args of variants ?? [words.flatMap(eachText)]) {
      if (args.length > 0) this.run({ ...around, args, command, isWrapped: false });
      else around.folders.stay();
    }
  }

  /** Values are split at other signs than blanks from here on. */
  #noteSeparator({ texts }: ShellWord, program: readonly ShellWord[]): void {
    for (const text of texts) {
      // Without one, `"$*"` puts words together; `local IFS` alone is harmless.
      const isNone = text === 'IFS=' && program.length === 0;
      if (isNone || /\S/.test(text.slice(4))) this.findings.addOpaque('redefined', text);
    }
  }

  /** What a variable is set to may be a file or an address. */
  #noteValue({ assigns = '', texts }: ShellWord, { folders }: Surroundings): void {
    for (const text of texts) {
      const value = text.slice(text.indexOf('=') + 1);
      // A value that holds a substitution is run by `${x@P}`, and as an index by an expression.
      if (/\$\(|`/.test(value)) this.findings.addOpaque('redefined', text);
      const isKnown = !value.includes(UNKNOWN) && !isSpecialVariable(assigns);
      if (isKnown && !/\s/.test(value)) this.findings.add('maybe_path', value, folders);
    }
  }

  /** Runs the program that stands first. */
  run(run: ProgramRun): void {
    const [program, ...args] = run.args;
    if (program === undefined) return;
    if (run.depth >= DEPTH_MAX || !this.takes(COMMAND_COST + args.length)) {
      return this.findings.addOpaque('too_large', this.#line);
    }
    run.folders.stay();
    for (const path of program.texts) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      runProgram(this, { ...run, depth: run.depth + 1, path, name, args });
    }
  }

  #redirect({ sign, word }: Redirection, { folders }: Surroundings): void {
    if (sign === '<<<') return;
    for (const text of word.texts) {
      const isDescriptor = sign.endsWith('&') && /^(?:\d+-?|-)$/.test(text);
      if (isDescriptor || text === '') continue;
      const role = sign === '<' || sign === '<&' ? 'read' : sign === '<>' ? 'change' : 'write';
      this.findings.add(role, text, folders);
    }
  }
}

/** What a block reads, if a command inside of it reads its input. */
function feedOf(what: BlockKind, feed: Feed): Feed {
  if (what === 'fed_substitution') return 'block';
  return what === 'substitution' ? undefined : feed;
}

/** Whether what stands beside it may not run, or runs in a process of its own. */
function isJoin(step: ShellStep | undefined): boolean {
  return step?.kind === 'sign' && /^(?:&&|\|\||\||&)$/.test(step.sign);
}

function nextFeed(feed: Feed, last: ScriptCommand | 'block' | undefined): Feed {
  if (last === 'block' || feed === 'block' || last === undefined) return 'block';
  return (feed?.length ?? 0) < FEED_MAX ? [...(feed ?? []), last] : 'block';
}

/** `$0`, `$1` and so on, by the words behind `sh -c`. */
function withPositional(variables: Variables, words: readonly Argument[]): Variables {
  const all = new Map(variables);
  for (const [index, { texts }] of words.entries()) all.set(String(index), texts);
  const rest = words.slice(1).flatMap(({ texts }) => texts);
  const list = [rest.join(SPLIT)];
  return all.set('@', list).set('*', list);
}

/** Whether every block is closed; a shell refuses other scripts, or asks for more. */
function isBalanced(steps: readonly ShellStep[]): boolean {
  let open = 0;
  for (const { kind } of steps) {
    if (kind === 'open') open++;
    else if (kind === 'close' && --open < 0) return false;
  }
  return open === 0;
}

/** Where the block ends that is opened there. */
function closeOf(steps: readonly ShellStep[], start: number): number {
  let open = 0;
  for (let at = start; at < steps.length; at++) {
    const kind = steps[at]?.kind;
    if (kind === 'open') open++;
    else if (kind === 'close' && --open === 0) return at;
  }
  return steps.length;
}

/** The ways to read the words of a command; nothing where there are too many. */
function argumentLists(words: readonly ShellWord[]): readonly (readonly Argument[])[] | undefined {
  let lists: Argument[][] = [[]];
  for (const { texts, ways = [texts], isProse } of words) {
    const isOne = ways.every((way) => way.length === 1);
    const alternatives: readonly (readonly Argument[])[] = isOne
      ? [[{ texts: [...new Set(ways.flat())], isProse }]]
      : ways.map((way) => way.map((text) => ({ texts: [text], isProse })));
    if (lists.length * alternatives.length > VARIANTS_MAX) return undefined;
    const [only = []] = alternatives;
    // Most words have one way: nothing is copied for them.
    if (alternatives.length === 1) for (const list of lists) for (const one of only) list.push(one);
    else lists = lists.flatMap((list) => alternatives.map((way) => [...list, ...way]));
  }
  return lists;
}

function eachText({ texts, isProse }: ShellWord): readonly Argument[] {
  return texts.map((text) => ({ texts: [text], isProse }));
}
