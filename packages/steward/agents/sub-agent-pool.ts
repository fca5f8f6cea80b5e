// Sub-agents: few at once, each for a time. A worker is a conversation of Steward with itself, so that it passes the
// same gates; the coding agent is a process under `sub run`.
import { externalContent } from '@subluminal/core/detect';
import { visible } from '@subluminal/core/visible';
import {
  type Journal,
  type SubAgent,
  type SubAgentState,
  waitForChange,
} from '../journal/index.ts';
import { type Conversations, STOPPED_BY_USER } from '../loop/index.ts';
import type { ResultQuestion, SubAgentDesk, SubAgentOrder } from '../tools/agents/index.ts';
import type { CodingAgent } from './coding-agent.ts';

export interface SubAgentPoolParts {
  readonly journal: Journal;
  readonly limits: () => { readonly max: number; readonly timeoutMs: number };
  /** Undefined while the user has named none. */
  readonly coding: () => CodingAgent | undefined;
  readonly uuid: () => string;
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
}

const AGENT_ID = 'steward';
const LOOK_EVERY_MS = 5_000;
const ANNOUNCED_LENGTH_MAX = 3_000;
const NAMED_LENGTH_MAX = 100;
const TIME_IS_OVER = 'its time is over';
const CANCELLED = 'it was cancelled';
const LOST = 'Steward ended while it worked; its work is lost, and was not begun again';

type EndState = Exclude<SubAgentState, 'SPAWNED' | 'RUNNING'>;

export class SubAgentPool implements SubAgentDesk {
  readonly #parts: SubAgentPoolParts;
  /** Processes of coding agents, by the id of the sub-agent. */
  readonly #processes = new Map<string, { stop: AbortController; ended: Promise<void> }>();
  /** Who waits for a result hears it there, and needs no long announcement. */
  readonly #awaited = new Map<string, number>();
  #conversations: Pick<Conversations, 'receive' | 'stop'> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unfollow = (): void => undefined;

  constructor(parts: SubAgentPoolParts) {
    this.#parts = parts;
  }

  /** Takes up those that a crash has left: workers go on, a process is lost. */
  start(conversations: Pick<Conversations, 'receive' | 'stop'>): void {
    const { journal } = this.#parts;
    this.#conversations = conversations;
    for (const agent of journal.subAgents.open()) {
      if (agent.kind === 'coding') this.#end(agent, 'FAILED', LOST);
      else this.#begin(agent);
    }
    this.#unfollow = journal.onChange(() => this.#collect());
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
    this.look();
  }

  /** Workers are left for the next start; processes end. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#unfollow();
    const ended = [...this.#processes.values()].map(({ stop, ended: end }) => {
      stop.abort();
      return end;
    });
    await Promise.all(ended);
  }

  /** Ends those whose time is over. */
  look(): void {
    const { journal, limits, nowMs } = this.#parts;
    const { timeoutMs } = limits();
    for (const agent of journal.subAgents.open()) {
      if (nowMs() - agent.spawnedAtMs >= timeoutMs) this.#end(agent, 'TIMED_OUT', TIME_IS_OVER);
    }
    this.#collect();
  }

  spawn(order: SubAgentOrder): SubAgent | string {
    const { journal, limits, coding, uuid } = this.#parts;
    const { kind, task, context, conversationId, key } = order;
    const known = journal.subAgents.byKey(key);
    if (known !== undefined) return known;
    const conversation = journal.conversation(conversationId);
    if (conversation === undefined || conversation.parentId !== null) {
      return 'A sub-agent cannot start another one.';
    }
    const { max } = limits();
    const open = journal.subAgents.open().length;
    if (open >= max) return `${open} sub-agents work already, as many as may. Wait for one to end.`;
    if (kind === 'coding' && coding() === undefined) return 'No coding agent is configured.';
    const running = journal.openTasks(conversationId).find(({ state }) => state === 'running');
    if (running === undefined) return 'There is no task that a sub-agent could work for.';
    const handed =
      context.trim() === '' ? '' : `\n\n${externalContent(context, { source: 'parent' })}`;
    const agent = journal.subAgents.add({
      ...{ id: `agent:${AGENT_ID}:subagent:${uuid()}`, key, kind, conversationId },
      ...{ taskId: running.id, request: `Task: ${task}${handed}` },
    });
    this.#begin(agent);
    return journal.subAgents.get(agent.id) ?? agent;
  }

  list(conversationId: string): readonly SubAgent[] {
    const { journal, limits, nowMs } = this.#parts;
    const archivedMs = nowMs() - limits().timeoutMs;
    return journal.subAgents
      .of(conversationId)
      .filter(({ endedAtMs }) => endedAtMs === null || endedAtMs > archivedMs);
  }

