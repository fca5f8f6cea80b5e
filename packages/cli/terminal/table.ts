// Rows for people and for spreadsheets. Every cell is hostile text.
import { displayWidth, fitted, fittedInside, harmless } from './text.ts';

export type Cell = string | number | boolean | null;

export interface Column {
  readonly title: string;
  readonly right?: boolean;
  /** How narrow it may become; without it, its cells are never cut, as of ids and times. */
  readonly widthMin?: number;
  /** Its cells are cut inside, so that their ends are seen. */
  readonly showsEnd?: true;
  /** Columns that are not `leftOutLast` are left out before it becomes narrower than this. */
  readonly widthGood?: number;
  /** Left out where the others need the room, the highest number first; without it, never. */
  readonly dropped?: number;
  /** Left out only where the rest would not fit at its narrowest. */
  readonly leftOutLast?: true;
}

export interface TableOptions {
  /** Of the terminal; without bounds, nothing is cut or left out. */
  readonly width: number;
  /** May colour a whole line. */
  readonly paint?: (line: string, index: number) => string;
}

interface Sized {
  readonly column: Column;
  readonly cells: readonly string[];
  width: number;
}

const GAP = '  ';
const ALIGNED_MAX = 120;
/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Aligned columns, given by their titles or in detail, in lines that fit the terminal. */
export function tableText(
  columns: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  { width, paint = (line) => line }: TableOptions,
): string {
  const all = columns.map((given, index): Sized => {
    const column = typeof given === 'string' ? { title: given } : given;
    const cells = rows.map((row) => shownCell(row[index]));
    return { column, cells, width: widestOf([column.title, ...cells]) };
  });
  const shown = fittedColumns(all, width);
  const isCut = Number.isFinite(width);
  const isTooWide = isCut && total(shown.map((sized) => sized.width)) > width;
  const line = (cellOf: (sized: Sized) => string) => {
    const cells = shown.map((sized) => {
      const fit = sized.column.showsEnd === true ? fittedInside : fitted;
      const cell = isCut ? fit(cellOf(sized), sized.width) : cellOf(sized);
      // Where nothing is cut, one long cell does not widen all lines.
      const wanted = isCut ? sized.width : Math.min(sized.width, ALIGNED_MAX);
      const space = ' '.repeat(Math.max(0, wanted - displayWidth(cell)));
      return sized.column.right === true ? space + cell : cell + space;
    });
    const whole = cells.join(GAP).trimEnd();
    return isTooWide ? fitted(whole, width) : whole;
  };
  const lines = rows.map((_, index) =>
    paint(
      line(({ cells }) => cells[index] ?? ''),
      index,
    ),
  );
  return `${[line(({ column }) => column.title), ...lines].join('\n')}\n`;
}

function widestOf(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
}

/** Leaves out columns until the rest fits, then narrows the widest ones. */
function fittedColumns(all: readonly Sized[], width: number): readonly Sized[] {
  const isExtra = ({ column }: Sized) => column.leftOutLast !== true;
  const roomy = withoutDropped(all, { width, cellsOf: goodWidth, mayDrop: isExtra });
  const shown = withoutDropped(roomy, { width, cellsOf: narrowest, mayDrop: () => true });
  narrow(shown, width, goodWidth);
  narrow(shown, width, narrowest);
  return shown;
}

interface Dropping {
  readonly width: number;
  readonly cellsOf: (sized: Sized) => number;
  readonly mayDrop: (sized: Sized) => boolean;
}

function withoutDropped(
  all: readonly Sized[],
  { width, cellsOf, mayDrop }: Dropping,
): readonly Sized[] {
  let shown = all;
  while (total(shown.map(cellsOf)) > width) {
    const droppable = shown.filter((sized) => sized.column.dropped !== undefined && mayDrop(sized));
    const first = droppable.toSorted(byDrop)[0];
    if (first === undefined) break;
    shown = shown.filter((sized) => sized !== first);
  }
  return shown;
}

/** Narrows the widest columns first, none of them below `floorOf`. */
function narrow(shown: readonly Sized[], width: number, floorOf: (sized: Sized) => number): void {
  for (let over = total(shown.map((sized) => sized.width)) - width; over > 0; ) {
    const [widest, next] = shown
      .filter((sized) => sized.width > floorOf(sized))
      .toSorted((left, right) => right.width - left.width);
    if (widest === undefined) break;
    const down = Math.max(floorOf(widest), Math.min(next?.width ?? 0, widest.width - 1));
    const cut = Math.min(over, widest.width - down);
    widest.width -= cut;
    over -= cut;
  }
}

function byDrop(left: Sized, right: Sized): number {
  return (right.column.dropped ?? 0) - (left.column.dropped ?? 0);
}

function narrowest({ column, width }: Sized): number {
  return Math.min(width, column.widthMin ?? width);
}

function goodWidth(sized: Sized): number {
  return Math.min(sized.width, sized.column.widthGood ?? narrowest(sized));
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length);
}

function shownCell(cell: Cell | undefined): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  return harmless(String(cell));
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
