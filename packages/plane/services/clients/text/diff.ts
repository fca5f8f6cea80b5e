// The unified form of a difference between two texts, as `diff -u` and `git` write it.
import { structuredPatch } from 'diff';

interface DiffOptions {
  readonly before: string;
  readonly after: string;
  /** The path to show. */
  readonly name: string;
  /** Unchanged lines around a change. */
  readonly context?: number;
}

/** So many lines may be added and removed before all of it is one change: the time grows with the square. */
const EDIT_LENGTH_MAX = 600;

/** Empty when the texts are the same. */
export function unifiedDiff({ before, after, name, context = 3 }: DiffOptions): string {
  if (before === after) return '';
  const limits = { context, maxEditLength: EDIT_LENGTH_MAX };
  const patch = structuredPatch('', '', before, after, '', '', limits);
  const path = name.replace(/^\/+/, '');
  const hunks = patch?.hunks ?? [wholeHunk(before, after)];
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: changed }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...changed,
  ]);
  return [`--- a/${path}`, `+++ b/${path}`, ...lines, ''].join('\n');
}

/** Lines are counted from 1; an empty range names the line before it, and one line needs no count. */
function range(start: number, count: number): string {
  if (count === 1) return String(start);
  return `${count === 0 ? start - 1 : start},${count}`;
}

function wholeHunk(before: string, after: string) {
  const [removed, added] = [signedLines(before, '-'), signedLines(after, '+')];
  const count = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('\\')).length;
  const counts = { oldLines: count(removed), newLines: count(added) };
  return { oldStart: 1, newStart: 1, ...counts, lines: [...removed, ...added] };
}

function signedLines(text: string, sign: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else lines.push('\\ No newline at end of file');
  return lines.map((line, at) =>
    text.endsWith('\n') || at < lines.length - 1 ? sign + line : line,
  );
}
