// A table of a few rows, all of them in the document: what is compared, or has buttons of its own.
import type { ReactNode } from 'react';
import type { TableColumn } from './data-table.tsx';
import { useWindowWidth } from './window-width.ts';

interface SmallTableProps<R> {
  readonly label: string;
  readonly columns: readonly TableColumn<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  /** Instead of rows, when there are none. */
  readonly empty?: ReactNode;
}

/** A column whose width is not a length takes what is left. */
export function SmallTable<R>({ label, columns, rows, rowKey, empty }: SmallTableProps<R>) {
  const windowWidth = useWindowWidth();
  const shown = columns.filter(({ hiddenBelow = 0 }) => windowWidth >= hiddenBelow);
  const side = (align: 'right' | undefined) => (align === 'right' ? 'text-right' : 'text-left');
  return (
    <table aria-label={label} className="w-full table-fixed">
      <thead>
        <tr className="h-7 border-b border-line bg-raised text-12 text-dim">
          {shown.map(({ id, title, align, width }) => (
            <th
              key={id}
              scope="col"
              style={width.endsWith('px') ? { width } : undefined}
              className={`px-2 font-normal first:pl-3 last:pr-3 ${side(align)}`}
            >
              {title === '' ? <span className="sr-only">Actions</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} className="h-7 border-b border-line hover:bg-hover">
            {shown.map(({ id, align, cell }) => (
              <td key={id} className={`truncate px-2 first:pl-3 last:pr-3 ${side(align)}`}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
        {rows.length === 0 && empty !== undefined && (
          <tr className="h-7 border-b border-line">
            <td colSpan={shown.length} className="px-3 text-dim">
              {empty}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
