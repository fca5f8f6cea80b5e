import { EmptyState } from '../../parts/buttons.tsx';

export function HintsView() {
  return <EmptyState title="Nothing here yet." />;
}
