// What Steward would change: files, or its own configuration, skills, servers and tools. Nothing changes before somebody
// has approved it here, in a terminal or on a channel.
import { useQuery } from '@tanstack/react-query';
import { goTo, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { asked } from '../../api/ledger.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { SplitView } from '../../parts/split-view.tsx';
import { Ago, FoldedValue } from '../../parts/texts.tsx';
import { ChangeDetail, ChangeState } from './change-detail.tsx';
import { InForce } from './in-force.tsx';
import { AGAIN_MS, type StewardChange } from './use-steward.ts';

const STATE: TableColumn<StewardChange> = {
  id: 'state',
  title: 'State',
  width: '88px',
  cell: ({ state }) => <ChangeState state={state} />,
};
const KIND: TableColumn<StewardChange> = {
  id: 'kind',
  title: 'Kind',
  width: '56px',
  cell: ({ kind }) => kind,
};
const PATHS: TableColumn<StewardChange> = {
  id: 'paths',
  title: 'Files',
  width: 'minmax(80px, 1fr)',
  cell: ({ paths }) => <FoldedValue text={paths.join(', ')} />,
};
const WHEN: TableColumn<StewardChange> = {
  id: 'at',
  title: 'When',
  width: '72px',
  align: 'right',
  cell: ({ proposed_at_ms }) => <Ago atMs={proposed_at_ms} />,
};

/** In the place of the id of a change. */
const IN_FORCE = 'in-force';

export function ChangesTab({ tab }: { readonly tab: 'files' | 'proposals' }) {
  const { path } = useAddress();
  const [, , chosen] = path;
  const { data, error } = useQuery({ ...asked('stewardChanges'), refetchInterval: AGAIN_MS });
  if (error !== null) return <FailureText cause={error} />;
  const isHere = ({ kind }: StewardChange) => (kind === 'files') === (tab === 'files');
  const rows = data?.changes.filter(isHere) ?? [];
  return (
    <SplitView
      label="The change"
      back={{ path: ['steward', tab] }}
      list={
        <div className="flex h-full flex-col">
          {tab === 'proposals' && (
            <Link
              to={{ path: ['steward', tab, IN_FORCE] }}
              className="flex h-8 shrink-0 items-center border-b border-line px-3 text-accent max-md:h-11"
            >
              In force
            </Link>
          )}
          <div className="min-h-0 flex-1">
            <DataTable
              label={tab === 'files' ? 'Changes of files' : 'Proposals'}
              columns={tab === 'files' ? [STATE, PATHS, WHEN] : [STATE, KIND, PATHS, WHEN]}
              rows={rows}
              rowKey={({ id }) => id}
              selected={chosen}
              onOpen={({ id }) => goTo({ path: ['steward', tab, id] })}
              empty={data !== undefined && <NothingProposed tab={tab} />}
            />
          </div>
        </div>
      }
      detail={chosen === undefined ? undefined : <Chosen key={chosen} id={chosen} />}
    />
  );
}

function Chosen({ id }: { readonly id: string }) {
  return id === IN_FORCE ? <InForce /> : <ChangeDetail id={id} />;
}

function NothingProposed({ tab }: { readonly tab: 'files' | 'proposals' }) {
  if (tab === 'files') {
    return (
      <EmptyState title="No file is to be changed.">
        Ask Steward in the chat to write or edit a file. What it proposes stands here as a diff; the
        file changes when you approve it.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="Nothing is proposed.">
      Skills, servers, tools and changes of its configuration that Steward proposes stand here until
      you merge or reject them.
    </EmptyState>
  );
}
