import { EmptyState } from '../../parts/buttons.tsx';

export function CostView() {
  return <EmptyState title="Nothing here yet." />;
}
