// Sub-agents as tools: workers for what takes long, which report back. A worker itself does not get these.
import { closed, defaulted, integer, oneOf, required, string } from '@subluminal/contracts/shape';
import { quote, visible } from '@subluminal/core/visible';
import { type OwnAnswer, type OwnServer, ownTool } from '@subluminal/plane/agent-run';
import type { SubAgent, SubAgentKind } from '../../journal/index.ts';

export interface SubAgentOrder {
  readonly kind: SubAgentKind;
  readonly task: string;
  /** What the worker is told beside its task. */
  readonly context: string;
  /** The conversation that it works for. */
  readonly conversationId: string;
  /** The same order is carried out once. */
  readonly key: string;
}

/** Who starts sub-agents and knows of them. */
export interface SubAgentDesk {
  /** A text says why not. */
  spawn(order: SubAgentOrder): SubAgent | string;
  /** Of a conversation, without those that ended long ago. */
  list(conversationId: string): readonly SubAgent[];
  /** Waits for its end, not longer than this; undefined when the conversation has none of this id. */
  result(asked: ResultQuestion): Promise<SubAgent | undefined>;
  /** Whether there was one to end. */
  cancel(id: string, conversationId: string): boolean;
}

export interface ResultQuestion {
  readonly id: string;
  readonly conversationId: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface AgentsServerOptions {
  readonly desk: SubAgentDesk;
  readonly conversationId: string;
  /** Whether the user has named a coding agent. */
  readonly hasCoding: boolean;
}

const SHOWN_LENGTH_MAX = 120;
const task = required(
  string({ lengthMax: 8_000 }),
  'What it is to do, complete: it knows nothing of this conversation.',
);
const context = defaulted(
  string({ lengthMin: 0, lengthMax: 40_000 }),
  '',
  'What it needs to know for that, such as parts of answers of tools. It is handed over as data.',
);
const SPAWN = closed({
  kind: required(
    oneOf('research', 'task'),
    '`research` to find out something; `task` for other long work.',
  ),
  task,
  context,
});
const CODE = closed({ task, context });
const id = required(string({ lengthMax: 128 }), 'The id, from `spawn` or `list`.');
const RESULT = closed({
  id,
  wait_seconds: defaulted(integer({ min: 0, max: 600 }), 60, 'How long to wait for its end.'),
});

export function agentsServer(options: AgentsServerOptions): OwnServer {
  const { desk, conversationId, hasCoding } = options;
  const code = ownTool({
    name: 'code',
    description: "Gives a task to the user's own coding agent, which works in its own folder.",
    input: CODE,
    annotations: { idempotentHint: true, destructiveHint: true, openWorldHint: true },
    call: async (args, { key }) =>
      started(desk.spawn({ ...args, kind: 'coding', conversationId, key })),
  });
  return {
    name: 'agents',
    tools: [
      ownTool({
        name: 'spawn',
        description:
          'Starts a worker in the background for long or separate work. Its result is announced in this conversation, and `result` gives it to you.',
        input: SPAWN,
        annotations: { idempotentHint: true, destructiveHint: false, openWorldHint: true },
        call: async (args, { key }) => started(desk.spawn({ ...args, conversationId, key })),
      }),
      ...(hasCoding ? [code] : []),
      ownTool({
        name: 'list',
        description: 'Lists the workers of this conversation.',
        input: closed({}),
        annotations: { readOnlyHint: true },
        call: async () => ({
          text: desk.list(conversationId).map(lineOf).join('\n') || 'There are no workers.',
        }),
      }),
      ownTool({
        name: 'result',
        description: 'What a worker has found. Waits until it has ended.',
        input: RESULT,
        annotations: { readOnlyHint: true },
        call: async ({ id: wanted, wait_seconds }, { signal }) => {
          const asked = { id: wanted, conversationId, waitMs: wait_seconds * 1_000, signal };
          return resultOf(wanted, await desk.result(asked));
        },
      }),
      ownTool({
        name: 'cancel',
        description: 'Ends a worker of this conversation.',
        input: closed({ id }),
        annotations: { idempotentHint: true, destructiveHint: true },
        call: async ({ id: wanted }) =>
          desk.cancel(wanted, conversationId)
            ? { text: `${visible(wanted, SHOWN_LENGTH_MAX)} is cancelled.` }
            : { text: `There is no worker ${quote(wanted)} that has not ended.`, isError: true },
      }),
    ],
  };
}

function started(agent: SubAgent | string): OwnAnswer {
  if (typeof agent === 'string') return { text: agent, isError: true };
  return { text: `${agent.id} is started.`, structured: { id: agent.id, state: agent.state } };
}

function lineOf({ id: own, kind, state, request }: SubAgent): string {
  return `${own} ${kind} ${state}: ${visible(request, SHOWN_LENGTH_MAX)}`;
}

function resultOf(wanted: string, agent: SubAgent | undefined): OwnAnswer {
  if (agent === undefined) {
    return { text: `There is no worker ${quote(wanted)} of this conversation.`, isError: true };
  }
  const { id: own, state, result, endedAtMs } = agent;
  if (endedAtMs === null) return { text: `${own} has not ended yet: ${state}. Ask again later.` };
  const text = `${own} is ${state}.\n${result ?? ''}`;
  return { text, ...(state !== 'COMPLETED' && { isError: true }) };
}
