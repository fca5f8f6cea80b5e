// A command line → its words and commands.
import { Budget } from './budget.ts';
import { type Known, Reading, type ShellReading } from './reading.ts';
import { ShellReader } from './shell-reader.ts';
import { SPLIT, UNKNOWN } from './unit.ts';

/** What every shell has set, and what is used to write a blank that does not look like one. */
const PRESET: Known = {
  variables: new Map([['IFS', [' ']]]),
  isRedefined: false,
  isFirst: true,
};

/**
 * Reads a command line. Never throws, and reads and makes no more than a few times its length and
 * `spare` characters: who reads very many lines gives them less than each may have.
 */
export function readShell(given: string, spare?: number): ShellReading {
  // A shell drops NUL; we mark with both what is not known, and where a value is split.
  const text = given.replaceAll(UNKNOWN, '').replaceAll(SPLIT, '');
  const first = readWith(text, PRESET, spare);
  if (!first.isWhole) return first;
  const { known } = first;
  // What was set behind its use may be used again: in a loop, or in a function.
  const hasValues = first.isDynamic && known.variables.size > PRESET.variables.size;
  return hasValues || known.isRedefined ? readWith(text, known, spare) : first;
}

function readWith(text: string, known: Known, spare: number | undefined): Reading {
  const budget = new Budget(text.length, spare);
  const reading = new Reading(budget, known);
  const place = { reading, depth: 0, isUsed: false };
  if (budget.takes(text.length)) new ShellReader(text, place).readAll();
  return reading;
}
