// One word of a command line in the pieces that it is written in, and the texts that a shell makes of
// it: braces are expanded first, then values are put in.
import type { Budget } from './reading.ts';

/** Stands in a text for a part that only the running shell knows, such as `$(date)`. */
export const UNKNOWN = '\0';

/** Stands where a shell splits an unquoted value into several words. */
export const SPLIT = '\uffff';

export type WordPiece =
  /** As it stands. A sign that may be a part of `{a,b}` is a piece of its own. */
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'quoted'; readonly text: string }
  /** A variable or a substitution, with every value that it may have. */
  | { readonly kind: 'value'; readonly texts: readonly string[]; readonly isQuoted: boolean };

type Pieces = readonly WordPiece[];

export interface WordTexts {
  readonly texts: readonly string[];
  /** False when there are more texts than the limits allow. */
  readonly isWhole: boolean;
}

const TEXTS_MAX = 128;
/** All texts of one word together, beyond the first. */
const CHARS_MAX = 32_768;
/** Lists that one word may become. */
const LISTS_MAX = 128;
const DEPTH_MAX = 64;
const SEQUENCE_PIECES_MAX = 32;
const SEQUENCE_MAX = 16;
const SEQUENCE = /^(?:(-?\d{1,9})\.\.(-?\d{1,9})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,9}))?$/;

/** Every text that a shell may make of a word. */
export function wordTexts(pieces: Pieces, budget: Budget): WordTexts {
  const simple = simpleText(pieces);
  if (simple !== undefined) return { texts: [simple], isWhole: true };
  const texts = new Set<string>();
  let charsLeft = CHARS_MAX;
  const { lists, isWhole } = expandBraces(pieces, budget);
  for (const list of lists) {
    for (const text of combinations(list, budget)) {
      if (texts.size > 0) charsLeft -= text.length;
      if (texts.size >= TEXTS_MAX || charsLeft < 0) return { texts: [...texts], isWhole: false };
      if (!text.includes(SPLIT)) texts.add(text);
      else for (const part of splitWords(text)) if (budget.takesText(part.length)) texts.add(part);
    }
  }
  return { texts: [...texts], isWhole };
}

/**
 * The words that one written word becomes, in each way that its values allow: lists in braces stand
 * one behind the other, and unquoted values are split at blanks.
 */
export function wordWays(
  pieces: Pieces,
  texts: readonly string[],
  budget: Budget,
): readonly (readonly string[])[] {
  if (pieces.every(({ kind }) => kind !== 'value') || texts[0] === UNKNOWN) return [texts];
  const isQuoted = pieces.some((piece) => piece.kind !== 'value' || piece.isQuoted);
  const expanded = expandBraces(pieces, budget);
  const ways = expanded.lists.map((list) =>
    combinations(list, budget).map((text) => {
      if (text === '' && !isQuoted) return [];
      return text.includes(SPLIT) ? text.split(SPLIT).filter((part) => part !== '') : [text];
    }),
  );
  const [first = [], more] = ways;
  if (more === undefined) return first;
  return ways.every((way) => way.length === 1)
    ? [ways.flatMap((way) => way[0] ?? [])]
    : texts.map((text) => [text]);
}

/** Most words have neither values nor lists in braces. */
function simpleText(pieces: Pieces): string | undefined {
  let text = '';
  let isOpen = false;
  for (const piece of pieces) {
    if (piece.kind === 'value') return undefined;
    if (isSign(piece, '{')) isOpen = true;
    else if (isOpen && isSign(piece, '}')) return undefined;
    text += piece.text;
  }
  return text;
}

function isSign(piece: WordPiece | undefined, sign: string): boolean {
  return piece?.kind === 'plain' && piece.text === sign;
}

function splitWords(text: string): readonly string[] {
  return [text.replaceAll(SPLIT, ' '), ...text.split(SPLIT).filter((part) => part !== '')];
}

/** The pieces put together with each value of each piece, until there are too many. */
function combinations(pieces: Pieces, budget: Budget): readonly string[] {
  let made: readonly string[] = [''];
  let run = '';
  for (const piece of pieces) {
    const [first = '', ...others] = piece.kind === 'value' ? valuesIn(piece) : [piece.text];
    if (others.length > 0) {
      made = continued(
        made,
        [first, ...others].map((text) => run + text),
        budget,
      );
      run = '';
    } else {
      if (!budget.takes(first.length + 1)) return made;
      run += first;
    }
  }
  return run === '' ? made : continued(made, [run], budget);
}

function valuesIn({ texts, isQuoted }: WordPiece & { readonly kind: 'value' }): readonly string[] {
  return isQuoted ? texts : texts.map((text) => text.replace(/[ \t\n]+/g, SPLIT));
}

/** Makes one text more than the limit where there are more. */
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

interface ExpandedBraces {
  readonly lists: readonly Pieces[];
  /** False when there are more lists than the limits allow. */
  readonly isWhole: boolean;
}

