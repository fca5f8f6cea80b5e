// Walks through the steps of a script, and notes what each of its commands touches.
import { isSpecialVariable, noteVariable } from './environment.ts';
import { Findings } from './findings.ts';
import { WorkingFolders } from './folders.ts';
import type { Argument } from './options.ts';
import type { CommandOutline } from './outline.ts';
import { runProgram } from './program-runs.ts';
import { PRESET_OF_SCRIPT, readScript } from './read-shell.ts';
import type { ShellWord } from './reading.ts';
import type { BlockKind, Redirection, ScriptCommand, ShellStep } from './steps.ts';
import { SPLIT, UNKNOWN } from './word-texts.ts';

const DEPTH_MAX = 8;
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
  readonly inherited: Feed;
}

type Variables = ReadonlyMap<string, readonly string[]>;

export class ScriptOutline {
  readonly findings = new Findings();
  readonly aliases = new Map<string, readonly string[]>();
  readonly #line: string;
  #costLeft: number;
  /** A name may be defined several times. */
  readonly #functions = new Map<string, (readonly ShellStep[])[]>();
  readonly #called = new Set<string>();
  /** Those that are being walked through: a call of itself adds nothing. */
  readonly #running = new Set<string>();
  readonly #noted = new Set<string>();
  #variables: Variables = PRESET_OF_SCRIPT;

  constructor(line: string) {
    this.#line = line.replaceAll('\0', '');
    this.#costLeft = Math.min(COST_MAX, line.length * COST_EACH + COST_SPARE);
  }

  outline(): CommandOutline {
    const folders = new WorkingFolders();
    this.runScript(this.#line, { folders, depth: 0, feed: undefined });
    // A function that nobody calls may be called by what the line sets up.
    const around = { folders: new WorkingFolders(), depth: 1, feed: undefined };
    for (const name of this.#functions.keys()) {
      if (!this.#called.has(name)) this.callFunction(name, around);
    }
    return this.findings.outline();
  }

  /** Reads a text as a script, and walks through it. */
  runScript(text: string, around: Surroundings, positional: readonly Argument[] = []): void {
    if (around.depth >= DEPTH_MAX || this.#costLeft < 0) {
      return this.findings.addOpaque('too_large', text);
    }
    if (text.includes(UNKNOWN)) this.findings.addOpaque('dynamic_program', text);
    const given = this.#variables;
    const variables = positional.length === 0 ? given : withPositional(given, positional);
    const script = readScript(text, { variables, spare: this.#costLeft });
    this.#costLeft -= script.cost;
    if (!script.isWhole) this.findings.addOpaque('too_large', text);
    this.#variables = positional.length === 0 ? script.variables : given;
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
    const bodies = this.#functions.get(name);
    if (bodies === undefined) return false;
    this.#called.add(name);
    if (this.#running.has(name)) return true;
    if (around.depth >= DEPTH_MAX) this.findings.addOpaque('too_large', name);
    this.#running.add(name);
    for (const steps of around.depth >= DEPTH_MAX ? [] : bodies) {
      this.#walk(steps, { ...around, depth: around.depth + 1 });
    }
    this.#running.delete(name);
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
      if (step === undefined || (this.#costLeft -= COMMAND_COST) < 0 || this.findings.isFull) {
        return this.findings.addOpaque('too_large', this.#line);
      }
      if (step.kind === 'open' && step.functionName !== undefined) {
        const end = closeOf(steps, at);
        const bodies = this.#functions.get(step.functionName) ?? [];
        this.#functions.set(step.functionName, [...bodies, steps.slice(at + 1, end)]);
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
      if (word.assigns === 'IFS' && isLasting(words)) this.#noteSeparator(word);
    }
    const args = words.flatMap(argumentsOf);
    if (args.length > 0) this.run({ ...around, args, command });
    else around.folders.stay();
  }

  /** Values are split at other signs than blanks from here on. */
  #noteSeparator({ texts }: ShellWord): void {
    for (const text of texts)
      if (/\S/.test(text.slice(4))) this.findings.addOpaque('redefined', text);
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

/** What a block reads, if a command inside of it reads its input. */
function feedOf(what: BlockKind, feed: Feed): Feed {
  if (what === 'fed_substitution') return 'block';
  return what === 'substitution' ? undefined : feed;
}

/** Whether an assignment holds for more than one command. */
function isLasting([program]: readonly ShellWord[]): boolean {
  return (
    program === undefined ||
    /^(?:export|declare|local|typeset|readonly)$/.test(program.texts[0] ?? '')
  );
}

function nextFeed(feed: Feed, last: ScriptCommand | 'block' | undefined): Feed {
  if (last === 'block' || feed === 'block' || last === undefined) return 'block';
  return [...(feed ?? []), last];
}

/** `$0`, `$1` and so on, by the words behind `sh -c`. */
function withPositional(variables: Variables, words: readonly Argument[]): Variables {
  const all = new Map(variables);
  for (const [index, { texts }] of words.entries()) all.set(String(index), texts);
  const list = words.slice(1).flatMap(({ texts }) => texts);
  return all.set('@', list).set('*', list);
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
