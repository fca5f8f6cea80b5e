// Steward: the chat, what it remembers, what it would change, and what it costs.
import { useQuery } from '@tanstack/react-query';
import { useAddress } from '../../address/address.ts';
import { asked } from '../../api/ledger.ts';
import { ApiFailure } from '../../api/request.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { ChangesTab } from './changes-tab.tsx';
import { ChatTab } from './chat-tab.tsx';
import { MemoryTab } from './memory-tab.tsx';
import { MonitorTab } from './monitor-tab.tsx';
import { AGAIN_MS, type StewardChange } from './use-steward.ts';

const TABS = [
  { id: 'chat', title: 'Chat', command: 'sub steward chat' },
  { id: 'memory', title: 'Memory', command: 'sub steward memory review' },
  { id: 'files', title: 'Files', command: 'sub steward review' },
  { id: 'proposals', title: 'Proposals', command: 'sub steward review' },
  { id: 'monitor', title: 'Monitor', command: 'sub steward status' },
] as const;

export function StewardView() {
  const { path } = useAddress();
  const here = TABS.find(({ id }) => id === path[1]) ?? TABS[0];
  const { error } = useQuery({ ...asked('stewardStatus'), refetchInterval: AGAIN_MS });
  const { data } = useQuery({ ...asked('stewardChanges'), refetchInterval: AGAIN_MS });
  const count = (isOne: (change: StewardChange) => boolean) =>
    data?.changes.filter((change) => change.state === 'open' && isOne(change)).length || undefined;
  const counts: { readonly [id: string]: number | undefined } = {
    files: count(({ kind }) => kind === 'files'),
    proposals: count(({ kind }) => kind !== 'files'),
  };
  const tabs = TABS.map(({ id, title }) => ({
    title,
    to: { path: id === 'chat' ? ['steward'] : ['steward', id] },
    isHere: id === here.id,
    count: counts[id],
  }));
  return (
    <>
      <ViewHead title="Steward" tabs={tabs} command={here.command} />
      {error === null ? <Content tab={here.id} /> : <NotThere cause={error} />}
    </>
  );
}

function Content({ tab }: { readonly tab: (typeof TABS)[number]['id'] }) {
  switch (tab) {
    case 'chat':
      return <ChatTab />;
    case 'memory':
      return <MemoryTab />;
    case 'files':
    case 'proposals':
      return <ChangesTab key={tab} tab={tab} />;
    case 'monitor':
      return <MonitorTab />;
  }
}

function NotThere({ cause }: { readonly cause: Error }) {
  const isAway = cause instanceof ApiFailure && cause.code === 'SUB_STEWARD_AWAY';
  if (!isAway) return <FailureText cause={cause} />;
  return (
    <EmptyState title="Steward does not run." command="sub steward start">
      Once it is started, you can talk with it here, see what it remembers, and decide about what it
      would change. Tasks that were open go on.
    </EmptyState>
  );
}
