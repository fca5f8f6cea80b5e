import type { AddressChange } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { countText, dollarsText, shortCount } from '../../parts/amounts.ts';
import type { TableColumn } from '../../parts/data-table.tsx';
import { SmallTable } from '../../parts/small-table.tsx';
import { Value } from '../../parts/texts.tsx';
import { lineTitle, partColor, type Spending, type SpendingLine } from './spending.ts';

interface SpendingTableProps {
  readonly spending: Spending;
  /** What is summed by: the title of the first column. */
  readonly group: string;
  /** Where more about a line can be seen. */
  readonly leadsTo: (line: SpendingLine) => AddressChange | undefined;
}

/** A line with what is shown of it. */
interface ShownLine extends SpendingLine {
  readonly place: number;
  readonly text: string;
  readonly share: number;
  readonly to: AddressChange | undefined;
}

export function SpendingTable({ spending, group, leadsTo }: SpendingTableProps) {
  const { lines, total } = spending;
  const nameless = `No ${group.toLowerCase()}`;
  const rows = lines.map((line, place) => ({
    ...line,
    place: line.name === null ? lines.length : place,
    text: lineTitle(line, nameless),
    share: total.costMicros === 0 ? 0 : line.costMicros / total.costMicros,
    to: leadsTo(line),
  }));
  const name = { id: 'name', title: group, width: 'auto', cell: nameCell };
  return (
    <SmallTable
      label={`Cost by ${group.toLowerCase()}`}
      columns={[name, ...COLUMNS]}
      rows={rows}
      rowKey={(row) => (row.name === null ? 'others' : `=${row.name}`)}
    />
  );
}

const COLUMNS: readonly TableColumn<ShownLine>[] = [
  {
    id: 'cost',
    title: 'Cost',
    width: '88px',
    align: 'right',
    cell: ({ costMicros }) => dollarsText(costMicros),
  },
  {
    id: 'share',
    title: 'Share',
    width: '160px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ share, place }) => <Share share={share} place={place} />,
  },
  {
    id: 'calls',
    title: 'Calls',
    width: '72px',
    align: 'right',
    cell: ({ calls }) => countText(calls),
  },
  {
    id: 'failed',
    title: 'Failed',
    width: '64px',
    align: 'right',
    hiddenBelow: 480,
    cell: ({ failed }) => (
      <span className={failed === 0 ? 'text-dim' : ''}>{countText(failed)}</span>
    ),
  },
  {
    id: 'in',
    title: 'Tokens in',
    width: '88px',
    align: 'right',
    hiddenBelow: 800,
    cell: ({ tokensIn }) => <span title={countText(tokensIn)}>{shortCount(tokensIn)}</span>,
  },
  {
    id: 'out',
    title: 'Tokens out',
    width: '88px',
    align: 'right',
    hiddenBelow: 800,
    cell: ({ tokensOut }) => <span title={countText(tokensOut)}>{shortCount(tokensOut)}</span>,
  },
];

function nameCell({ name, text, place, to }: ShownLine) {
  const value = <Value text={text} lengthMax={48} />;
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span
        aria-hidden="true"
        className="size-2 shrink-0"
        style={{ background: `var(${partColor(place)})` }}
      />
      <span className={`min-w-0 truncate ${name === null || name === '' ? 'text-dim' : ''}`}>
        {to === undefined ? (
          value
        ) : (
          <Link to={to} className="text-accent hover:underline">
            {value}
          </Link>
        )}
      </span>
    </span>
  );
}

function Share({ share, place }: { readonly share: number; readonly place: number }) {
  const percent = Math.round(share * 1_000) / 10;
  return (
    <span className="flex items-center justify-end gap-2">
      <span className="h-2 min-w-0 flex-1 bg-raised" aria-hidden="true">
        <span
          className="block h-full"
          style={{ width: `${percent}%`, background: `var(${partColor(place)})` }}
        />
      </span>
      <span className="w-12">{percent.toFixed(1)} %</span>
    </span>
  );
}
