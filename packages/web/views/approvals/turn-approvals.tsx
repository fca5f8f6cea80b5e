// Turns that wait at a gateway for a person.
import type { GatewayApproval } from '@subluminal/contracts';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { panelAddress } from '../../address/panel-address.ts';
import { askedGateway, postGateway } from '../../api/gateway.ts';
import { useMay } from '../../api/session.ts';
import { Button, EmptyState } from '../../parts/buttons.tsx';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { SplitView } from '../../parts/split-view.tsx';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { ApprovalState } from './approval-state.tsx';

const AGAIN_MS = 2_000;

const COLUMNS: readonly TableColumn<GatewayApproval>[] = [
  {
    id: 'state',
    title: 'State',
    width: '72px',
    cell: ({ state }) => <ApprovalState state={state} />,
  },
  {
    id: 'asked',
    title: 'Asked',
    width: '72px',
    align: 'right',
    cell: ({ created_at_ms }) => <Ago atMs={created_at_ms} />,
  },
  {
    id: 'who',
    title: 'Who',
    width: 'minmax(80px, 1fr)',
    cell: ({ requestor }) => <Value text={requestor} lengthMax={30} />,
  },
  {
    id: 'team',
    title: 'Team',
    width: '96px',
    cell: ({ team_id }) => <Value text={team_id} lengthMax={16} />,
  },
];

export function TurnApprovals() {
  const { path, params } = useAddress();
  const [, chosen] = path;
  const isAll = params['tab'] === 'history';
  const { data, error } = useQuery({
    ...askedGateway('approvals'),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  const all = data?.approvals ?? [];
  const rows = all.filter(({ state }) => (state === 'pending') !== isAll);
  const row = all.find(({ id }) => id === chosen);
  const tab = isAll ? { tab: 'history' } : {};
  return (
    <>
      <ViewHead
        title="Approvals"
        tabs={[
          {
            title: 'Waiting',
            to: { path: ['approvals'] },
            isHere: !isAll,
            count: all.filter(({ state }) => state === 'pending').length,
          },
          {
            title: 'History',
            to: { path: ['approvals'], params: { tab: 'history' } },
            isHere: isAll,
          },
        ]}
        command="sub gateway approvals"
      />
      {error !== null && <FailureText cause={error} />}
      <SplitView
        label="The turn"
        back={{ path: ['approvals'], params: tab }}
        list={
          <DataTable
            label="Turns"
            columns={COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
            selected={chosen}
            onOpen={({ id }) => goTo({ path: ['approvals', id], params: tab })}
            empty={
              data !== undefined && (
                <EmptyState title="No turn waits here." command="sub gateway approvals">
                  A turn that a rule or a budget sends to a person is listed here until somebody
                  decides or its time is over.
                </EmptyState>
              )
            }
          />
        }
        detail={row === undefined ? undefined : <TurnDetail key={row.id} row={row} />}
      />
    </>
  );
}

function TurnDetail({ row }: { readonly row: GatewayApproval }) {
  return (
    <>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="flex max-w-[1080px] flex-col gap-4 p-4 max-sm:p-3">
          <h2 className="text-16">
            <Value text={row.requestor} /> asks for a turn
          </h2>
          <FactList>
            <Fact label="State">
              <ApprovalState state={row.state} />
              {row.resolver !== null && ` by ${plainText(row.resolver)}`}
            </Fact>
            <Fact label="Team">
              <Value text={row.team_id} />
            </Fact>
            {row.repo_id !== null && (
              <Fact label="Repository">
                <Value text={row.repo_id} />
              </Fact>
            )}
            <Fact label="Asked">
              <Ago atMs={row.created_at_ms} />
            </Fact>
            <Fact label="Time-out">
              <Ago atMs={row.expires_at_ms} />
            </Fact>
            <Fact label="Trace">
              <Link
                to={{ params: panelAddress('trace', row.trace_id) }}
                className="text-accent hover:underline"
              >
                <Value text={row.trace_id} />
              </Link>
            </Fact>
            {row.note !== null && <Fact label="Note">{plainText(row.note)}</Fact>}
          </FactList>
          <section className="flex flex-col gap-2">
            <h3 className="text-12 text-dim">What is asked for, without the prompt</h3>
            <JsonTree value={row.snapshot} />
          </section>
        </div>
      </div>
      <TurnBar row={row} />
    </>
  );
}

const THUMB = 'justify-center max-md:h-11 max-md:flex-1 max-md:text-14';

function TurnBar({ row }: { readonly row: GatewayApproval }) {
  const { id, state } = row;
  const [note, setNote] = useState('');
  const mayDecide = useMay('team_admin');
  const client = useQueryClient();
  const decide = useMutation({
    mutationFn: (verdict: 'approve' | 'reject') =>
      postGateway(verdict, note.trim() === '' ? {} : { note: note.trim() }, { id }),
    onSettled: () => client.invalidateQueries({ queryKey: ['gateway', 'approvals'] }),
  });
  const isOpen = state === 'pending' && decide.data === undefined;
  if (!isOpen && decide.data === undefined) return null;
  if (!mayDecide) {
    return (
      <p className="shrink-0 border-t border-line bg-raised p-3 text-dim">
        An admin of the team can approve or reject it.
      </p>
    );
  }
  return (
    <div className="flex shrink-0 flex-col gap-2 border-t border-line bg-raised p-3">
      {decide.error !== null && <FailureText cause={decide.error} />}
      {decide.data !== undefined && (
        <p role="status">
          {decide.data.changed
            ? `The turn is ${decide.data.approval.state}.`
            : 'Nothing was changed: it had ended before you decided.'}
        </p>
      )}
      {isOpen && (
        <>
          <input
            aria-label="Note"
            placeholder="Note, which is recorded"
            value={note}
            onChange={({ target }) => setNote(target.value)}
            className="h-8 min-w-0 rounded-4 border border-line bg-page px-2 max-md:h-11"
          />
          <div className="flex gap-2">
            <Button
              look="danger"
              disabled={decide.isPending}
              className={THUMB}
              onClick={() => decide.mutate('reject')}
            >
              Reject
            </Button>
            <Button
              look="primary"
              disabled={decide.isPending}
              className={THUMB}
              onClick={() => decide.mutate('approve')}
            >
              Approve
            </Button>
          </div>
        </>
      )}
    </div>
  );
}
