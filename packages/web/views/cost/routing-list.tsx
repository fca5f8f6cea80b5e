// Where the latest turns went, and what their routes could not carry.
import type { GatewayRoutingEvent } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { goTo, useAddress } from '../../address/address.ts';
import { openPanel, panelParts } from '../../address/panel-address.ts';
import { askedGateway } from '../../api/gateway.ts';
import { countText } from '../../parts/amounts.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { Degraded, RouteOutcome } from '../../parts/route-marks.tsx';
import { decidedAction, routeMember } from '../../parts/routing-words.ts';
import { Ago, Value } from '../../parts/texts.tsx';

const AGAIN_MS = 5_000;
const ROWS = 500;

export function RoutingList() {
  const { params } = useAddress();
  const isDegraded = params['only'] === 'degraded';
  const { data, error } = useQuery({
    ...askedGateway('routingRecent', { query: { limit: ROWS } }),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  const rows = (data?.rows ?? []).filter((row) => !isDegraded || isLossy(row));
  const open = panelParts(params['panel']);
  return (
    <>
      <RoutingBar isDegraded={isDegraded} rows={rows.length} />
      {error !== null && <FailureText cause={error} />}
      <div className="min-h-0 flex-1">
        <DataTable
          label="Routing"
          columns={COLUMNS}
          rows={rows}
          rowKey={rowKey}
          selected={rows.map(rowKey).find((key) => open[0] === 'trace' && isOf(key, open[1]))}
          onOpen={({ trace_id }) => openPanel('trace', trace_id)}
          empty={
            data !== undefined && (
              <EmptyState title="No routing yet." command="sub env">
                Every attempt to reach a model is listed here: the pool, the endpoint, and what the
                route could not carry.
              </EmptyState>
            )
          }
        />
      </div>
    </>
  );
}

const isLossy = ({ degraded_features, error }: GatewayRoutingEvent) =>
  degraded_features.length > 0 || error !== null;
const rowKey = ({ trace_id, attempt_no, is_shadow }: GatewayRoutingEvent) =>
  `${trace_id} ${attempt_no}${is_shadow ? ' shadow' : ''}`;
const isOf = (key: string, traceId: string | undefined) => key.startsWith(`${traceId ?? ''} `);

interface RoutingBarProps {
  readonly isDegraded: boolean;
  readonly rows: number;
}

function RoutingBar({ isDegraded, rows }: RoutingBarProps) {
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-3 border-b border-line px-3">
      <label className="inline-flex items-center gap-1 max-md:h-11">
        <input
          type="checkbox"
          checked={isDegraded}
          onChange={({ target }) => goTo({ params: { only: target.checked ? 'degraded' : '' } })}
        />
        Only with a loss or an error
      </label>
      <span className="ml-auto text-12 text-dim">{countText(rows)} latest attempts</span>
    </div>
  );
}

const COLUMNS: readonly TableColumn<GatewayRoutingEvent>[] = [
  {
    id: 'at',
    title: 'When',
    width: '80px',
    align: 'right',
    cell: ({ at_ms }) => <Ago atMs={at_ms} />,
  },
  {
    id: 'outcome',
    title: 'Outcome',
    width: '120px',
    cell: ({ error }) => <RouteOutcome error={error} />,
  },
  {
    id: 'to',
    title: 'Model and endpoint',
    width: 'minmax(120px, 2fr)',
    cell: ({ member }) => {
      const { endpointId, model } = routeMember(member);
      return (
        <>
          <Value text={model} lengthMax={32} />{' '}
          <span className="text-dim">
            at <Value text={endpointId} lengthMax={24} />
          </span>
        </>
      );
    },
  },
  {
    id: 'degraded',
    title: 'Lost on the way',
    width: 'minmax(120px, 1fr)',
    hiddenBelow: 640,
    cell: ({ degraded_features }) => <Degraded features={degraded_features} />,
  },
  {
    id: 'pool',
    title: 'Pool',
    width: '120px',
    hiddenBelow: 800,
    cell: ({ pool }) => <Value text={pool} lengthMax={16} />,
  },
  {
    id: 'team',
    title: 'Team',
    width: '104px',
    hiddenBelow: 800,
    cell: ({ team_id }) => <Value text={team_id} lengthMax={14} />,
  },
  {
    id: 'attempt',
    title: 'Attempt',
    width: '72px',
    align: 'right',
    hiddenBelow: 1000,
    cell: ({ attempt_no, is_shadow }) => (is_shadow ? 'shadow' : attempt_no),
  },
  {
    id: 'action',
    title: 'Decided',
    width: '96px',
    hiddenBelow: 1200,
    cell: ({ decision }) => <Value text={decidedAction(decision)} lengthMax={16} />,
  },
  {
    id: 'breaker',
    title: 'Breaker',
    width: '80px',
    hiddenBelow: 1200,
    cell: ({ breaker_state }) => <Value text={breaker_state} lengthMax={12} />,
  },
];
