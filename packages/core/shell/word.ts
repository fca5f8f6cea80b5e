// One word of a command line in the pieces that it was written in, and the texts a shell makes of it.
import { expandBraces } from './braces.ts';
import type { Budget } from './budget.ts';
import { SPLIT, type Unit } from './unit.ts';

interface WordTexts {
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
function textsOf(units: readonly Unit[], budget: Budget): WordTexts {
  const simple = simpleText(units);
  if (simple !== undefined) return { texts: [simple], isWhole: true };
  const texts = new Set<string>();
  let charsLeft = CHARS_MAX;
  const { given, isAll } = fewChoices(units);
  const { lists, isWhole } = expandBraces(given, budget);
  for (const list of lists) {
    for (const text of combined(list, { budget, from: 0, start: '' })) {
      if (texts.size > 0) charsLeft -= text.length;
      if (texts.size >= TEXTS_MAX || charsLeft < 0) return { texts: [...texts], isWhole: false };
      if (!text.includes(SPLIT)) texts.add(text);
      else for (const part of splitOf(text)) if (budget.takesText(part.length)) texts.add(part);
    }
  }
  return { texts: [...texts], isWhole: isAll && isWhole };
}

/** Most words have neither values nor braces. */
function simpleText(units: readonly Unit[]): string | undefined {
  let text = '';
  for (const unit of units) {
    if (unit.kind === 'value' || (unit.kind === 'plain' && unit.text === '{')) return undefined;
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

interface Combining {
  readonly budget: Budget;
  readonly from: number;
  readonly start: string;
}

/** The units put together, with each value of each unit in turn, until the budget is spent. */
function* combined(units: readonly Unit[], { budget, from, start }: Combining): Generator<string> {
  let made = start;
  for (let at = from; at < units.length; at++) {
    const unit = units[at];
    if (unit === undefined) break;
    if (unit.kind === 'value' && unit.texts.length > 1) {
      for (const value of unit.texts) {
        if (!budget.takesText(made.length + value.length)) return;
        yield* combined(units, { budget, from: at + 1, start: made + valueOf(unit, value) });
      }
      return;
    }
    const piece = unit.kind === 'value' ? valueOf(unit, unit.texts[0] ?? '') : unit.text;
    if (!budget.takes(piece.length + 1)) return;
    made += piece;
  }
  yield made;
}

function valueOf({ isQuoted }: { readonly isQuoted: boolean }, text: string): string {
  return isQuoted ? text : text.replace(/[ \t\n]+/g, SPLIT);
}

export { textsOf };
