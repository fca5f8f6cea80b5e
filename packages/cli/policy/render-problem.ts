// A problem of a bundle as a person wants to see it: the line an editor can jump to, then the source
// with a caret under the place.
import type { Problem } from '@subluminal/core/policy';
import type { Colors } from '../terminal/io.ts';
import { displayWidth, harmless, harmlessAround } from '../terminal/text.ts';

interface RenderOptions {
  /** The lines of the file; empty when it could not be read as text. */
  readonly lines: readonly string[];
  readonly colors: Colors;
  readonly columns: number;
}

const CONTEXT_BEFORE = 24;
const EXCERPT_COLUMNS_MAX = 160;

export function renderProblem(problem: Problem, options: RenderOptions): string {
  const { colors } = options;
  const { file, position, level, message, fix, code } = problem;
  const place = colors.bold(harmless(`${file}:${position.line}:${position.column}:`));
  const word = levelColor(level, colors)(`${level}:`);
  const head = `${place} ${word} ${harmless(sentence(message))} ${harmless(fix)} ${colors.dim(`[${code}]`)}\n`;
  return head + excerpt(problem, options);
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

function levelColor(level: Problem['level'], colors: Colors): (text: string) => string {
  if (level === 'error') return colors.red;
  return level === 'warning' ? colors.yellow : colors.cyan;
}

function excerpt({ level, position }: Problem, { lines, colors, columns }: RenderOptions): string {
  const line = lines[position.line - 1];
  if (line === undefined || !/\S/.test(line)) return '';
  const number = String(position.line);
  const widthMax = Math.min(columns, EXCERPT_COLUMNS_MAX) - number.length - 6;
  const gutter = ' '.repeat(number.length);
  const { shown, caretAt } = cutOut(line, position.column - 1, widthMax);
  const caret = levelColor(level, colors)(`${' '.repeat(caretAt)}^`);
  const bar = colors.dim('|');
  return `  ${colors.dim(number)} ${bar} ${shown}\n  ${gutter} ${bar} ${caret}\n`;
}

/** The part of a line around a place, on one row of the terminal. */
function cutOut(
  line: string,
  column: number,
  widthMax: number,
): { readonly shown: string; readonly caretAt: number } {
  const start = line.length <= widthMax ? 0 : Math.max(0, column - CONTEXT_BEFORE);
  // A line may be as long as the file, and each character takes at least one column.
  const window = line.slice(start, column + EXCERPT_COLUMNS_MAX);
  // A tab is as wide as the terminal likes, which would misplace the caret.
  const place = flat(window.slice(0, column - start)).length;
  const [before, after] = harmlessAround(flat(window), place);
  const lead = (start > 0 ? '…' : '') + before;
  const room = Math.max(8, widthMax - displayWidth(lead));
  const shown = displayWidth(after) <= room ? after : `${after.slice(0, room - 1)}…`;
  return { shown: lead + shown, caretAt: displayWidth(lead) };
}

function flat(text: string): string {
  return text.replaceAll('\t', '  ');
}
