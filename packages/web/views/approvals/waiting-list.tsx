import type { ApiApproval } from '@subluminal/contracts';
import { useEffect } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import { durationText } from '../../parts/amounts.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { useNow } from '../../parts/clock.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { SplitView } from '../../parts/split-view.tsx';
import { Value } from '../../parts/texts.tsx';
import { useWindowWidth } from '../../parts/window-width.ts';
import { ApprovalDetail } from './approval-detail.tsx';
import { useApprovals } from './use-approvals.ts';

const COLUMNS: readonly TableColumn<ApiApproval>[] = [
  { id: 'left', title: 'Left', width: '80px', align: 'right', cell: (row) => <Left row={row} /> },
  {
    id: 'agent',
    title: 'Agent',
    width: '88px',
    cell: ({ request }) => <Value text={request.agent.agent_id} lengthMax={16} />,
  },
  {
    id: 'call',
    title: 'Call',
    width: 'minmax(80px, 1fr)',
    cell: ({ request }) => <Value text={`${request.call.server}/${request.call.tool}`} />,
  },
];

function Left({ row }: { readonly row: ApiApproval }) {
  const nowMs = useNow();
  const leftMs = Date.parse(row.request.expires_at) - nowMs;
  if (row.asker === 'gone' && row.request.wait === 'hold') return 'nobody waits';
  return leftMs <= 0 ? 'over' : durationText(Math.floor(leftMs / 1_000) * 1_000);
}

/** From this width on, the list and one call stand side by side. */
const WIDE = 768;

export function WaitingList() {
  const { path } = useAddress();
  const [, chosen] = path;
  const { data, error } = useApprovals('pending');
  const rows = data?.rows ?? [];
  const isWide = useWindowWidth() >= WIDE;
  const first = rows[0]?.id;
  // Only while nothing is chosen: what one looks at is never replaced.
  useEffect(() => {
    if (chosen === undefined && isWide && first !== undefined) {
      goTo({ path: ['approvals', first] }, 'replace');
    }
  }, [chosen, isWide, first]);
  const next = rows.find(({ id }) => id !== chosen)?.id;
  const list =
    error === null ? (
      <DataTable
        label="Calls that wait"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        selected={chosen}
        onOpen={({ id }) => goTo({ path: ['approvals', id] })}
        empty={data !== undefined && <NothingWaits />}
      />
    ) : (
      <FailureText cause={error} />
    );
  return (
    <SplitView
      label="The call"
      back={{ path: ['approvals'] }}
      list={list}
      detail={
        chosen === undefined ? undefined : <ApprovalDetail key={chosen} id={chosen} next={next} />
      }
    />
  );
}

function NothingWaits() {
  return (
    <EmptyState title="No call waits for you." command="sub approvals watch">
      A call that meets a rule of kind `approval` waits here until somebody decides or its time is
      over. In a terminal, the same:
    </EmptyState>
  );
}
