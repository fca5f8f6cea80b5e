import { EmptyState } from '../../parts/buttons.tsx';

export function ServersView() {
  return <EmptyState title="Nothing here yet." />;
}
