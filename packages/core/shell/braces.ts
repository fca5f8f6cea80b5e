// Lists in braces: `{a,b}`, `{1..3}`.
import type { Budget } from './budget.ts';
import { UNKNOWN, type Unit } from './unit.ts';

/** Lists that one word may become. */
const LISTS_MAX = 128;
const DEPTH_MAX = 64;
const SEQUENCE_UNITS_MAX = 32;
const SEQUENCE_MAX = 16;
const SEQUENCE = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/;

interface Expanded {
  readonly lists: readonly (readonly Unit[])[];
  /** False when there are more than the limits allow. */
  readonly isWhole: boolean;
}

/** `{a,b}c` → `ac`, `bc`; `{1..3}` → `1`, `2`, `3`. What is no such list stays as it is. */
export function expandBraces(units: readonly Unit[], budget: Budget): Expanded {
  const expander = new Expander(budget);
  const lists = expander.expand(units, 0);
  return { lists, isWhole: expander.left > 0 };
}

class Expander {
  left = LISTS_MAX;
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  expand(units: readonly Unit[], depth: number): readonly (readonly Unit[])[] {
    // The shortest list has two braces and something between them.
    if (units.length < 3 || this.left <= 0 || !this.#budget.takes(units.length)) return [units];
    const found = firstBrace(units);
    if (found === undefined) return [units];
    if (depth >= DEPTH_MAX) this.left = 0;
    const before = units.slice(0, found.start);
    const rests = this.expand(units.slice(found.end + 1), depth + 1);
    const expanded: (readonly Unit[])[] = [];
    for (const item of itemsOf(units, found)) {
      for (const middle of this.expand(item, depth + 1)) {
        for (const rest of rests) {
          const length = before.length + middle.length + rest.length;
          if (--this.left <= 0 || !this.#budget.takesText(length)) {
            return expanded.length === 0 ? [units] : expanded;
          }
          expanded.push([...before, ...middle, ...rest]);
        }
      }
    }
    return expanded;
  }
}

interface Brace {
  readonly start: number;
  readonly end: number;
  /** Where its own commas stand; a sequence has none. */
  readonly commas: readonly number[];
}

/** The first that is a list or a sequence, found in one go however many are open. */
function firstBrace(units: readonly Unit[]): Brace | undefined {
  const open: { readonly start: number; readonly commas: number[] }[] = [];
  let first: Brace | undefined;
  for (const [at, unit] of units.entries()) {
    if (unit.kind !== 'plain') continue;
    if (unit.text === '{') open.push({ start: at, commas: [] });
    else if (unit.text === ',') open.at(-1)?.commas.push(at);
    else if (unit.text === '}') {
      const closed = open.pop();
      if (closed === undefined) continue;
      const brace = { ...closed, end: at };
      const isFirst = first === undefined || brace.start < first.start;
      if (isFirst && isList(units, brace)) first = brace;
      if (first !== undefined && open.length === 0) return first;
    }
  }
  return first;
}

function isList(units: readonly Unit[], { start, end, commas }: Brace): boolean {
  if (commas.length > 0) return true;
  if (end - start - 1 > SEQUENCE_UNITS_MAX) return false;
  return sequenceIn(units.slice(start + 1, end)) !== undefined;
}

function itemsOf(
  units: readonly Unit[],
  { start, end, commas }: Brace,
): readonly (readonly Unit[])[] {
  if (commas.length > 0) {
    const starts = [start, ...commas.slice(0, LISTS_MAX)];
    return starts.map((at, index) => units.slice(at + 1, commas[index] ?? end));
  }
  const sequence = sequenceIn(units.slice(start + 1, end));
  return sequence === undefined ? [] : textsIn(sequence).map((text) => [{ kind: 'quoted', text }]);
}

interface Sequence {
  readonly isNumber: boolean;
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** Digits of each number, with zeros before it. */
  readonly width: number;
}

/** What stands between the braces of `{1..9}`, `{a..e..2}` or `{01..10}`. */
function sequenceIn(units: readonly Unit[]): Sequence | undefined {
  let text = '';
  for (const unit of units) {
    if (unit.kind !== 'plain') return undefined;
    text += unit.text;
  }
  const [, first = '', last = '', by = '1'] = SEQUENCE.exec(text) ?? [];
  const isNumber = /\d/.test(first) && /\d/.test(last);
  const isLetter = /[A-Za-z]/.test(first) && /[A-Za-z]/.test(last);
  if (!isNumber && !isLetter) return undefined;
  const from = isNumber ? Number(first) : first.charCodeAt(0);
  const to = isNumber ? Number(last) : last.charCodeAt(0);
  const step = Math.max(1, Math.abs(Number(by))) * (from <= to ? 1 : -1);
  const width = /^-?0\d|^-?\d+\.\.-?0\d/.test(text) ? Math.max(first.length, last.length) : 0;
  return { isNumber, from, to, step, width };
}

/** Of a long one, any part will do: its numbers or letters spell no name by themselves. */
function textsIn({ isNumber, from, to, step, width }: Sequence): readonly string[] {
  const texts: string[] = [];
  for (let at = from; step > 0 ? at <= to : at >= to; at += step) {
    if (texts.length >= SEQUENCE_MAX) return [UNKNOWN];
    const sign = at < 0 ? '-' : '';
    const digits = String(Math.abs(at)).padStart(width - sign.length, '0');
    texts.push(isNumber ? sign + digits : String.fromCharCode(at));
  }
  return texts;
}
