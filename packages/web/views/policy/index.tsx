import { EmptyState } from '../../parts/buttons.tsx';

export function PolicyView() {
  return <EmptyState title="Nothing here yet." />;
}
