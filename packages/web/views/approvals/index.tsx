import { EmptyState } from '../../parts/buttons.tsx';

export function ApprovalsView() {
  return <EmptyState title="Nothing here yet." />;
}
