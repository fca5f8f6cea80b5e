// One conversation as it happens: Steward answers as soon as something is new.
import type { ApiAnswerOf } from '@subluminal/contracts';
import { useEffect, useState } from 'react';
import { ask } from '../../api/ledger.ts';
import type { StewardTask } from './use-steward.ts';

type Updates = ApiAnswerOf<'stewardUpdates'>;
export type StewardMessage = Updates['messages'][number];

export interface FollowedConversation {
  readonly messages: readonly StewardMessage[];
  readonly tasks: ReadonlyMap<string, StewardTask>;
  /** Its run and those of its sub-agents: their calls may wait for this person. */
  readonly runIds: readonly string[];
  readonly isIdle: boolean;
  /** Why there is no news; it is tried again. */
  readonly failure: unknown;
}

const NOTHING: FollowedConversation = {
  messages: [],
  tasks: new Map(),
  runIds: [],
  isIdle: true,
  failure: undefined,
};
const WAIT_MS = 25_000;
const RETRY_MS = 2_000;
const MESSAGES_MAX = 2_000;
const TASKS_SHOWN = 50;

/** A component that shows another conversation is another component: it has the id as its key. */
export function useConversation(id: string): FollowedConversation {
  const [conversation, setConversation] = useState(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    void follow(id, stop.signal, setConversation);
    return () => stop.abort();
  }, [id]);
  return conversation;
}

async function follow(
  id: string,
  signal: AbortSignal,
  show: (conversation: FollowedConversation) => void,
): Promise<void> {
  let known = NOTHING;
  let version: number | undefined;
  let hasNews = false;
  while (!signal.aborted) {
    try {
      const past = version === undefined ? await pastTasks(id, signal) : [];
      // An answer may hold a part of the messages: there is something to wait for only after an empty one.
      const wait = version === undefined ? {} : { version, wait_ms: hasNews ? 0 : WAIT_MS };
      const after = known.messages.at(-1)?.n ?? 0;
      const query = { conversation_id: id, after, ...wait };
      const news: Updates = await ask('stewardUpdates', { query }, signal);
      ({ version } = news);
      hasNews = news.messages.length > 0;
      known = grown(known, news, past);
      show(known);
    } catch (cause) {
      if (signal.aborted) return;
      version = undefined;
      show({ ...known, failure: cause });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function pastTasks(id: string, signal: AbortSignal) {
  const query = { conversation_id: id, limit: TASKS_SHOWN };
  const { tasks } = await ask('stewardTasks', { query }, signal);
  return tasks;
}

function grown(
  known: FollowedConversation,
  news: Updates,
  past: readonly StewardTask[],
): FollowedConversation {
  const told = [...past, ...news.tasks].map((task) => [task.id, task] as const);
  return {
    messages: [...known.messages, ...news.messages].slice(-MESSAGES_MAX),
    tasks: new Map([...known.tasks, ...told]),
    runIds: [...(news.run_id === null ? [] : [news.run_id]), ...news.sub_agent_runs],
    isIdle: news.is_idle,
    failure: undefined,
  };
}
