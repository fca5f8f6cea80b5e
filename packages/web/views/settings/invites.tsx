// Invites that nobody has used yet: make one, whose token is shown once, and take one back.
import { GATEWAY_ROLE, type GatewayAnswerOf, type GatewayRole } from '@subluminal/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { askedGateway, deleteGateway, postGateway } from '../../api/gateway.ts';
import { Button, CommandLine } from '../../parts/buttons.tsx';
import type { TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Ago, Value } from '../../parts/texts.tsx';
import { RowButton } from './row-button.tsx';
import { ShownOnce } from './shown-once.tsx';

type OpenInvite = GatewayAnswerOf<'invites'>['invites'][number];

export function Invites() {
  const { data, error } = useQuery(askedGateway('invites'));
  const onSuccess = useInvitesChanged();
  const remove = useMutation({
    mutationFn: (id: string) => deleteGateway('removeInvite', { id }),
    onSuccess,
  });
  const cause = remove.error ?? error;
  return (
    <section aria-label="Invites">
      <h2 className="px-3 text-14">Invites</h2>
      <NewInvite />
      {cause !== null && <FailureText cause={cause} />}
      <SmallTable
        label="Invites"
        columns={inviteColumns((id) => remove.mutate(id))}
        rows={data?.invites ?? []}
        rowKey={({ id }) => id}
        empty={data && 'No open invites.'}
      />
      <div className="max-w-[400px] p-3">
        <CommandLine command="sub gateway invite USER" />
      </div>
    </section>
  );
}

function useInvitesChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['gateway', 'invites'] });
}

function inviteColumns(onRemove: (id: string) => void): readonly TableColumn<OpenInvite>[] {
  return [
    {
      id: 'user',
      title: 'User',
      width: 'auto',
      cell: ({ user_id }) => <Value text={user_id} lengthMax={32} />,
    },
    {
      id: 'role',
      title: 'Role',
      width: '128px',
      cell: ({ role }) => <Value text={role} />,
    },
    {
      id: 'by',
      title: 'Invited by',
      width: 'auto',
      hiddenBelow: 640,
      cell: ({ created_by }) => <Value text={created_by} lengthMax={32} />,
    },
    {
      id: 'ends',
      title: 'Ends',
      width: '80px',
      align: 'right',
      cell: ({ expires_at_ms }) => <Ago atMs={expires_at_ms} />,
    },
    {
      id: 'actions',
      title: '',
      width: '96px',
      align: 'right',
      cell: ({ id, user_id }) => (
        <RowButton
          word="Take back"
          label={`the invite of ${plainLine(user_id)}`}
          look="danger"
          onClick={() => onRemove(id)}
        />
      ),
    },
  ];
}

function NewInvite() {
  const [user, setUser] = useState('');
  const [role, setRole] = useState<GatewayRole>('developer');
  const onSuccess = useInvitesChanged();
  const invite = useMutation({
    mutationFn: () => postGateway('invite', { user_id: user.trim(), role }),
    onSuccess,
  });
  return (
    <form
      className="flex flex-wrap items-end gap-2 px-3 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        invite.mutate();
      }}
    >
      <TextField label="User" value={user} onChange={({ target }) => setUser(target.value)} />
      <SelectField
        label="Role"
        value={role}
        onChange={({ target }) => {
          setRole(GATEWAY_ROLE.values.find((one) => one === target.value) ?? 'developer');
        }}
      >
        {GATEWAY_ROLE.values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
      <Button
        type="submit"
        look="primary"
        className="max-md:h-11"
        disabled={invite.isPending || user.trim() === ''}
      >
        Invite
      </Button>
      {invite.error !== null && <FailureText cause={invite.error} />}
      {invite.data !== undefined && (
        <ShownOnce
          title={`Invite for ${plainLine(invite.data.user_id)}`}
          help={`They run sub login --gateway ${globalThis.location.origin} --invite - and paste this token. It works once.`}
          secret={invite.data.invite_token}
          onClose={() => {
            invite.reset();
            setUser('');
          }}
        />
      )}
    </form>
  );
}
