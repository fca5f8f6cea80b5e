// What lasts of approvals, and how it is taken back.
import type { ApiGrant } from '@subluminal/contracts';
import { useMutation } from '@tanstack/react-query';
import { goTo, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { Button, CommandLine, EmptyState } from '../../parts/buttons.tsx';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { GrantWords } from '../../parts/grant-words.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { SplitView } from '../../parts/split-view.tsx';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { useAskAgain, useGrants } from './use-approvals.ts';

const COLUMNS: readonly TableColumn<ApiGrant>[] = [
  {
    id: 'state',
    title: 'State',
    width: '64px',
    cell: ({ state }) => (
      <span className={state === 'active' ? 'text-allow-ink' : 'text-dim'}>{state}</span>
    ),
  },
  { id: 'kind', title: 'Lasts', width: '64px', cell: ({ grant }) => grant.kind },
  {
    id: 'call',
    title: 'Calls',
    width: 'minmax(80px, 1fr)',
    cell: ({ grant }) => <Value text={`${grant.match.server}/${grant.match.tool}`} />,
  },
  {
    id: 'until',
    title: 'Ends',
    width: '72px',
    align: 'right',
    cell: ({ grant, end }) => {
      const at = end?.at ?? grant.expires_at;
      return at === null ? '' : <Ago atMs={Date.parse(at)} />;
    },
  },
];

export function GrantList() {
  const { path } = useAddress();
  const [, chosen] = path;
  const { data, error } = useGrants();
  const all = data?.rows ?? [];
  // Those in force first; within each, the newest.
  const rows = [
    ...all.filter(({ state }) => state === 'active'),
    ...all.filter(({ state }) => state !== 'active'),
  ];
  const grant = rows.find(({ id }) => id === chosen);
  if (error !== null) return <FailureText cause={error} />;
  return (
    <SplitView
      label="The grant"
      back={{ path: ['approvals'], params: { tab: 'grants' } }}
      list={
        <DataTable
          label="Grants"
          columns={COLUMNS}
          rows={rows}
          rowKey={({ id }) => id}
          selected={chosen}
          onOpen={({ id }) => goTo({ path: ['approvals', id], params: { tab: 'grants' } })}
          empty={
            data !== undefined && (
              <EmptyState title="Nothing is granted." command="sub approvals approve ID --run">
                An approval can last: for a run, for a time, or until it is revoked. What lasts is
                listed here.
              </EmptyState>
            )
          }
        />
      }
      detail={grant === undefined ? undefined : <GrantDetail key={grant.id} row={grant} />}
    />
  );
}

function GrantDetail({ row }: { readonly row: ApiGrant }) {
  const { grant, covers, state, end } = row;
  return (
    <>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="flex max-w-[1080px] flex-col gap-4 p-4">
          <h2 className="text-16 break-all">
            <Value text={`${grant.match.server}/${grant.match.tool}`} lengthMax={120} />
          </h2>
          <GrantWords covers={covers} />
          <FactList>
            <Fact label="State">{state}</Fact>
            <Fact label="Given">
              <Ago atMs={Date.parse(grant.created_at)} /> by {plainText(grant.by)} (
              {plainText(grant.channel)})
            </Fact>
            <Fact label="Ends">
              {grant.expires_at === null ? (
                'when it is revoked'
              ) : (
                <Ago atMs={Date.parse(grant.expires_at)} />
              )}
            </Fact>
            {end !== null && (
              <Fact label="Ended">
                {end.state} <Ago atMs={Date.parse(end.at)} /> by {plainText(end.by)}
              </Fact>
            )}
            {grant.note !== undefined && <Fact label="Note">{plainText(grant.note)}</Fact>}
            <Fact label="Approval">
              <Link
                to={{ path: ['approvals', grant.request], params: { tab: 'history' } }}
                className="text-accent hover:underline"
              >
                <Value text={grant.request} />
              </Link>
            </Fact>
          </FactList>
          <CommandLine command={`sub grants revoke ${shellWord(grant.id, 'ID')}`} />
        </div>
      </div>
      {state === 'active' && <RevokeBar id={grant.id} />}
    </>
  );
}

function RevokeBar({ id }: { readonly id: string }) {
  const askAgain = useAskAgain();
  const mayRevoke = useMay('owner');
  const revoke = useMutation({ mutationFn: () => post('revoke', {}, { id }), onSettled: askAgain });
  return (
    <div className="flex shrink-0 flex-col gap-2 border-t border-line bg-raised p-3">
      {revoke.error !== null && <FailureText cause={revoke.error} />}
      <div className="flex">
        <Button
          look="danger"
          disabled={!mayRevoke || revoke.isPending}
          title={mayRevoke ? undefined : 'Only an owner may revoke a grant.'}
          onClick={() => revoke.mutate()}
          className="justify-center max-md:h-11 max-md:flex-1"
        >
          Revoke
        </Button>
      </div>
    </div>
  );
}
