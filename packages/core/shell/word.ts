// One word of a command line in the pieces that it was written in, and the texts a shell makes of it.

/** Stands in a text for a part that only the running shell knows, such as `$(date)`. */
const UNKNOWN = '\0';

/** Where a value without quotes holds blanks, a shell makes several words of it. */
const SPLIT = '\uffff';

type Unit =
  /** As it stands; a sign that may be a part of `{a,b}` stands alone. */
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'quoted'; readonly text: string }
  /** A variable or a substitution, with every value that it may have. */
  | { readonly kind: 'value'; readonly texts: readonly string[]; readonly isQuoted: boolean };

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
const DEPTH_MAX = 16;
const SEQUENCE = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/;

/** Every text that a shell may make of a word: braces are expanded first, then values are put in. */
function textsOf(units: readonly Unit[]): WordTexts {
  const simple = simpleText(units);
  if (simple !== undefined) return { texts: [simple], isWhole: true };
  const limit = { left: TEXTS_MAX };
  const texts = new Set<string>();
  let charsLeft = CHARS_MAX;
  const { given, isAll } = fewChoices(units);
  for (const expanded of expandBraces(given, limit, 0)) {
    for (const text of combined(expanded)) {
      if (texts.size > 0) charsLeft -= text.length;
      if (texts.size >= TEXTS_MAX || charsLeft < 0) return { texts: [...texts], isWhole: false };
      if (!text.includes(SPLIT)) texts.add(text);
      else for (const part of splitOf(text)) texts.add(part);
    }
  }
  return { texts: [...texts], isWhole: isAll && limit.left > 0 };
}

/** Most words have neither values nor braces. */
function simpleText(units: readonly Unit[]): string | undefined {
  let text = '';
  for (const unit of units) {
    if (unit.kind === 'value' || isPlain(unit, '{')) return undefined;
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

/** The units put together, with each value of each unit in turn. */
function* combined(units: readonly Unit[], from = 0, start = ''): Generator<string> {
  let made = start;
  for (let at = from; at < units.length; at++) {
    const unit = units[at];
    if (unit === undefined) break;
    if (unit.kind !== 'value') made += unit.text;
    else if (unit.texts.length === 1) made += valueOf(unit, unit.texts[0] ?? '');
    else {
      for (const text of unit.texts) {
        yield* combined(units, at + 1, made + valueOf(unit, text));
      }
      return;
    }
  }
  yield made;
}

function valueOf({ isQuoted }: { readonly isQuoted: boolean }, text: string): string {
  return isQuoted ? text : text.replace(/[ \t\n]+/g, SPLIT);
}

interface Limit {
  left: number;
}

/** `{a,b}c` → `ac`, `bc`; `{1..3}` → `1`, `2`, `3`. What is no such list stays as it is. */
function expandBraces(
  units: readonly Unit[],
  limit: Limit,
  depth: number,
): readonly (readonly Unit[])[] {
  if (limit.left <= 0 || depth > DEPTH_MAX) return [units];
  const found = firstBrace(units);
  if (found === undefined) return [units];
  const { start, end, items } = found;
  const before = units.slice(0, start);
  const rests = expandBraces(units.slice(end + 1), limit, depth + 1);
  const expanded: (readonly Unit[])[] = [];
  for (const item of items) {
    for (const middle of expandBraces(item, limit, depth + 1)) {
      for (const rest of rests) {
        if (--limit.left <= 0) return expanded.length === 0 ? [units] : expanded;
        expanded.push([...before, ...middle, ...rest]);
      }
    }
  }
  return expanded;
}

interface Brace {
  readonly start: number;
  readonly end: number;
  readonly items: readonly (readonly Unit[])[];
}

function firstBrace(units: readonly Unit[]): Brace | undefined {
  let opens = 0;
  for (const [start, unit] of units.entries()) {
    if (!isPlain(unit, '{')) continue;
    if (++opens > TEXTS_MAX) return undefined;
    const closed = braceAt(units, start);
    if (closed !== undefined) return closed;
  }
  return undefined;
}

function braceAt(units: readonly Unit[], start: number): Brace | undefined {
  const items: (readonly Unit[])[] = [];
  let from = start + 1;
  let depth = 0;
  for (let at = start + 1; at < units.length; at++) {
    const unit = units[at];
    if (unit === undefined) break;
    if (isPlain(unit, '{')) depth++;
    else if (isPlain(unit, ',') && depth === 0) {
      items.push(units.slice(from, at));
      from = at + 1;
    } else if (isPlain(unit, '}') && depth-- === 0) {
      const last = units.slice(from, at);
      if (items.length > 0) return { start, end: at, items: [...items, last] };
      const sequence = sequenceOf(last);
      return sequence === undefined ? undefined : { start, end: at, items: sequence };
    }
  }
  return undefined;
}

function isPlain(unit: Unit, text: string): boolean {
  return unit.kind === 'plain' && unit.text === text;
}

function sequenceOf(units: readonly Unit[]): readonly (readonly Unit[])[] | undefined {
  if (!units.every(({ kind }) => kind === 'plain') || units.length > 32) return undefined;
  const text = units.map((unit) => (unit.kind === 'plain' ? unit.text : '')).join('');
  const [, first = '', last = '', by = '1'] = SEQUENCE.exec(text) ?? [];
  const isNumber = /\d/.test(first) && /\d/.test(last);
  const isLetter = /[A-Za-z]/.test(first) && /[A-Za-z]/.test(last);
  if (!isNumber && !isLetter) return undefined;
  const from = isNumber ? Number(first) : first.charCodeAt(0);
  const to = isNumber ? Number(last) : last.charCodeAt(0);
  const step = Math.max(1, Math.abs(Number(by))) * (from <= to ? 1 : -1);
  const width = /^-?0\d|^-?\d+\.\.-?0\d/.test(text) ? Math.max(first.length, last.length) : 0;
  const items: (readonly Unit[])[] = [];
  for (let at = from; step > 0 ? at <= to : at >= to; at += step) {
    if (items.length > TEXTS_MAX) break;
    const number = `${at < 0 ? '-' : ''}${String(Math.abs(at)).padStart(width - (at < 0 ? 1 : 0), '0')}`;
    const item = isNumber ? number : String.fromCharCode(at);
    items.push([{ kind: 'quoted', text: item }]);
  }
  return items;
}

export type { Unit };
export { SPLIT, textsOf, UNKNOWN };
