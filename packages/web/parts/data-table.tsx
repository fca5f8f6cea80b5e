// A table of any length: only the rows that can be seen are in the document. j and k move, Enter opens.
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from 'react';
import { useShortcut } from './shortcuts.ts';
import { useWindowWidth } from './window-width.ts';

export const ROW_HEIGHT = 28;
const OVERSCAN = 12;

export interface TableColumn<R> {
  readonly id: string;
  readonly title: string;
  /** A track of a CSS grid: `120px`, `minmax(80px, 1fr)`. */
  readonly width: string;
  readonly align?: 'right';
  /** Left out in a window that is narrower, in px. */
  readonly hiddenBelow?: number;
  readonly cell: (row: R) => ReactNode;
}

interface DataTableProps<R> {
  readonly label: string;
  readonly columns: readonly TableColumn<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  /** The key of the row whose detail is open. */
  readonly selected?: string | undefined;
  readonly onOpen: (row: R) => void;
  /** Called when the last row comes into view. */
  readonly onEnd?: () => void;
  readonly scroller?: RefObject<HTMLDivElement | null>;
  /** Instead of rows, when there are none. */
  readonly empty?: ReactNode;
}

export function DataTable<R>(props: DataTableProps<R>) {
  const { label, rows, rowKey, selected, onOpen, onEnd, empty } = props;
  const windowWidth = useWindowWidth();
  const columns = props.columns.filter(({ hiddenBelow = 0 }) => windowWidth >= hiddenBelow);
  const own = useRef<HTMLDivElement>(null);
  const scroller = props.scroller ?? own;
  // The row that keys have reached; an open one counts until then.
  const [reached, setReached] = useState<string>();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= 0 && last === rows.length - 1) onEnd?.();
  }, [last, rows.length, onEnd]);

  const move = (step: number) => {
    const at = rows.findIndex((row) => rowKey(row) === (reached ?? selected));
    const next = Math.min(rows.length - 1, Math.max(0, at + step));
    const row = rows[next];
    if (row === undefined) return;
    virtual.scrollToIndex(next);
    setReached(rowKey(row));
    // A panel that is open follows.
    if (selected !== undefined) onOpen(row);
  };
  useShortcut('j', () => move(1));
  useShortcut('k', () => move(-1));
  useShortcut('Enter', () => {
    const row = rows.find((one) => rowKey(one) === reached);
    if (row !== undefined) onOpen(row);
  });

  const grid = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') };
  return (
    <div ref={scroller} className="h-full overflow-auto">
      <div role="grid" aria-label={label} aria-rowcount={rows.length + 1}>
        <Head columns={columns} grid={grid} />
        {rows.length === 0 && empty}
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const key = rowKey(row);
            const open = () => {
              setReached(key);
              onOpen(row);
            };
            const state = { isSelected: key === selected, isReached: key === reached };
            const style = { ...grid, transform: `translateY(${start}px)`, height: ROW_HEIGHT };
            return (
              <Row
                key={key}
                {...{ name: key, row, columns, index, style, onOpen: open }}
                {...state}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface HeadProps<R> {
  readonly columns: readonly TableColumn<R>[];
  readonly grid: CSSProperties;
}

function Head<R>({ columns, grid }: HeadProps<R>) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      style={grid}
      className="sticky top-0 z-10 grid h-7 items-center gap-2 border-b border-line bg-raised px-3 text-12 text-dim"
    >
      {columns.map(({ id, title, align }) => (
        <div key={id} role="columnheader" className={align === 'right' ? 'text-right' : ''}>
          {title}
        </div>
      ))}
    </div>
  );
}

interface RowProps<R> {
  readonly name: string;
  readonly row: R;
  readonly columns: readonly TableColumn<R>[];
  readonly index: number;
  readonly style: CSSProperties;
  readonly isSelected: boolean;
  readonly isReached: boolean;
  readonly onOpen: () => void;
}

function Row<R>({ name, row, columns, index, style, isSelected, isReached, onOpen }: RowProps<R>) {
  const look = isSelected ? 'bg-selected' : 'hover:bg-hover';
  const ring = isReached ? 'outline-2 -outline-offset-2 outline-accent' : '';
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-row={name}
      tabIndex={-1}
      style={style}
      className={`absolute top-0 left-0 grid w-full cursor-pointer items-center gap-2 border-b border-line px-3 ${look} ${ring}`}
      onClick={onOpen}
      onKeyDown={({ key }) => key === 'Enter' && onOpen()}
    >
      {columns.map(({ id, align, cell }) => (
        <div
          key={id}
          role="gridcell"
          className={`min-w-0 truncate ${align === 'right' ? 'text-right' : ''}`}
        >
          {cell(row)}
        </div>
      ))}
    </div>
  );
}
