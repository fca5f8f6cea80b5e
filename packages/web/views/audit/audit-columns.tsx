import type { GatewayAuditEvent } from '@subluminal/contracts';
import type { TableColumn } from '../../parts/data-table.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { decidedAction } from '../../parts/routing-words.ts';
import { Ago, Value } from '../../parts/texts.tsx';

const NONE = <span className="text-dim">–</span>;

export const AUDIT_COLUMNS: readonly TableColumn<GatewayAuditEvent>[] = [
  {
    id: 'at',
    title: 'When',
    width: '80px',
    align: 'right',
    cell: ({ at_ms }) => <Ago atMs={at_ms} />,
  },
  {
    id: 'type',
    title: 'Kind',
    width: 'minmax(96px, 168px)',
    cell: ({ event_type }) => <Value text={event_type} lengthMax={24} />,
  },
  {
    id: 'user',
    title: 'Person',
    width: 'minmax(64px, 1fr)',
    cell: ({ user_id }) => <Value text={user_id} lengthMax={24} />,
  },
  {
    id: 'team',
    title: 'Team',
    width: 'minmax(64px, 1fr)',
    hiddenBelow: 800,
    cell: ({ team_id }) => <Value text={team_id} lengthMax={24} />,
  },
  {
    id: 'repo',
    title: 'Repository',
    width: 'minmax(64px, 1fr)',
    hiddenBelow: 1000,
    cell: ({ repo_id }) => (repo_id === null ? NONE : <Value text={repo_id} lengthMax={24} />),
  },
  {
    id: 'decided',
    title: 'Decided',
    width: '136px',
    hiddenBelow: 640,
    cell: ({ decision }) => {
      const action = decidedAction(decision);
      return action === '' ? NONE : <Value text={action} lengthMax={18} />;
    },
  },
  {
    id: 'rules',
    title: 'Rules',
    width: 'minmax(80px, 1fr)',
    hiddenBelow: 800,
    cell: ({ rule_ids }) =>
      rule_ids.length === 0 ? NONE : <Value text={rule_ids.join(' ')} lengthMax={28} />,
  },
  {
    id: 'to',
    title: 'Went to',
    width: 'minmax(120px, 2fr)',
    hiddenBelow: 1000,
    cell: ({ routed_to }) =>
      routed_to === null ? NONE : <Value text={routed_to} lengthMax={44} />,
  },
  {
    id: 'error',
    title: 'Error',
    width: 'minmax(64px, 136px)',
    hiddenBelow: 480,
    cell: ({ error_code }) =>
      error_code === null ? (
        NONE
      ) : (
        <span className="text-block-ink">■ {plainLine(error_code)}</span>
      ),
  },
];
