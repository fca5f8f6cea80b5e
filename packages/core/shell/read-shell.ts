// A command line → its words and commands.
import { Budget, type KnownOfLine, Reading, type ShellReading } from './reading.ts';
import { ShellReader } from './shell-reader.ts';
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

function readWith(text: string, known: KnownOfLine, spare: number | undefined): Reading {
  const budget = new Budget(text.length, spare);
  const reading = new Reading(budget, known);
  const context = { reading, depth: 0, isUsed: false };
  if (budget.takes(text.length)) new ShellReader(text, context).readAll();
  return reading;
}
