import { EmptyState } from '../../parts/buttons.tsx';

export function SecretsView() {
  return <EmptyState title="Nothing here yet." />;
}
