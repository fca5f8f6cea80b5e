// The unified form of a difference between two texts, as `diff -u` and `git` write it.

import { type Change, compareLines } from './diff-lines.ts';

interface DiffOptions {
  readonly before: string;
  readonly after: string;
  /** The path to show, without the leading slash. */
  readonly name: string;
  /** Unchanged lines around a change. */
  readonly context?: number;
}

/** Changes that stand close together, with the lines around them. */
interface Hunk {
  readonly changes: Change[];
  readonly start: number;
  end: number;
}

/** Empty when the texts are the same. */
export function unifiedDiff({ before, after, name, context = 3 }: DiffOptions): string {
  if (before === after) return '';
  const left = splitLines(before);
  const right = splitLines(after);
  const hunks = groupChanges(compareLines(left, right), left.length, context);
  const shown = name.replace(/^\/+/, '');
  const output = [`--- a/${shown}\n`, `+++ b/${shown}\n`];
  for (const hunk of hunks) writeHunk(output, hunk, { left, right });
  return output.join('');
}

/** Each line with its end; a text that ends in a line break has no empty line behind it. */
function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  while (start < text.length) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

function groupChanges(changes: readonly Change[], total: number, context: number): Hunk[] {
  const hunks: Hunk[] = [];
  for (const change of changes) {
    const last = hunks.at(-1);
    const end = Math.min(total, change.leftEnd + context);
    if (last !== undefined && change.leftStart - context <= last.end) {
      last.changes.push(change);
      last.end = end;
    } else {
      hunks.push({ changes: [change], start: Math.max(0, change.leftStart - context), end });
    }
  }
  return hunks;
}

function writeHunk(
  output: string[],
  hunk: Hunk,
  { left, right }: { left: readonly string[]; right: readonly string[] },
): void {
  const [first] = hunk.changes;
  const rightStart = first === undefined ? 0 : first.rightStart - (first.leftStart - hunk.start);
  const grown = hunk.changes.reduce(
    (sum, one) => sum + (one.rightEnd - one.rightStart) - (one.leftEnd - one.leftStart),
    0,
  );
  const leftCount = hunk.end - hunk.start;
  const rightCount = leftCount + grown;
  output.push(`@@ -${range(hunk.start, leftCount)} +${range(rightStart, rightCount)} @@\n`);
  let at = hunk.start;
  for (const change of hunk.changes) {
    writeLines(output, ' ', left.slice(at, change.leftStart));
    writeLines(output, '-', left.slice(change.leftStart, change.leftEnd));
    writeLines(output, '+', right.slice(change.rightStart, change.rightEnd));
    at = change.leftEnd;
  }
  writeLines(output, ' ', left.slice(at, hunk.end));
}

/** Lines are counted from 1; an empty range names the line before it, and one line no count. */
function range(start: number, count: number): string {
  if (count === 1) return String(start + 1);
  return `${count === 0 ? start : start + 1},${count}`;
}

function writeLines(output: string[], sign: string, lines: readonly string[]): void {
  for (const line of lines) {
    output.push(sign, line);
    if (!line.endsWith('\n')) output.push('\n\\ No newline at end of file\n');
  }
}
