// Webhooks: those of the configuration and those added here, with a test of each.
import { type GatewayAnswerOf, WEBHOOK_EVENT, type WebhookEvent } from '@subluminal/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { askedGateway, deleteGateway, postGateway } from '../../api/gateway.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Button } from '../../parts/buttons.tsx';
import type { TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { TextField } from '../../parts/field.tsx';
import { plainLine, plainText } from '../../parts/plain-text.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Value } from '../../parts/texts.tsx';
import { RowButton } from './row-button.tsx';

type Webhook = GatewayAnswerOf<'webhooks'>['webhooks'][number];

export function Webhooks() {
  const { data, error } = useQuery(askedGateway('webhooks'));
  const [removed, setRemoved] = useState<Webhook>();
  const test = useMutation({ mutationFn: (id: string) => postGateway('testWebhook', {}, { id }) });
  const cause = test.error ?? error;
  return (
    <div className="flex max-w-[1100px] flex-col gap-3 pt-3">
      {cause !== null && <FailureText cause={cause} />}
      <SmallTable
        label="Webhooks"
        columns={webhookColumns({ onTest: (id) => test.mutate(id), onRemove: setRemoved })}
        rows={data?.webhooks ?? []}
        rowKey={({ id }) => id}
        empty={data && 'No webhooks.'}
      />
      <p role="status" className="min-h-5 px-3">
        {test.data !== undefined && <TestResult id={test.variables} result={test.data} />}
      </p>
      <NewWebhook />
      {removed !== undefined && (
        <RemoveWebhook webhook={removed} onEnd={() => setRemoved(undefined)} />
      )}
    </div>
  );
}

interface TestResultProps {
  readonly id: string;
  readonly result: GatewayAnswerOf<'testWebhook'>;
}

function TestResult({ id, result: { delivered, status, error } }: TestResultProps) {
  return (
    <>
      <span className={delivered ? 'text-allow-ink' : 'text-block-ink'}>
        {delivered ? '● Delivered' : '■ Not delivered'}
      </span>{' '}
      to <Value text={id} lengthMax={36} />
      {status !== null && `, answered with ${status}`}
      {error !== null && `: ${plainText(error)}`}
    </>
  );
}

function webhookColumns(on: {
  readonly onTest: (id: string) => void;
  readonly onRemove: (webhook: Webhook) => void;
}): readonly TableColumn<Webhook>[] {
  return [
    {
      id: 'id',
      title: 'Webhook',
      width: '144px',
      hiddenBelow: 640,
      cell: ({ id }) => <Value text={id} lengthMax={18} />,
    },
    { id: 'url', title: 'Goes to', width: 'auto', cell: ({ url }) => <Value text={url} /> },
    {
      id: 'events',
      title: 'Is told',
      width: 'auto',
      hiddenBelow: 800,
      cell: ({ events }) => (
        <span className="font-mono" title={events.map(plainLine).join(', ')}>
          {events.map(plainLine).join(', ')}
        </span>
      ),
    },
    {
      id: 'source',
      title: 'Set up in',
      width: '112px',
      hiddenBelow: 800,
      cell: ({ source }) => (source === 'config' ? 'configuration' : 'API'),
    },
    {
      id: 'actions',
      title: '',
      width: '112px',
      align: 'right',
      cell: (webhook) => (
        <span className="inline-flex gap-3">
          <RowButton
            word="Test"
            label={plainLine(webhook.id)}
            look="accent"
            onClick={() => on.onTest(webhook.id)}
          />
          {webhook.source === 'api' && (
            <RowButton
              word="Remove"
              label={plainLine(webhook.id)}
              look="danger"
              onClick={() => on.onRemove(webhook)}
            />
          )}
        </span>
      ),
    },
  ];
}

function useWebhooksChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['gateway', 'webhooks'] });
}

interface RemoveWebhookProps {
  readonly webhook: Webhook;
  readonly onEnd: () => void;
}

function RemoveWebhook({ webhook, onEnd }: RemoveWebhookProps) {
  const onChanged = useWebhooksChanged();
  const remove = useMutation({
    mutationFn: () => deleteGateway('removeWebhook', { id: webhook.id }),
    onSuccess: async () => {
      onEnd();
      await onChanged();
    },
  });
  return (
    <AskFirst
      title="Remove this webhook?"
      action="Remove"
      error={remove.error}
      isPending={remove.isPending}
      onYes={() => remove.mutate()}
      onNo={onEnd}
    >
      <p>
        <Value text={webhook.url} /> is told nothing any more.
      </p>
    </AskFirst>
  );
}

function NewWebhook() {
  const [url, setUrl] = useState('');
  const [secretRef, setSecretRef] = useState('');
  const [events, setEvents] = useState<readonly WebhookEvent[]>([]);
  const onChanged = useWebhooksChanged();
  const add = useMutation({
    mutationFn: () =>
      postGateway('addWebhook', {
        url: url.trim(),
        secret_ref: secretRef.trim(),
        events: [...events],
      }),
    onSuccess: async () => {
      setUrl('');
      setSecretRef('');
      setEvents([]);
      await onChanged();
    },
  });
  const isWhole = url.trim() !== '' && secretRef.trim() !== '' && events.length > 0;
  return (
    <form
      aria-label="Add a webhook"
      className="flex flex-col gap-2 px-3 pb-3"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <h2 className="text-14">Add a webhook</h2>
      <div className="grid gap-2 sm:grid-cols-2">
        <TextField
          label="Address, which the allowlist must name"
          placeholder="https://…"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
        <TextField
          label="Where the shared secret is"
          placeholder="env://NAME, file:///path or vault://…"
          value={secretRef}
          onChange={({ target }) => setSecretRef(target.value)}
        />
      </div>
      <EventChoices events={events} onEvents={setEvents} />
      {add.error !== null && <FailureText cause={add.error} />}
      <div>
        <Button
          type="submit"
          look="primary"
          className="max-md:h-11"
          disabled={!isWhole || add.isPending}
        >
          Add webhook
        </Button>
      </div>
    </form>
  );
}

interface EventChoicesProps {
  readonly events: readonly WebhookEvent[];
  readonly onEvents: (events: readonly WebhookEvent[]) => void;
}

function EventChoices({ events, onEvents }: EventChoicesProps) {
  return (
    <fieldset className="flex flex-wrap gap-x-4">
      <legend className="text-12 text-dim">Is told of</legend>
      {WEBHOOK_EVENT.values.map((event) => (
        <label key={event} className="inline-flex h-7 items-center gap-1 font-mono max-md:h-11">
          <input
            type="checkbox"
            checked={events.includes(event)}
            onChange={({ target }) =>
              onEvents(target.checked ? [...events, event] : events.filter((one) => one !== event))
            }
          />
          {event}
        </label>
      ))}
    </fieldset>
  );
}
