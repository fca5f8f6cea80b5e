// The keys of whoever is logged in: make one, which is shown once, and revoke one.
import type { GatewayAnswerOf } from '@subluminal/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { askedGateway, deleteGateway, postGateway } from '../../api/gateway.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Button } from '../../parts/buttons.tsx';
import type { TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { TextField } from '../../parts/field.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Ago, Value } from '../../parts/texts.tsx';
import { RowButton } from './row-button.tsx';
import { ShownOnce } from './shown-once.tsx';

type ApiKey = GatewayAnswerOf<'keys'>['keys'][number];

export function ApiKeys() {
  const { data, error } = useQuery(askedGateway('keys'));
  const [revoked, setRevoked] = useState<ApiKey>();
  return (
    <div className="max-w-[900px]">
      <NewKey />
      {error !== null && <FailureText cause={error} />}
      <SmallTable
        label="API keys"
        columns={keyColumns(setRevoked)}
        rows={data?.keys ?? []}
        rowKey={({ id }) => id}
        empty={data && 'No keys.'}
      />
      {revoked !== undefined && <RevokeKey apiKey={revoked} onEnd={() => setRevoked(undefined)} />}
    </div>
  );
}

function keyColumns(onRevoke: (key: ApiKey) => void): readonly TableColumn<ApiKey>[] {
  return [
    {
      id: 'name',
      title: 'Name',
      width: 'auto',
      cell: ({ name }) =>
        name === '' ? <span className="text-dim">no name</span> : <Value text={name} />,
    },
    {
      id: 'last4',
      title: 'Ends in',
      width: '80px',
      cell: ({ last4 }) => <Value text={`…${last4}`} />,
    },
    {
      id: 'made',
      title: 'Made',
      width: '96px',
      align: 'right',
      cell: ({ created_at_ms }) => <Ago atMs={created_at_ms} />,
    },
    {
      id: 'actions',
      title: '',
      width: '96px',
      align: 'right',
      cell: (key) => (
        <RowButton
          word="Revoke"
          label={`${plainLine(key.name)} …${plainLine(key.last4)}`}
          look="danger"
          onClick={() => onRevoke(key)}
        />
      ),
    },
  ];
}

function useKeysChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['gateway', 'keys'] });
}

function NewKey() {
  const [name, setName] = useState('');
  const onSuccess = useKeysChanged();
  const make = useMutation({
    mutationFn: () => postGateway('addKey', name.trim() === '' ? {} : { name: name.trim() }),
    onSuccess,
  });
  return (
    <form
      className="flex flex-wrap items-end gap-2 p-3"
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate();
      }}
    >
      <TextField
        label="Name, to tell keys apart"
        value={name}
        maxLength={128}
        onChange={({ target }) => setName(target.value)}
      />
      <Button type="submit" look="primary" className="max-md:h-11" disabled={make.isPending}>
        Make a key
      </Button>
      {make.error !== null && <FailureText cause={make.error} />}
      {make.data !== undefined && (
        <ShownOnce
          title="New API key"
          help="Clients send it as Authorization: Bearer KEY. Keep it where you keep secrets."
          secret={make.data.key}
          onClose={() => {
            make.reset();
            setName('');
          }}
        />
      )}
    </form>
  );
}

function RevokeKey({ apiKey, onEnd }: { readonly apiKey: ApiKey; readonly onEnd: () => void }) {
  const onChanged = useKeysChanged();
  const revoke = useMutation({
    mutationFn: () => deleteGateway('revokeKey', { id: apiKey.id }),
    onSuccess: async () => {
      onEnd();
      await onChanged();
    },
  });
  return (
    <AskFirst
      title="Revoke this key?"
      action="Revoke"
      error={revoke.error}
      isPending={revoke.isPending}
      onYes={() => revoke.mutate()}
      onNo={onEnd}
    >
      <p>
        <Value text={apiKey.name} lengthMax={40} /> <Value text={`…${apiKey.last4}`} /> counts no
        longer at once. A page that logged in with it, perhaps this one, is logged out.
      </p>
    </AskFirst>
  );
}
