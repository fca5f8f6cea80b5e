// Calls that wait for a person, what became of earlier ones, and what lasts of them.
import { useAddress } from '../../address/address.ts';
import { useSession } from '../../api/session.ts';
import { ViewHead } from '../../parts/view-head.tsx';
import { GrantList } from './grant-list.tsx';
import { HistoryList } from './history-list.tsx';
import { TurnApprovals } from './turn-approvals.tsx';
import { useApprovals } from './use-approvals.ts';
import { WaitingList } from './waiting-list.tsx';

export function ApprovalsView() {
  return useSession().plane === 'ledger' ? <CallApprovals /> : <TurnApprovals />;
}

const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['history', 'sub approvals list --all'],
  ['grants', 'sub grants list --all'],
]);

function CallApprovals() {
  const { params } = useAddress();
  const tab = params['tab'] ?? 'waiting';
  const { data } = useApprovals('pending');
  const tabOf = (id: string, title: string, count?: number) => ({
    title,
    count,
    to: { path: ['approvals'], params: { tab: id === 'waiting' ? '' : id } },
    isHere: tab === id,
  });
  return (
    <>
      <ViewHead
        title="Approvals"
        tabs={[
          tabOf('waiting', 'Waiting', data?.rows.length),
          tabOf('history', 'History'),
          tabOf('grants', 'Grants'),
        ]}
        command={COMMANDS.get(tab) ?? 'sub approvals'}
      />
      {tab === 'history' ? <HistoryList /> : tab === 'grants' ? <GrantList /> : <WaitingList />}
    </>
  );
}
