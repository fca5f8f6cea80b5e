// Rows for people and for spreadsheets. Every cell is hostile text.
import { displayWidth, harmless, shortened } from './text.ts';

export type Cell = string | number | boolean | null;

export interface Column {
  readonly title: string;
  readonly right?: boolean;
  readonly lengthMax?: number;
}

const CELL_LENGTH_MAX = 40;
const GAP = '  ';
/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Aligned columns, given by their titles or in detail; `paint` may colour a whole line. */
export function tableText(
  titlesOrColumns: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  paint: (line: string, index: number) => string = (line) => line,
): string {
  const columns: readonly Column[] = titlesOrColumns.map((one) =>
    typeof one === 'string' ? { title: one } : one,
  );
  const shown = rows.map((row) => columns.map((column, index) => shownCell(row[index], column)));
  const titles = columns.map(({ title }) => title);
  const widths = columns.map((_, index) =>
    Math.max(...[titles, ...shown].map((row) => displayWidth(row[index] ?? ''))),
  );
  const line = (row: readonly string[]) => {
    const cells = row.map((text, index) => {
      const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - displayWidth(text)));
      return columns[index]?.right === true ? space + text : text + space;
    });
    return cells.join(GAP).trimEnd();
  };
  const lines = shown.map((row, index) => paint(line(row), index));
  return `${[line(titles), ...lines].join('\n')}\n`;
}

function shownCell(cell: Cell | undefined, { lengthMax = CELL_LENGTH_MAX }: Column): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  return shortened(harmless(shortened(String(cell), lengthMax)), lengthMax);
}

/** RFC 4180, with a quote in front of what a spreadsheet would take for a formula. */
export function csvText(titles: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = harmless(FORMULA.test(cell) ? `'${cell}` : cell);
  return /[",\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