/** `{a,b}c` → `ac`, `bc`; `{1..3}` → `1`, `2`, `3`. Other braces stay as they are. */
function expandBraces(word: Pieces, budget: Budget): ExpandedBraces {
  let left = LISTS_MAX;
  const expand = (pieces: Pieces, depth: number): readonly Pieces[] => {
    // The shortest list has two braces and something between them.
    if (pieces.length < 3 || left <= 0 || !budget.takes(pieces.length)) return [pieces];
    const found = firstBrace(pieces);
    if (found === undefined) return [pieces];
    if (depth >= DEPTH_MAX) left = 0;
    const before = pieces.slice(0, found.start);
    const rests = expand(pieces.slice(found.end + 1), depth + 1);
    const expanded: Pieces[] = [];
    for (const middle of found.items.flatMap((item) => expand(item, depth + 1))) {
      for (const rest of rests) {
        const length = before.length + middle.length + rest.length;
        if (--left <= 0 || !budget.takesText(length)) {
          return expanded.length === 0 ? [pieces] : expanded;
        }
        expanded.push([...before, ...middle, ...rest]);
      }
    }
    return expanded;
  };
  return { lists: expand(word, 0), isWhole: left > 0 };
}

interface OpenBrace {
  readonly start: number;
  /** Where its own commas stand. */
  readonly commas: number[];
  /** It holds two dots, so that its next brace closes it even where it is no sequence. */
  hasDots: boolean;
}

interface BraceList {
  readonly start: number;
  readonly end: number;
  readonly items: readonly Pieces[];
}

/** The first list or sequence, found in one go however many braces are open. */
function firstBrace(pieces: Pieces): BraceList | undefined {
  const open: OpenBrace[] = [];
  let first: BraceList | undefined;
  for (const [at, piece] of pieces.entries()) {
    if (piece.kind !== 'plain') continue;
    const last = open.at(-1);
    if (piece.text === '{') open.push({ start: at, commas: [], hasDots: false });
    else if (last === undefined) continue;
    else if (piece.text === ',') last.commas.push(at);
    else if (piece.text === '}') {
      const items = itemsIn(pieces, last, at);
      // To bash, `{x},y}` is a list of `x}` and `y`: a brace without a comma closes no list.
      if (open.length > 1 || items !== undefined || last.hasDots) open.pop();
      const isFirst = first === undefined || last.start < first.start;
      if (isFirst && items !== undefined) first = { start: last.start, end: at, items };
      if (first !== undefined && open.length === 0) return first;
    } else if (/\.\../.test(piece.text)) last.hasDots = true;
    else if (piece.text.endsWith('..')) last.hasDots ||= !isSign(pieces[at + 1], '}');
  }
  return first;
}

function itemsIn(
  pieces: Pieces,
  { start, commas }: OpenBrace,
  end: number,
): readonly Pieces[] | undefined {
  if (commas.length > 0) {
    const starts = [start, ...commas.slice(0, LISTS_MAX)];
    return starts.map((at, index) => pieces.slice(at + 1, commas[index] ?? end));
  }
  if (end - start - 1 > SEQUENCE_PIECES_MAX) return undefined;
  const texts = sequenceTexts(pieces.slice(start + 1, end));
  return texts?.map((text) => [{ kind: 'quoted', text }]);
}

/** What `{1..9}`, `{a..e..2}` or `{01..10}` stands for, by the pieces between its braces. */
function sequenceTexts(pieces: Pieces): readonly string[] | undefined {
  if (pieces.some(({ kind }) => kind !== 'plain')) return undefined;
  const written = pieces.map((piece) => (piece.kind === 'plain' ? piece.text : '')).join('');
  const [, low, high = '', first, last = '', by = '1'] = SEQUENCE.exec(written) ?? [];
  if (low === undefined && first === undefined) return undefined;
  const from = low === undefined ? (first ?? '').charCodeAt(0) : Number(low);
  const to = low === undefined ? last.charCodeAt(0) : Number(high);
  const step = Math.max(1, Math.abs(Number(by))) * (from <= to ? 1 : -1);
  const isPadded = /^-?0\d|^-?\d+\.\.-?0\d/.test(written);
  const width = isPadded ? Math.max(low?.length ?? 0, high.length) : 0;
  const texts: string[] = [];
  for (let at = from; step > 0 ? at <= to : at >= to; at += step) {
    // Of a long sequence any part will do: its numbers or letters spell no name by themselves.
    if (texts.length >= SEQUENCE_MAX) return [UNKNOWN];
    const sign = at < 0 ? '-' : '';
    const digits = String(Math.abs(at)).padStart(width - sign.length, '0');
    texts.push(low === undefined ? String.fromCharCode(at) : sign + digits);
  }
  return texts;
}

/** The unquoted text that a word begins with: most often one piece. */
export function plainStart(pieces: Pieces): string {
  let start = '';
  for (const piece of pieces) {
    if (piece.kind !== 'plain') break;
    start += piece.text;
  }
  return start;
}

/** The word that ends a here-document: no shell expands it, and its quotes are left out. */
export function heredocDelimiter(pieces: Pieces, written: string): string {
  let end = '';
  for (const piece of pieces) {
    if (piece.kind === 'value') return written.replace(/["'\\]/g, '');
    end += piece.text;
  }
  return end;
}
