// A command line → its words and commands.
import { Budget } from './budget.ts';
import { Reading, type ShellReading } from './reading.ts';
import { ShellReader } from './shell-reader.ts';
import { SPLIT, UNKNOWN } from './unit.ts';

/** What every shell has set, and what is used to write a blank that does not look like one. */
const PRESET: ReadonlyMap<string, readonly string[]> = new Map([['IFS', [' ']]]);

/** Reads a command line. Never throws, and reads and makes no more than a few times its length. */
function readShell(given: string): ShellReading {
  // A shell drops NUL; we mark with both what is not known, and where a value is split.
  const text = given.replaceAll(UNKNOWN, '').replaceAll(SPLIT, '');
  const first = readWith(text, PRESET);
  // What was set behind its use may be used again: in a loop, or in a function.
  const isSettled = !first.isDynamic || !first.isWhole || first.variables.size === PRESET.size;
  return isSettled ? first : readWith(text, first.variables);
}

function readWith(text: string, variables: Reading['variables']): Reading {
  const budget = new Budget(text.length);
  const reading = new Reading(budget, variables);
  const place = { reading, depth: 0, isUsed: false };
  if (budget.takes(text.length)) new ShellReader(text, place).readAll();
  return reading;
}

export { readShell };
