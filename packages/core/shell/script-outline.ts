// Walks through the steps of a script, and notes what each of its commands touches.

import { isSpecialVariable, noteVariable } from './environment.ts';
import { Findings } from './findings.ts';
import { WorkingFolders } from './folders.ts';
import type { Argument } from './options.ts';
import type { CommandOutline } from './outline.ts';
import { runProgram } from './program-runs.ts';
import { readScript } from './read-shell.ts';
import type { ShellWord } from './reading.ts';
import { Budget } from './reading.ts';
import type { Redirection, ScriptCommand, ShellStep } from './steps.ts';
import { SPLIT, UNKNOWN } from './word-texts.ts';

const DEPTH_MAX = 8;
const COMMAND_COST = 64;
/** A line may hold scripts inside of scripts, each of which is read again. */
const CHARS_SPARE = 32_768;

/** What feeds the input of a command: the commands to the left of it, or a block of them. */
export type Feed = readonly ScriptCommand[] | 'block' | undefined;

export interface Surroundings {
  readonly folders: WorkingFolders;
  readonly depth: number;
  readonly feed: Feed;
}

/** One run of a program, with what is around it. */
export interface ProgramRun extends Surroundings {
  readonly args: readonly Argument[];
  readonly command: ScriptCommand;
}

interface Block {
  readonly isOwnShell: boolean;
  readonly saved: ReturnType<WorkingFolders['save']>;
  readonly feed: Feed;
}

type Variables = ReadonlyMap<string, readonly string[]>;

export class ScriptOutline {
  readonly findings = new Findings();
  readonly aliases = new Map<string, readonly string[]>();
  readonly #line: string;
  readonly #budget: Budget;
  readonly #functions = new Map<string, readonly ShellStep[]>();
  readonly #called = new Set<string>();
  readonly #noted = new Set<string>();
  #variables: Variables | undefined;

  constructor(line: string) {
    this.#line = line.replaceAll('\0', '');
    this.#budget = new Budget(line.length, CHARS_SPARE);
  }

  outline(): CommandOutline {
    const folders = new WorkingFolders();
    this.runScript(this.#line, { folders, depth: 0, feed: undefined });
    // A function that nobody calls may be called by what the line sets up.
    for (const [name, steps] of this.#functions) {
      if (!this.#called.has(name))
        this.#walk(steps, { folders: new WorkingFolders(), depth: 1, feed: undefined });
    }
    return this.findings.outline();
  }

  /** Reads a text as a script, and walks through it. */
  runScript(text: string, around: Surroundings): void {
    if (around.depth >= DEPTH_MAX || this.#budget.isSpent) {
      return this.findings.addOpaque('too_large', text);
    }
    if (text.includes(UNKNOWN)) this.findings.addOpaque('dynamic_program', text);
    const script = readScript(text, this.#budget, this.#variables);
    if (!script.isWhole) this.findings.addOpaque('too_large', text);
    this.#variables = script.variables;
    this.#noteVariables(script.variables, around);
    this.#walk(script.steps, { ...around, depth: around.depth + 1 });
  }

  #noteVariables(variables: Variables, around: Surroundings): void {
    for (const [name, values] of variables) {
      if (!isSpecialVariable(name) || this.#noted.has(name)) continue;
      this.#noted.add(name);
      noteVariable(this, { name, values }, around);
    }
  }

  /** Runs a function that the line defines; false where there is none with this name. */
  callFunction(name: string, around: Surroundings): boolean {
    const steps = this.#functions.get(name);
    if (steps === undefined) return false;
    this.#called.add(name);
    if (around.depth >= DEPTH_MAX) this.findings.addOpaque('too_large', name);
    else this.#walk(steps, { ...around, depth: around.depth + 1 });
    return true;
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
      if (step === undefined || !this.#budget.takes(COMMAND_COST) || this.findings.isFull) {
        return this.findings.addOpaque('too_large', this.#line);
      }
      if (step.kind === 'open' && step.functionName !== undefined) {
        const end = closeOf(steps, at);
        this.#functions.set(step.functionName, steps.slice(at + 1, end));
        at = end;
      } else if (step.kind === 'open') {
        const isOwnShell = step.what === 'subshell' || step.what === 'substitution';
        blocks.push({ isOwnShell, saved: folders.save(), feed: inherited });
        inherited = step.what === 'substitution' ? undefined : feed;
        feed = inherited;
      } else if (step.kind === 'close') {
        const block = blocks.pop();
        if (block === undefined) continue;
        if (block.isOwnShell) folders.restore(block.saved);
        else folders.merge(block.saved);
        inherited = block.feed;
        feed = block.feed;
        last = 'block';
      } else if (step.kind === 'branch') {
        const block = blocks.at(-1);
        if (block !== undefined) folders.merge(block.saved);
      } else if (step.kind === 'command') {
        this.#runCommand(step.command, { ...around, feed });
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

  #runCommand(command: ScriptCommand, around: Surroundings): void {
    if (command.isHeader) return;
    for (const redirection of command.redirections) this.#redirect(redirection, around);
    const start = command.words.findIndex(({ assigns }) => assigns === undefined);
    const words = start === -1 ? [] : command.words.slice(start);
    for (const word of command.words) {
      if (word.assigns !== undefined) this.#noteValue(word, around);
    }
    const args = words.flatMap(argumentsOf);
    if (args.length > 0) this.run({ ...around, args, command });
    else around.folders.stay();
  }

  /** What a variable is set to may be a file or an address. */
  #noteValue({ assigns = '', texts }: ShellWord, { folders }: Surroundings): void {
    for (const text of texts) {
      const value = text.slice(text.indexOf('=') + 1);
      const isKnown = !value.includes(UNKNOWN) && !isSpecialVariable(assigns);
      if (isKnown && !/\s/.test(value)) this.findings.add('maybe_path', value, folders);
    }
  }

  /** Runs the program that stands first. */
  run(run: ProgramRun): void {
    const [program, ...args] = run.args;
    if (program === undefined) return;
    run.folders.stay();
    for (const path of program.texts) runProgram(this, { ...run, path, args });
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

function nextFeed(feed: Feed, last: ScriptCommand | 'block' | undefined): Feed {
  if (last === 'block' || feed === 'block' || last === undefined) return 'block';
  return [...(feed ?? []), last];
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

/** A word that may become several words is several arguments. */
function argumentsOf({ texts, ways = [texts], isProse }: ShellWord): readonly Argument[] {
  const [only = [], more] = ways;
  if (more === undefined) return only.map((text) => ({ texts: [text], isProse }));
  if (ways.every((way) => way.length <= 1)) {
    const alternatives = [...new Set(ways.flat())];
    return alternatives.length === 0 ? [] : [{ texts: alternatives, isProse }];
  }
  return [...new Set(ways.flat())]
    .filter((text) => !text.includes(SPLIT))
    .map((text) => ({ texts: [text], isProse }));
}