  async result({ id, conversationId, waitMs, signal }: ResultQuestion) {
    const { journal } = this.#parts;
    const find = () => {
      const found = journal.subAgents.get(id);
      return found?.conversationId === conversationId ? found : undefined;
    };
    if (find()?.endedAtMs !== null || waitMs === 0) return find();
    this.#awaited.set(id, (this.#awaited.get(id) ?? 0) + 1);
    try {
      await waitForChange(journal, () => find()?.endedAtMs !== null, { waitMs, signal });
    } finally {
      const left = (this.#awaited.get(id) ?? 1) - 1;
      if (left === 0) this.#awaited.delete(id);
      else this.#awaited.set(id, left);
    }
    return find();
  }

  cancel(id: string, conversationId: string): boolean {
    const agent = this.#parts.journal.subAgents.get(id);
    if (agent?.conversationId !== conversationId || agent.endedAtMs !== null) return false;
    this.#end(agent, 'CANCELLED', CANCELLED);
    return true;
  }

  /** Ends the coding agents of a conversation, or only those of one task: they have no tasks that would be ended. */
  stopProcesses(conversationId: string, taskId: string | undefined): number {
    const own = this.#parts.journal.subAgents
      .open()
      .filter(
        (agent) =>
          agent.kind === 'coding' &&
          agent.conversationId === conversationId &&
          (taskId === undefined || agent.taskId === taskId),
      );
    for (const agent of own) this.#end(agent, 'CANCELLED', STOPPED_BY_USER);
    return own.length;
  }

  #begin(agent: SubAgent): void {
    const { journal } = this.#parts;
    if (agent.kind === 'coding') this.#startProcess(agent);
    else if (journal.lastTasksOf(agent.id, 1).length === 0) this.#startWorker(agent);
    journal.subAgents.setRunning(agent.id);
  }

  #startWorker(agent: SubAgent): void {
    const { id, conversationId, taskId, request } = agent;
    const parent = this.#parts.journal.conversation(conversationId);
    if (parent === undefined) throw new Error('the conversation of a sub-agent is gone');
    const { channel, person } = parent;
    const taken = this.#conversations?.receive({
      ...{ channel, person, address: id, text: request, purpose: 'worker', askedBy: 'agent' },
      worksFor: { id, conversationId, taskId },
    });
    if (taken?.kind === 'refused') this.#end(agent, 'FAILED', taken.why);
  }

  #startProcess(agent: SubAgent): void {
    const { journal, coding, log } = this.#parts;
    const stop = new AbortController();
    const { id, request, conversationId } = agent;
    const runId = journal.conversation(conversationId)?.runId ?? null;
    const work = coding()?.work({ id, runId, request, signal: stop.signal });
    const ended = Promise.resolve(work)
      .then((outcome) => {
        if (outcome === undefined)
          return this.#end(agent, 'FAILED', 'No coding agent is configured');
        this.#end(agent, outcome.isDone ? 'COMPLETED' : 'FAILED', outcome.text);
      })
      .catch((cause: unknown) => log(`A coding agent failed: ${String(cause)}`))
      .finally(() => this.#processes.delete(agent.id));
    this.#processes.set(agent.id, { stop, ended });
  }

  /** Ends those whose task has ended. */
  #collect(): void {
    const { journal } = this.#parts;
    for (const agent of journal.subAgents.open()) {
      const [task] = journal.lastTasksOf(agent.id, 1);
      if (task?.state === 'done') {
        const [said] = journal.lastMessages(agent.id, 1);
        this.#end(agent, 'COMPLETED', said?.text ?? '');
      } else if (task?.state === 'failed' || task?.state === 'stopped') {
        const isCancelled = task.reason === STOPPED_BY_USER;
        this.#end(agent, isCancelled ? 'CANCELLED' : 'FAILED', task.reason ?? '');
      }
    }
  }

  /** On the disk first; then whatever still works for it stops. */
  #end(agent: SubAgent, state: EndState, result: string): void {
    const { journal } = this.#parts;
    const announcement = announced(agent, { state, result, isHeard: this.#awaited.has(agent.id) });
    if (!journal.subAgents.end(agent, { state, result, announcement })) return;
    this.#processes.get(agent.id)?.stop.abort();
    if (state !== 'COMPLETED') this.#conversations?.stop(agent.id, undefined, result);
  }
}

const HOW: { readonly [S in EndState]: string } = {
  COMPLETED: 'is done',
  FAILED: 'has failed',
  TIMED_OUT: 'was stopped',
  CANCELLED: 'was cancelled',
};

function announced(
  { kind, request }: SubAgent,
  { state, result, isHeard }: { state: EndState; result: string; isHeard: boolean },
): string {
  const [first = ''] = request.split('\n', 1);
  const head = `The ${kind} sub-agent (${visible(first, NAMED_LENGTH_MAX)}) ${HOW[state]}`;
  if (isHeard && state === 'COMPLETED') return `${head}.`;
  const shown =
    result.length <= ANNOUNCED_LENGTH_MAX ? result : `${result.slice(0, ANNOUNCED_LENGTH_MAX)}…`;
  return `${head}:\n${shown}`;
}
