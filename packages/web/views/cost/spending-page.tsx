// What was spent: choices, sums, a chart by time and a table by name. Both servers fill it.
import { type ReactNode, useMemo } from 'react';
import type { AddressChange } from '../../address/address.ts';
import { goTo, useAddress } from '../../address/address.ts';
import { countText, dollarsText, shortCount } from '../../parts/amounts.ts';
import { CommandLine } from '../../parts/buttons.tsx';
import { Chart } from '../../parts/chart.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import {
  chartParts,
  groupOf,
  RANGES,
  rangeOf,
  type Spending,
  type SpendingGroup,
  type SpendingLine,
} from './spending.ts';
import { SpendingTable } from './spending-table.tsx';

interface SpendingPageProps {
  readonly groups: readonly SpendingGroup<string>[];
  readonly spending: Spending | undefined;
  readonly error: Error | null;
  readonly leadsTo: (line: SpendingLine) => AddressChange | undefined;
  readonly empty: ReactNode;
  /** What else narrows the question. */
  readonly filters?: ReactNode;
}

const CHART_HEIGHT = 240;

export function SpendingPage(props: SpendingPageProps) {
  const { groups, spending, error, leadsTo, empty, filters } = props;
  const { params } = useAddress();
  const group = groupOf(groups, params['by']);
  const range = rangeOf(params['range']);
  const isEmpty = spending?.lines.length === 0;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        <Choice
          label="Group by"
          value={group.id}
          choices={groups}
          onChoice={(by) => goTo({ params: { by } })}
        />
        <Choice
          label="Time"
          value={range.id}
          choices={RANGES}
          onChoice={(id) => goTo({ params: { range: id } })}
        />
        {filters}
        <div className="ml-auto w-72 max-sm:hidden">
          <CommandLine command={`sub stats --by ${group.statsBy ?? 'model'} --from ${range.id}`} />
        </div>
      </div>
      {error !== null && <FailureText cause={error} />}
      <Sums spending={spending} />
      {isEmpty ? (
        empty
      ) : (
        <>
          <SpendingChart spending={spending} group={group.title} />
          {spending !== undefined && (
            <SpendingTable spending={spending} group={group.title} leadsTo={leadsTo} />
          )}
        </>
      )}
    </div>
  );
}

interface SpendingChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly { readonly id: string; readonly title: string }[];
  readonly onChoice: (id: string) => void;
}

function Choice({ label, value, choices, onChoice }: SpendingChoiceProps) {
  return (
    <label className="inline-flex items-center gap-1">
      <span className="text-12 text-dim">{label}</span>
      <select
        value={value}
        onChange={({ target }) => onChoice(target.value)}
        className="h-7 rounded-4 border border-line bg-page px-1 max-md:h-11"
      >
        {choices.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The room is kept while the answer comes. */
function Sums({ spending }: { readonly spending: Spending | undefined }) {
  const total = spending?.total;
  const figures = [
    ['Calls', total && countText(total.calls)],
    ['Failed', total && countText(total.failed)],
    ['Tokens in', total && shortCount(total.tokensIn)],
    ['Tokens out', total && shortCount(total.tokensOut)],
  ] as const;
  return (
    <dl className="flex min-h-16 flex-wrap items-end gap-x-6 gap-y-1 px-3 py-2">
      <div>
        <dt className="text-12 text-dim">Total</dt>
        <dd className="text-28">{total === undefined ? '–' : dollarsText(total.costMicros)}</dd>
      </div>
      {figures.map(([label, value]) => (
        <div key={label} className="pb-1">
          <dt className="text-12 text-dim">{label}</dt>
          <dd className="text-16">{value ?? '–'}</dd>
        </div>
      ))}
      {spending !== undefined && spending.unpriced > 0 && (
        <div className="pb-1">
          <dt className="text-12 text-dim">No price known</dt>
          <dd className="text-16" title="They used tokens and count as $0. Set model prices.">
            {countText(spending.unpriced)} calls
          </dd>
        </div>
      )}
    </dl>
  );
}

interface SpendingChartProps {
  readonly spending: Spending | undefined;
  readonly group: string;
}

function SpendingChart({ spending, group }: SpendingChartProps) {
  const parts = useMemo(() => {
    if (spending === undefined) return [];
    const all = chartParts(spending, `No ${group.toLowerCase()}`);
    return all.map((part) => ({ ...part, label: plainLine(part.label).slice(0, 60) }));
  }, [spending, group]);
  return (
    <div style={{ minHeight: CHART_HEIGHT + 36 }} className="border-b border-line px-1 pb-2">
      {spending !== undefined && (
        <Chart
          label={`Cost by ${group.toLowerCase()} over time`}
          atMs={spending.atMs}
          series={parts}
          height={CHART_HEIGHT}
          stackMs={spending.bucketMs}
          valueText={dollarsText}
        />
      )}
    </div>
  );
}
