import type { ApiApproval } from '@subluminal/contracts';
import { goTo, useAddress } from '../../address/address.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { SplitView } from '../../parts/split-view.tsx';
import { Ago, Value } from '../../parts/texts.tsx';
import { ApprovalDetail } from './approval-detail.tsx';
import { ApprovalState } from './approval-state.tsx';
import { useApprovals } from './use-approvals.ts';

const COLUMNS: readonly TableColumn<ApiApproval>[] = [
  {
    id: 'state',
    title: 'Became',
    width: '72px',
    cell: ({ state }) => <ApprovalState state={state} />,
  },
  {
    id: 'when',
    title: 'When',
    width: '72px',
    align: 'right',
    cell: ({ request, outcome }) => <Ago atMs={Date.parse(outcome?.at ?? request.expires_at)} />,
  },
  {
    id: 'call',
    title: 'Call',
    width: 'minmax(80px, 1fr)',
    cell: ({ request }) => <Value text={`${request.call.server}/${request.call.tool}`} />,
  },
  {
    id: 'by',
    title: 'By',
    width: '72px',
    cell: ({ outcome }) => <Value text={outcome?.by ?? ''} lengthMax={12} />,
  },
];

export function HistoryList() {
  const { path } = useAddress();
  const [, chosen] = path;
  const { data, error } = useApprovals();
  const rows = data?.rows.filter(({ state }) => state !== 'pending') ?? [];
  if (error !== null) return <FailureText cause={error} />;
  return (
    <SplitView
      label="The call"
      back={{ path: ['approvals'], params: { tab: 'history' } }}
      list={
        <DataTable
          label="Calls that were decided"
          columns={COLUMNS}
          rows={rows}
          rowKey={({ id }) => id}
          selected={chosen}
          onOpen={({ id }) => goTo({ path: ['approvals', id], params: { tab: 'history' } })}
          empty={
            data !== undefined && (
              <EmptyState title="Nothing was decided yet." command="sub approvals list --all">
                Calls that were approved, rejected, or that nobody decided in time are listed here.
              </EmptyState>
            )
          }
        />
      }
      detail={chosen === undefined ? undefined : <ApprovalDetail key={chosen} id={chosen} />}
    />
  );
}
