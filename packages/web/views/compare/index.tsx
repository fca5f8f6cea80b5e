// Two runs side by side: their facts, their tools, and the order of their calls.
import type { ApiRun } from '@subluminal/contracts';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from '../../address/link.tsx';
import { openPanel, useOpenCall } from '../../address/panel-address.ts';
import { asked } from '../../api/ledger.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { Value } from '../../parts/texts.tsx';
import { callName } from '../run/call-name.ts';
import { useRunCalls } from '../run/run-calls.ts';
import { type AlignedCalls, alignCalls } from './align-calls.ts';
import { FactDifferences, ToolTable } from './differences.tsx';

type Pair<T> = readonly [T, T];

export function CompareView({ runIds }: { readonly runIds: Pair<string> }) {
  const [one, other] = useQueries({
    queries: runIds.map((run_id) => asked('run', { ids: { run_id } })),
  });
  const [left, right] = useQueries({
    queries: runIds.map((run_id) => asked('summary', { ids: { run_id } })),
  });
  const cause = one?.error ?? other?.error ?? left?.error ?? right?.error ?? null;
  const runs = one?.data && other?.data && ([one.data, other.data] as const);
  return (
    <>
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-3 py-2">
        <Link to={{ path: ['runs'] }} className="text-accent hover:underline">
          Runs
        </Link>
        <h1 className="text-14">Compare two runs</h1>
      </header>
      {cause !== null && <FailureText cause={cause} />}
      <div className="flex max-h-[55%] shrink-0 flex-wrap items-start gap-x-8 gap-y-3 overflow-auto border-b border-line px-3 pb-3">
        {runs && <FactDifferences runs={runs} />}
        {left?.data && right?.data && <ToolTable summaries={[left.data, right.data]} />}
      </div>
      {runs && <CallOrder runs={runs} />}
    </>
  );
}

function CallOrder({ runs }: { readonly runs: Pair<ApiRun> }) {
  const opened = useOpenCall();
  const one = useRunCalls(runs[0].run_id);
  const other = useRunCalls(runs[1].run_id);
  const [left, right] = [one.data?.calls, other.data?.calls];
  // With one of them alone, all calls would seem to be missing in the other.
  const rows = useMemo(() => (left && right ? alignCalls(left, right) : []), [left, right]);
  const cause = one.error ?? other.error;
  const selected = rows.find(({ calls }) =>
    calls.some((call) => call && call.run_id === opened?.runId && call.call_id === opened.callId),
  );
  const open = ({ calls: [before, after] }: AlignedCalls) => {
    const call = before ?? after;
    if (call !== undefined) openPanel('call', call.run_id, call.call_id);
  };
  return (
    <section aria-label="Order of calls" className="flex min-h-40 flex-1 flex-col">
      <h2 className="px-3 py-1">Order of calls</h2>
      {cause !== null && <FailureText cause={cause} />}
      <div className="min-h-0 flex-1">
        <DataTable
          label="Order of calls"
          columns={ORDER_COLUMNS}
          rows={rows}
          rowKey={({ key }) => key}
          selected={selected?.key}
          onOpen={open}
        />
      </div>
    </section>
  );
}

const ORDER_COLUMNS: readonly TableColumn<AlignedCalls>[] = [
  { id: 'a', title: 'A', width: 'minmax(0, 1fr)', cell: (row) => <Side row={row} at={0} /> },
  { id: 'mark', title: '', width: '16px', cell: ({ calls }) => <SideMark calls={calls} /> },
  { id: 'b', title: 'B', width: 'minmax(0, 1fr)', cell: (row) => <Side row={row} at={1} /> },
];

function Side({ row, at }: { readonly row: AlignedCalls; readonly at: 0 | 1 }) {
  const call = row.calls[at];
  if (call === undefined) return null;
  return (
    <>
      <DecisionMark decision={call.decision} isWord={false} /> <Value text={callName(call)} />
    </>
  );
}

/** Which of the two has the call. */
function SideMark({ calls: [left, right] }: Pick<AlignedCalls, 'calls'>) {
  if (left !== undefined && right !== undefined) {
    const isSame = left.decision === right.decision;
    return <span title={isSame ? 'Both' : 'Both, decided otherwise'}>{isSame ? '=' : '≠'}</span>;
  }
  return (
    <span className="text-accent" title={left === undefined ? 'Only B' : 'Only A'}>
      {left === undefined ? '+' : '−'}
    </span>
  );
}
