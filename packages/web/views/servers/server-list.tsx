// All servers that were called or are pinned, each with its state and what its calls came to.
import type { ApiServer } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { goTo, useAddress } from '../../address/address.ts';
import { asked } from '../../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../../api/live-signal.ts';
import { countText, durationText } from '../../parts/amounts.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine, plainText } from '../../parts/plain-text.ts';
import { Ago, Value } from '../../parts/texts.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { BreakerWord, ManifestWord, PinsWord } from './server-state.tsx';
import { TimeSpanSelect, useTimeSpan } from './time-span.tsx';

const AGAIN_MS = 15_000;

export function ServerList() {
  const { params } = useAddress();
  const { data, error, refetch } = useQuery({
    ...asked('servers', { query: useTimeSpan() }),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  useLiveSignal((signal) => {
    if (tellsOf(signal, 'surface', 'breaker_trip')) void refetch();
  });
  const open = ({ server_name }: ApiServer) =>
    goTo({ path: ['servers', server_name], params: { since: params['since'] ?? '' } });
  return (
    <>
      <ViewHead title="Servers" command="sub pins list">
        <TimeSpanSelect />
      </ViewHead>
      {error !== null && <FailureText cause={error} />}
      {data !== undefined && data.pins_problem !== null && (
        <p role="alert" className="border-b border-line px-3 py-1 text-danger">
          {plainText(data.pins_problem)}
        </p>
      )}
      <div className="min-h-0 flex-1">
        <DataTable
          label="Servers"
          columns={COLUMNS}
          rows={data?.rows ?? []}
          rowKey={({ server_name }) => server_name}
          onOpen={open}
          empty={
            data !== undefined && (
              <EmptyState title="No servers yet." command="sub import">
                A server is listed once an agent has called it through Subluminal, or its tools are
                pinned. The command puts Subluminal in front of the servers of your agents.
              </EmptyState>
            )
          }
        />
      </div>
      {data?.cut === true && (
        <p className="border-t border-line px-3 py-1 text-dim">There are more servers.</p>
      )}
    </>
  );
}

/** Asked for the rows that can be seen only. */
function P95({ server }: { readonly server: string }) {
  const query = { ...useTimeSpan(), buckets: 1 };
  const { data } = useQuery({
    ...asked('serverSeries', { ids: { server_name: server }, query }),
    placeholderData: keepPreviousData,
  });
  const p95 = data?.p95_ms[0] ?? null;
  return p95 === null ? null : durationText(p95);
}

const count = (value: number, ink = '') =>
  value === 0 ? (
    <span className="text-dim">0</span>
  ) : (
    <span className={ink}>{countText(value)}</span>
  );

const COLUMNS: readonly TableColumn<ApiServer>[] = [
  {
    id: 'name',
    title: 'Server',
    width: 'minmax(88px, 1fr)',
    cell: ({ server_name }) => <Value text={server_name} lengthMax={40} />,
  },
  { id: 'pins', title: 'Pins', width: '88px', cell: (server) => <PinsWord server={server} /> },
  {
    id: 'manifest',
    title: 'Manifest',
    width: '80px',
    hiddenBelow: 900,
    cell: ({ manifest }) => <ManifestWord manifest={manifest} />,
  },
  {
    id: 'breaker',
    title: 'Breaker',
    width: '80px',
    hiddenBelow: 640,
    cell: ({ breaker }) => <BreakerWord breaker={breaker} />,
  },
  {
    id: 'clients',
    title: 'Clients',
    width: 'minmax(80px, 200px)',
    hiddenBelow: 1_100,
    cell: ({ clients }) => plainLine(clients.join(', ')),
  },
  {
    id: 'tools',
    title: 'Tools',
    width: '56px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ tools_total }) => countText(tools_total),
  },
  {
    id: 'calls',
    title: 'Calls',
    width: '64px',
    align: 'right',
    cell: ({ calls }) => count(calls),
  },
  {
    id: 'refused',
    title: 'Refused',
    width: '64px',
    align: 'right',
    cell: ({ refused }) => count(refused, 'text-block-ink'),
  },
  {
    id: 'errors',
    title: 'Errors',
    width: '64px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ errors }) => count(errors, 'text-danger'),
  },
  {
    id: 'p95',
    title: 'p95',
    width: '80px',
    align: 'right',
    hiddenBelow: 900,
    cell: ({ server_name, calls }) => (calls === 0 ? null : <P95 server={server_name} />),
  },
  {
    id: 'last',
    title: 'Last call',
    width: '80px',
    align: 'right',
    hiddenBelow: 900,
    cell: ({ last_call_at_ms }) => (last_call_at_ms === null ? '' : <Ago atMs={last_call_at_ms} />),
  },
];
