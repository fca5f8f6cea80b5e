// Text on its way to a terminal. File names, rule ids and arguments come from others, so nothing in
// them may move the cursor, change colours or reorder what is read.
import { harmless, harmlessAround, harmlessJson } from '@subluminal/core/visible';
import type { Colors } from './io.ts';

export { plural } from '@subluminal/core/plural';

/** JSON for programs; what acts on a terminal or a build server is escaped there as well. */
export function jsonText(value: unknown): string {
  return `${harmlessJson(JSON.stringify(value, null, 2))}\n`;
}

/** A line of text from others. */
export function harmlessLine(text: string): string {
  return `${harmless(text)}\n`;
}

/** At most this many characters, with an ellipsis where something was cut. */
export function shortened(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, Math.max(0, lengthMax - 1))}…`;
}

/** By their script, or by their form: CJK punctuation and the full-width letters. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
/** Of those scripts, but made for one cell. */
const HALF_WIDTH = /[\uff61-\uffdc]/;

const PLAIN = /^[\x20-\x7e]*$/;

/** How many cells of a terminal a harmless text takes. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const char of text) {
    if (/\p{M}/u.test(char)) continue;
    width += WIDE.test(char) && !HALF_WIDTH.test(char) ? 2 : 1;
  }
  return width;
}

// Text in a given number of cells of a terminal. Names and reasons come from others: made harmless
// first, then measured, because an escape is longer than what it stands for.

const CUT = '…';
/** A base may carry many marks in one cell; more than this is cut off with the cell. */
const MARKS_PER_CELL_MAX = 8;
/** Where there is no terminal, a line may be as long as this. */
const LENGTH_MAX = 8_192;
/** Of the longest escape. */
const UNIT_LENGTH_MAX = 10;
/** One of our escapes, or a character with the marks on it. */
const UNIT = /\\u\{[0-9a-f]+\}|\P{M}\p{M}*|\p{M}/gu;

/** Harmless, and at most so many cells wide; no escape and no wide character is shown in part. */
export function fitted(text: string, cellsMax: number): string {
  if (cellsMax <= 0) return '';
  const lengthMax = Math.min(LENGTH_MAX, cellsMax * MARKS_PER_CELL_MAX);
  const isWhole = text.length <= lengthMax;
  const shown = harmless(isWhole ? text : text.slice(0, lengthMax));
  return isWhole && displayWidth(shown) <= cellsMax ? shown : cut(shown, cellsMax);
}

function cut(text: string, cellsMax: number): string {
  const room = cellsMax - displayWidth(CUT);
  let cells = 0;
  let end = 0;
  for (const [unit] of text.matchAll(UNIT)) {
    cells += displayWidth(unit);
    if (cells > room) break;
    end += unit.length;
  }
  return text.slice(0, end) + CUT;
}

/** The same, with its end: a cut path without its last name says little. */
export function fittedInside(text: string, cellsMax: number): string {
  const whole = harmless(text.slice(0, LENGTH_MAX));
  if (displayWidth(whole) <= cellsMax) return fitted(text, cellsMax);
  const head = fitted(whole, Math.ceil(cellsMax / 3));
  const room = cellsMax - displayWidth(head);
  let cells = 0;
  let start = whole.length;
  for (const [unit] of [...whole.matchAll(UNIT)].toReversed()) {
    cells += displayWidth(unit);
    if (cells > room || unit.length > UNIT_LENGTH_MAX) break;
    start -= unit.length;
  }
  return head + whole.slice(start);
}

/** Fitted, and filled up with spaces to exactly that width. */
export function padded(text: string, cells: number, side: 'left' | 'right' = 'left'): string {
  const shown = fitted(text, cells);
  const space = ' '.repeat(Math.max(0, cells - displayWidth(shown)));
  return side === 'left' ? shown + space : space + shown;
}

const COLOR_CODES = /\u001b\[[0-9;]*m/g;

/** Breaks at spaces, so that no line is wider than that; a single long word stays whole. */
export function wrapped(text: string, widthMax: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && displayWidth(longer.replace(COLOR_CODES, '')) > widthMax) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

const HANGING_WIDTH_MIN = 24;

/** A text beside its head, wrapped to the terminal; further lines begin below the first. */
export function hanging(head: string, text: string, columns: number): readonly string[] {
  const indent = displayWidth(head.replace(COLOR_CODES, ''));
  const lines = wrapped(harmless(text), Math.max(HANGING_WIDTH_MIN, columns - indent));
  return lines.map((line, index) => (index === 0 ? head : ' '.repeat(indent)) + line);
}

/** Colours lines by their first sign: `!` is severe, `~` and `?` are uncertain. */
export function paintedBySign(text: string, { red, yellow }: Colors): string {
  const paint = (line: string) => {
    if (line.startsWith('!')) return red(line);
    return /^[~?]/.test(line) ? yellow(line) : line;
  };
  return text.split('\n').map(paint).join('\n');
}

/** A tab moves no further than a space does; spelled out it hides how a file is written. */
export function harmlessTabbed(text: string): string {
  return text.split('\t').map(harmless).join('\t');
}

/** A harmless line of a unified diff. */
export function paintedDiffLine(line: string, { green, red, cyan }: Colors): string {
  if (line.startsWith('+')) return green(line);
  if (line.startsWith('-')) return red(line);
  return line.startsWith('@@') ? cyan(line) : line;
}

const SIZE_UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
const SIZE_STEP = 1_024;

export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= SIZE_STEP && unit < SIZE_UNITS.length - 1) {
    size /= SIZE_STEP;
    unit++;
  }
  const shown = unit === 0 || size >= 10 ? Math.round(size) : size.toFixed(1);
  return `${shown} ${SIZE_UNITS[unit] ?? ''}`;
}

const SECOND = { name: 's', ms: 1_000 };
const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  SECOND,
];

/** In the largest unit up to hours that leaves nothing over. */
export function durationText(durationMs: number): string {
  const unit = UNITS.slice(1).find(({ ms }) => durationMs >= ms && durationMs % ms === 0);
  return unit === undefined ? `${durationMs} ms` : `${durationMs / unit.ms} ${unit.name}`;
}

/** In the largest unit that there is at least one of. */
export function ageText(ageMs: number): string {
  const unit = UNITS.find(({ ms }) => ageMs >= ms) ?? SECOND;
  return `${Math.max(0, Math.floor(ageMs / unit.ms))} ${unit.name}`;
}

const MINUTE_MS = 60_000;

/** The local time in the form of ISO 8601; empty for a time that no calendar has. */
export function localIso(at: Date): string {
  const localMs = at.getTime() - at.getTimezoneOffset() * MINUTE_MS;
  return Number.isNaN(localMs) ? '' : new Date(localMs).toISOString();
}

export { harmless, harmlessAround };
