import { EmptyState } from '../../parts/buttons.tsx';

export function LiveView() {
  return <EmptyState title="Nothing here yet." />;
}
