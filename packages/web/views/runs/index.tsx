import { EmptyState } from '../../parts/buttons.tsx';

export function RunsView() {
  return <EmptyState title="Nothing here yet." />;
}
