// One word of a command line in the pieces that it was written in, and the texts a shell makes of it.
import { expandBraces } from './braces.ts';
import type { Budget } from './budget.ts';
import { SPLIT, type Unit } from './unit.ts';

export interface WordTexts {
  readonly texts: readonly string[];
  /** False when there are more than the limit. */
  readonly isWhole: boolean;
}

const TEXTS_MAX = 128;
/** Parts of one word that have several values. */
const CHOICES_MAX = 12;
/** All texts of one word together, beyond the first. */
const CHARS_MAX = 32_768;

/** Every text that a shell may make of a word: braces are expanded first, then values are put in. */
export function textsOf(units: readonly Unit[], budget: Budget): WordTexts {
  const simple = simpleText(units);
  if (simple !== undefined) return { texts: [simple], isWhole: true };
  const texts = new Set<string>();
  let charsLeft = CHARS_MAX;
  const { given, isAll } = fewChoices(units);
  const { lists, isWhole } = expandBraces(given, budget);
  for (const list of lists) {
    for (const text of combined(list, budget)) {
      if (texts.size > 0) charsLeft -= text.length;
      if (texts.size >= TEXTS_MAX || charsLeft < 0) return { texts: [...texts], isWhole: false };
      if (!text.includes(SPLIT)) texts.add(text);
      else for (const part of splitOf(text)) if (budget.takesText(part.length)) texts.add(part);
    }
  }
  return { texts: [...texts], isWhole: isAll && isWhole };
}

/** Most words have neither values nor lists in braces. */
function simpleText(units: readonly Unit[]): string | undefined {
  let text = '';
  let isOpen = false;
  for (const unit of units) {
    if (unit.kind === 'value') return undefined;
    if (unit.kind === 'plain' && unit.text === '{') isOpen = true;
    else if (isOpen && unit.kind === 'plain' && unit.text === '}') return undefined;
    text += unit.text;
  }
  return text;
}

/** Of the parts with several values, those beyond the limit keep their first one. */
function fewChoices(units: readonly Unit[]): { given: readonly Unit[]; isAll: boolean } {
  let choices = 0;
  const given = units.map((unit): Unit => {
    if (unit.kind !== 'value' || unit.texts.length < 2 || ++choices <= CHOICES_MAX) return unit;
    return { ...unit, texts: unit.texts.slice(0, 1) };
  });
  return choices <= CHOICES_MAX ? { given: units, isAll: true } : { given, isAll: false };
}

function splitOf(text: string): readonly string[] {
  return [text.replaceAll(SPLIT, ' '), ...text.split(SPLIT).filter((part) => part !== '')];
}

/** The units put together, with each value of each unit, until there are too many. */
function combined(units: readonly Unit[], budget: Budget): readonly string[] {
  let made: readonly string[] = [''];
  let run = '';
  for (const unit of units) {
    if (unit.kind === 'value' && unit.texts.length > 1) {
      const ends = unit.texts.map((text) => run + valueOf(unit, text));
      made = continued(made, ends, budget);
      run = '';
    } else {
      const piece = unit.kind === 'value' ? valueOf(unit, unit.texts[0] ?? '') : unit.text;
      if (!budget.takes(piece.length + 1)) return made;
      run += piece;
    }
  }
  return run === '' ? made : continued(made, [run], budget);
}

/** One more than the limit says that there are more. */
function continued(
  starts: readonly string[],
  ends: readonly string[],
  budget: Budget,
): readonly string[] {
  const made = new Set<string>();
  for (const start of starts) {
    for (const end of ends) {
      if (made.size > TEXTS_MAX || !budget.takesText(start.length + end.length)) return [...made];
      made.add(start + end);
    }
  }
  return [...made];
}

function valueOf({ isQuoted }: { readonly isQuoted: boolean }, text: string): string {
  return isQuoted ? text : text.replace(/[ \t\n]+/g, SPLIT);
}

/** What stands at the start of a word as it is: most often one piece. */
export function plainStart(units: readonly Unit[]): string {
  let start = '';
  for (const unit of units) {
    if (unit.kind !== 'plain') break;
    start += unit.text;
  }
  return start;
}

/** The word that ends a here-document: no shell expands it, and its quotes are left out. */
export function delimiterOf(units: readonly Unit[], written: string): string {
  let end = '';
  for (const unit of units) {
    if (unit.kind === 'value') return written.replace(/["'\\]/g, '');
    end += unit.text;
  }
  return end;
}
