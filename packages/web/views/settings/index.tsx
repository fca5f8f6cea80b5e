import { EmptyState } from '../../parts/buttons.tsx';

export function SettingsView() {
  return <EmptyState title="Nothing here yet." />;
}
