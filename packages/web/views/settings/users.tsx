// Everyone at the gateway, and what they may do.
import { GATEWAY_ROLE, type GatewayAnswerOf, type GatewayRole } from '@subluminal/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { askedGateway, postGateway } from '../../api/gateway.ts';
import { useSession } from '../../api/session.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import type { TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Ago, Value } from '../../parts/texts.tsx';
import { RowButton } from './row-button.tsx';

type User = GatewayAnswerOf<'users'>['users'][number];

type UserChange =
  | { readonly kind: 'role'; readonly user: User; readonly role: GatewayRole }
  | { readonly kind: 'keys'; readonly user: User };

export function Users() {
  const { data, error } = useQuery(askedGateway('users'));
  const [change, setChange] = useState<UserChange>();
  const { user: self } = useSession();
  const columns = userColumns(self, setChange);
  return (
    <section aria-label="Users">
      <h2 className="p-3 pb-1 text-14">Users</h2>
      {error !== null && <FailureText cause={error} />}
      <SmallTable
        label="Users"
        columns={columns}
        rows={data?.users ?? []}
        rowKey={({ user_id }) => user_id}
      />
      {change !== undefined && <Confirm change={change} onEnd={() => setChange(undefined)} />}
    </section>
  );
}

function userColumns(
  self: string,
  onChange: (change: UserChange) => void,
): readonly TableColumn<User>[] {
  return [
    {
      id: 'user',
      title: 'User',
      width: 'auto',
      cell: ({ user_id }) => <Value text={user_id} lengthMax={32} />,
    },
    {
      id: 'email',
      title: 'Address',
      width: 'auto',
      hiddenBelow: 800,
      cell: ({ email }) => <Value text={email ?? '–'} lengthMax={36} />,
    },
    {
      id: 'team',
      title: 'Team',
      width: 'auto',
      hiddenBelow: 640,
      cell: ({ team_id, team_name }) => <Value text={team_name ?? team_id} lengthMax={24} />,
    },
    {
      id: 'role',
      title: 'Role',
      width: '144px',
      cell: (user) => (
        <RoleSelect
          user={user}
          isSelf={user.user_id === self}
          onRole={(role) => onChange({ kind: 'role', user, role })}
        />
      ),
    },
    {
      id: 'came',
      title: 'Came',
      width: '80px',
      align: 'right',
      hiddenBelow: 640,
      cell: ({ created_at_ms }) => <Ago atMs={created_at_ms} />,
    },
    {
      id: 'actions',
      title: '',
      width: '104px',
      align: 'right',
      cell: (user) => (
        <RowButton
          word="Revoke keys"
          label={`of ${plainLine(user.user_id)}`}
          look="danger"
          onClick={() => onChange({ kind: 'keys', user })}
        />
      ),
    },
  ];
}

interface RoleSelectProps {
  readonly user: User;
  readonly isSelf: boolean;
  readonly onRole: (role: GatewayRole) => void;
}

function RoleSelect({ user, isSelf, onRole }: RoleSelectProps) {
  return (
    <select
      aria-label={`Role of ${plainLine(user.user_id)}`}
      value={user.role}
      disabled={isSelf}
      title={isSelf ? 'Another admin can change your role.' : undefined}
      onChange={({ target }) => {
        const role = GATEWAY_ROLE.values.find((one) => one === target.value);
        if (role !== undefined) onRole(role);
      }}
      className="h-6 w-full rounded-4 border border-line bg-page font-mono text-12"
    >
      {GATEWAY_ROLE.values.map((role) => (
        <option key={role}>{role}</option>
      ))}
    </select>
  );
}

interface ConfirmProps {
  readonly change: UserChange;
  readonly onEnd: () => void;
}

function Confirm({ change, onEnd }: ConfirmProps) {
  const { user } = change;
  const client = useQueryClient();
  const apply = useMutation({
    mutationFn: async (): Promise<unknown> =>
      change.kind === 'role'
        ? postGateway('setRole', { role: change.role }, { id: user.user_id })
        : postGateway('revokeAll', {}, { id: user.user_id }),
    onSuccess: async () => {
      onEnd();
      await client.invalidateQueries({ queryKey: ['gateway'] });
    },
  });
  const isRole = change.kind === 'role';
  return (
    <AskFirst
      title={isRole ? 'Change this role?' : 'Revoke all keys?'}
      action={isRole ? 'Change role' : 'Revoke all'}
      error={apply.error}
      isPending={apply.isPending}
      onYes={() => apply.mutate()}
      onNo={onEnd}
    >
      <p>
        <Value text={user.user_id} />{' '}
        {change.kind === 'role'
          ? `is ${user.role} and becomes ${change.role}, at once.`
          : 'loses all keys, and every client and page that uses one of them is refused.'}
      </p>
    </AskFirst>
  );
}
