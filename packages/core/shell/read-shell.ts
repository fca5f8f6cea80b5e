// A command line → its words and commands.
import { Budget, type KnownOfLine, Reading, type ShellReading } from './reading.ts';
import { ShellReader } from './shell-reader.ts';
import type { ShellStep } from './steps.ts';
import { SPLIT, UNKNOWN } from './word-texts.ts';

/** What every shell has set, and what is used to write a blank that does not look like one. */
const PRESET: KnownOfLine = {
  variables: new Map([['IFS', [' ']]]),
  isRedefined: false,
  isFirstReading: true,
};

/**
 * Reads a command line. Never throws, and reads and makes no more characters than a few times its
 * length plus `spare`: a caller with very many lines gives each of them less.
 */
export function readShell(given: string, spare?: number): ShellReading {
  // A shell drops NUL. Both characters are our own marks in what is read.
  const text = given.replaceAll(UNKNOWN, '').replaceAll(SPLIT, '');
  const first = readWith(text, PRESET, spare);
  if (!first.isWhole) return first;
  const { known } = first;
  // What is set behind its use may be used again: in a loop, or in a function.
  const hasValues = first.isDynamic && known.variables.size > PRESET.variables.size;
  return hasValues || known.isRedefined ? readWith(text, known, spare) : first;
}

/** What is known of every line whose structure is read; `*` is a number. */
export const PRESET_OF_SCRIPT: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    IFS: [' '],
    HOME: ['~'],
    PWD: ['.'],
    SHELL: ['sh'],
    BASH: ['bash'],
    RANDOM: ['*'],
    UID: ['*'],
    EUID: ['*'],
    PPID: ['*'],
    LINENO: ['*'],
    SECONDS: ['*'],
  }),
);

const REPEATS = /\b(?:while|until|for|select|function)\b|\([ \t]*\)/;

/** How many values all variables have together: it grows whenever one is set to something new. */
export function valueCount(variables: ReadonlyMap<string, readonly string[]>): number {
  let count = 0;
  for (const values of variables.values()) count += values.length;
  return count;
}

interface ScriptReading {
  readonly steps: readonly ShellStep[];
  /** Every value that a variable may have. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
  readonly isWhole: boolean;
  /** A quote or a bracket is not closed. */
  readonly isBroken: boolean;
  /** How many characters were read and made. */
  readonly cost: number;
}

interface ScriptOptions {
  readonly variables: ReadonlyMap<string, readonly string[]>;
  readonly spare: number;
}

/** Reads the structure of a script; what is inside of `sh -c` and the like is left to the caller. */
export function readScript(given: string, { variables, spare }: ScriptOptions): ScriptReading {
  const text = given.replaceAll(SPLIT, '');
  const read = (known: KnownOfLine) => {
    const steps: ShellStep[] = [];
    return { steps, reading: readWith(text, { ...known, steps }, spare) };
  };
  const certain = new Set([...variables.keys()].filter((name) => PRESET_OF_SCRIPT.has(name)));
  const first = read({ variables, isRedefined: false, isFirstReading: true, certain });
  const { known } = first.reading;
  // What a loop or a function does a second time, it does with what was set behind it.
  const mayRepeat = first.reading.isDynamic || REPEATS.test(text);
  const hasValues = mayRepeat && valueCount(known.variables) > valueCount(variables);
  const isFinal = !first.reading.isWhole || !(hasValues || known.isRedefined);
  const { steps, reading } = isFinal ? first : read({ ...known, certain });
  const cost = reading.cost + (isFinal ? 0 : first.reading.cost);
  const { isWhole, isBroken } = reading;
  return { steps, variables: reading.known.variables, isWhole, isBroken, cost };
}

function readWith(text: string, known: KnownOfLine, spare: number | undefined): Reading {
  const budget = new Budget(text.length, spare);
  const reading = new Reading(budget, known);
  const context = { reading, depth: 0, isUsed: false };
  if (budget.takes(text.length)) new ShellReader(text, context).readAll();
  return reading;
}
