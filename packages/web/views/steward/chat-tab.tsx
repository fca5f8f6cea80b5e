// The chat: messages, what Steward does as it does it, and the calls that wait for this person.
import { useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import { asked, post } from '../../api/ledger.ts';
import { useMay, useSession } from '../../api/session.ts';
import { Button, EmptyState } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Ago } from '../../parts/texts.tsx';
import { ApprovalDetail } from '../approvals/approval-detail.tsx';
import { useApprovals } from '../approvals/use-approvals.ts';
import { TaskSteps } from './task-steps.tsx';
import {
  type FollowedConversation,
  type StewardMessage,
  useConversation,
} from './use-conversation.ts';
import { AGAIN_MS, useDecision } from './use-steward.ts';

const CHANNEL = 'web';

export function ChatTab() {
  const { user } = useSession();
  const { params } = useAddress();
  const { data } = useQuery({ ...asked('stewardConversations'), refetchInterval: AGAIN_MS });
  if (data === undefined) return null;
  const { conversations } = data;
  const own = conversations.find(({ channel, person }) => channel === CHANNEL && person === user);
  const shown = conversations.find(({ id }) => id === params['conversation']) ?? own;
  const isOwn = shown === undefined || shown.id === own?.id;
  const others = conversations.filter(({ id }) => id !== own?.id);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {others.length > 0 && (
        <label className="flex h-10 shrink-0 items-center gap-2 border-b border-line px-3 max-md:h-12">
          <span className="text-dim">Conversation</span>
          <select
            className="h-7 min-w-0 rounded-4 border border-line bg-page px-1 max-md:h-11"
            value={isOwn ? '' : shown.id}
            onChange={({ target }) => goTo({ params: { conversation: target.value } })}
          >
            <option value="">this page</option>
            {others.map(({ id, channel, person }) => (
              <option key={id} value={id}>
                {plainText(`${channel}: ${person}`).slice(0, 80)}
              </option>
            ))}
          </select>
        </label>
      )}
      {shown === undefined ? (
        <div className="min-h-0 flex-1 overflow-y-auto">
          <FirstWords />
        </div>
      ) : (
        <Conversation key={shown.id} id={shown.id} />
      )}
      {isOwn && <Composer />}
    </div>
  );
}

function FirstWords() {
  return (
    <EmptyState title="Say what you need." command="sub steward chat">
      Steward works in steps that you see here. What it may not do alone waits for you, with the
      whole call shown.
    </EmptyState>
  );
}

function Conversation({ id }: { readonly id: string }) {
  const conversation = useConversation(id);
  const { failure, isIdle, runIds } = conversation;
  const waiting = useApprovals('pending').data?.rows.filter(({ request }) =>
    runIds.includes(request.call.run_id),
  );
  return (
    <>
      {/* Reversed, so that the browser keeps the end in view. */}
      <div className="flex min-h-0 flex-1 flex-col-reverse overflow-y-auto">
        <div
          role="log"
          aria-label="Conversation"
          className="mx-auto flex w-full max-w-[880px] flex-col gap-3 p-3"
        >
          <Messages conversation={conversation} />
          {failure !== undefined && <FailureText cause={failure} />}
          {waiting?.map((row) => (
            <Waiting key={row.id} id={row.id} />
          ))}
        </div>
      </div>
      {!isIdle && <StopBar id={id} isAsking={(waiting?.length ?? 0) > 0} />}
    </>
  );
}

function Messages({ conversation: { messages, tasks } }: { conversation: FollowedConversation }) {
  return messages.map((message) => {
    const task =
      message.role === 'user' && message.task_id !== null ? tasks.get(message.task_id) : undefined;
    return (
      <Fragment key={message.n}>
        <Message message={message} />
        {task !== undefined && <TaskSteps task={task} />}
      </Fragment>
    );
  });
}

const SPEAKERS = { user: 'You', assistant: 'Steward', notice: 'Notice' } as const;

function Message({ message }: { readonly message: StewardMessage }) {
  const { role, text, at_ms } = message;
  const look = role === 'user' ? 'bg-raised' : role === 'notice' ? 'text-dim' : '';
  return (
    <article
      aria-label={SPEAKERS[role]}
      className={`rounded-4 border border-line px-3 py-2 ${look}`}
    >
      <p className="flex gap-2 text-12 text-dim">
        <span>{SPEAKERS[role]}</span>
        <Ago atMs={at_ms} />
      </p>
      <p className="text-14 break-words whitespace-pre-wrap">{plainText(text)}</p>
    </article>
  );
}

/** A call that waits for a person, whole. */
function Waiting({ id }: { readonly id: string }) {
  return (
    <section
      aria-label="Confirmation"
      className="flex flex-col overflow-hidden rounded-4 border border-ask"
    >
      <ApprovalDetail id={id} />
    </section>
  );
}

function StopBar({ id, isAsking }: { readonly id: string; readonly isAsking: boolean }) {
  const mayAct = useMay('owner');
  const stop = useDecision(() => post('stewardStop', { conversation_id: id }));
  return (
    <div className="flex shrink-0 items-center gap-3 border-t border-line px-3 py-1">
      <span role="status">{isAsking ? 'Steward waits for your answer…' : 'Steward works…'}</span>
      {mayAct && (
        <Button look="danger" disabled={stop.isPending} onClick={() => stop.mutate(undefined)}>
          Stop
        </Button>
      )}
      {stop.error !== null && <FailureText cause={stop.error} />}
    </div>
  );
}

function Composer() {
  const mayAct = useMay('owner');
  const [text, setText] = useState('');
  const send = useDecision((message: string) => post('stewardSend', { text: message }));
  if (!mayAct) {
    return (
      <p className="shrink-0 border-t border-line bg-raised px-3 py-2 text-dim">
        This page may only look. An owner can talk with Steward.
      </p>
    );
  }
  const submit = () => {
    const message = text.trim();
    if (message === '' || send.isPending) return;
    send.mutate(message, { onSuccess: () => setText('') });
  };
  return (
    <form
      className="flex shrink-0 flex-col gap-2 border-t border-line bg-raised px-3 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {send.error !== null && <FailureText cause={send.error} />}
      <div className="flex items-end gap-2">
        <textarea
          aria-label="Message"
          placeholder="Message; Enter sends it"
          rows={2}
          maxLength={100_000}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            submit();
          }}
          className="min-w-0 flex-1 resize-none rounded-4 border border-line bg-page p-2 text-14"
        />
        <Button type="submit" look="primary" disabled={send.isPending} className="max-md:h-11">
          Send
        </Button>
      </div>
    </form>
  );
}
