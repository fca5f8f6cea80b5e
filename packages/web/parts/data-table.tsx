// A table of any length: only the rows that can be seen are in the document. j and k move, Enter opens.
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useShortcut } from './shortcuts.ts';
import { useRoomWidth } from './window-width.ts';

const ROW_HEIGHT = 28;
const OVERSCAN = 12;
/** More rows are asked for before the last one is seen. */
const ROWS_AHEAD = 100;

export interface TableColumn<R> {
  readonly id: string;
  readonly title: string;
  /** A track of a CSS grid: `120px`, `minmax(80px, 1fr)`. */
  readonly width: string;
  readonly align?: 'right';
  /** Left out in a window that is narrower, in px; a panel beside the view takes its part of it. */
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
  /** Called when keys or a click come to a row. */
  readonly onReach?: (row: R) => void;
  /** Called when the last rows come near. */
  readonly onEnd?: () => void;
  readonly scroller?: RefObject<HTMLDivElement | null>;
  /** Instead of rows, when there are none. */
  readonly empty?: ReactNode;
}

export function DataTable<R>(props: DataTableProps<R>) {
  const { label, rows, rowKey, selected, onOpen, onReach, onEnd, empty } = props;
  const columns = useShownColumns(props.columns);
  const own = useRef<HTMLDivElement>(null);
  const scroller = props.scroller ?? own;
  // The row that keys have reached; an open one counts until then.
  const [reached, setReached] = useState<string>();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    // A frame that is late must not hold up the next one.
    useFlushSync: false,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= 0 && last >= rows.length - ROWS_AHEAD) onEnd?.();
  }, [last, rows.length, onEnd]);

  const reach = (row: R) => {
    setReached(rowKey(row));
    onReach?.(row);
  };
  const goTo = (index: number) => {
    const row = rows[index];
    if (row === undefined) return;
    virtual.scrollToIndex(index);
    reach(row);
    // A panel that is open follows.
    if (selected !== undefined) onOpen(row);
  };
  useRowKeys({
    indexOf: () => rows.findIndex((row) => rowKey(row) === (reached ?? selected)),
    onMove: (index) => goTo(Math.min(rows.length - 1, Math.max(0, index))),
    onEnter: () => {
      const row = rows.find((one) => rowKey(one) === reached);
      if (row !== undefined) onOpen(row);
    },
  });
  const openRow = useStable((row: R) => {
    reach(row);
    onOpen(row);
  });

  const tracks = columns.map(({ width }) => width).join(' ');
  return (
    <div ref={scroller} className="h-full overflow-auto">
      <div role="grid" aria-label={label} aria-rowcount={rows.length + 1}>
        <Head columns={columns} tracks={tracks} />
        {rows.length === 0 && empty}
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const key = rowKey(row);
            const state = { isSelected: key === selected, isReached: key === reached };
            const shown = { row, columns, onOpen: openRow, index, start, tracks };
            return <Row key={key} name={key} {...shown} {...state} />;
          })}
        </div>
      </div>
    </div>
  );
}

function useRowKeys(keys: {
  readonly indexOf: () => number;
  readonly onMove: (index: number) => void;
  readonly onEnter: () => void;
}): void {
  useShortcut('j', () => keys.onMove(keys.indexOf() + 1));
  useShortcut('k', () => keys.onMove(keys.indexOf() - 1));
  useShortcut('Enter', keys.onEnter);
}

/** Those that the window has room for. */
function useShownColumns<R>(columns: readonly TableColumn<R>[]): readonly TableColumn<R>[] {
  const roomWidth = useRoomWidth();
  return useMemo(
    () => columns.filter(({ hiddenBelow = 0 }) => roomWidth >= hiddenBelow),
    [columns, roomWidth],
  );
}

/** The same function for ever, so that rows stay as they are while the table around them changes. */
function useStable<A>(work: (argument: A) => void): (argument: A) => void {
  const latest = useRef(work);
  useEffect(() => {
    latest.current = work;
  });
  return useCallback((argument) => latest.current(argument), []);
}

interface HeadProps<R> {
  readonly columns: readonly TableColumn<R>[];
  /** The columns as tracks of a CSS grid. */
  readonly tracks: string;
}

function Head<R>({ columns, tracks }: HeadProps<R>) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      style={{ gridTemplateColumns: tracks }}
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

interface RowProps<R> extends HeadProps<R> {
  readonly name: string;
  readonly row: R;
  readonly index: number;
  /** How far below the first row it stands, in px. */
  readonly start: number;
  readonly isSelected: boolean;
  readonly isReached: boolean;
  readonly onOpen: (row: R) => void;
}

function TableRow<R>(props: RowProps<R>) {
  const { name, row, columns, index, isSelected, isReached, onOpen } = props;
  const look = isSelected ? 'bg-selected' : 'hover:bg-hover';
  const ring = isReached ? 'outline-2 -outline-offset-2 outline-accent' : '';
  const style = {
    gridTemplateColumns: props.tracks,
    transform: `translateY(${props.start}px)`,
    height: ROW_HEIGHT,
  };
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-row={name}
      tabIndex={-1}
      style={style}
      className={`absolute top-0 left-0 grid w-full cursor-pointer items-center gap-2 border-b border-line px-3 contain-strict ${look} ${ring}`}
      onClick={() => onOpen(row)}
      onKeyDown={({ key }) => key === 'Enter' && onOpen(row)}
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

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `memo` forgets the type parameter.
const Row = memo(TableRow) as typeof TableRow;
