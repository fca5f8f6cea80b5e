import { EmptyState } from '../../parts/buttons.tsx';

export function LedgerView() {
  return <EmptyState title="Nothing here yet." />;
}
