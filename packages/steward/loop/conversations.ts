// Who talks with Steward, and what it does for them: one run and one task at a time for each
// conversation, a few conversations at once.
import type { AgentRun } from '@subluminal/plane/agent-run';
import { errorText } from '@subluminal/plane/os';
import type { AskedBy, Conversation, Journal, JournalTask } from '../journal/index.ts';
import type { Purpose } from '../models/types.ts';
import { isFromElsewhere } from './context.ts';
import { runTask } from './task.ts';
import type { TaskParts } from './types.ts';

export interface Asker {
  readonly channel: string;
  readonly person: string;
  readonly address: string;
}

export interface SubAgentPlace {
  readonly id: string;
  readonly conversationId: string;
  readonly taskId: string;
}

export interface Request extends Asker {
  readonly text: string;
  readonly purpose?: Purpose;
  readonly askedBy?: AskedBy;
  /** Of a sub-agent: its id, which is that of its conversation, and what it works for. */
  readonly worksFor?: SubAgentPlace;
}

export type Taken =
  | { readonly kind: 'task'; readonly task: JournalTask }
  | { readonly kind: 'stopped'; readonly conversationId: string; readonly count: number }
  | { readonly kind: 'refused'; readonly why: string };

export interface ConversationParts
  extends Pick<TaskParts, 'models' | 'knowledge' | 'judge' | 'limits' | 'nowMs'> {
  readonly journal: Journal;
  readonly uuid: () => string;
  /** Opens the run of a conversation, governed by what its channel may do. Throws its failure. */
  readonly openRun: (conversation: Conversation) => Promise<AgentRun>;
  readonly closeRun: (run: AgentRun) => Promise<void>;
  readonly reply: (conversation: Conversation, text: string) => string;
  /** Ends what works for a conversation, or for one of its tasks, outside of this process; gives how many. */
  readonly stopProcesses: (conversationId: string, taskId: string | undefined) => number;
  /** What went wrong beside a task, in a whole sentence. */
  readonly log: (line: string) => void;
}

const WAITING_MAX = 20;
const TEXT_LENGTH_MAX = 100_000;
const AT_ONCE_MAX = 4;
/** A run whose conversation is silent ends, and its servers with it. */
const IDLE_MS = 15 * 60_000;
/** Each run has its servers, so only those that spoke last wait for the next message. */
const IDLE_RUNS_MAX = 8;
const REMEMBERED_TASKS_MAX = 20;
const REMEMBERED_STEPS_MAX = 200;
const HEARD_MESSAGES_MAX = 60;
export const STOPPED_BY_USER = 'you stopped it';

interface Active {
  readonly conversation: Conversation;
  run: Promise<AgentRun> | undefined;
  current: { readonly taskId: string; readonly stop: AbortController } | undefined;
  working: Promise<void> | undefined;
  idle: NodeJS.Timeout | undefined;
  idleSinceMs: number;
  /** The last message that its run knows of. */
  heard: number;
}

export class Conversations {
  readonly #parts: ConversationParts;
  readonly #active = new Map<string, Active>();
  readonly #waitingForRoom: (() => void)[] = [];
  readonly #halt = new AbortController();
  #working = 0;
  #isClosed = false;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
  }

  /** Aborted when the journal takes no writes: nothing is done then until the next start. */
  get halted(): AbortSignal {
    return this.#halt.signal;
  }

  /** Takes a message: it is on the disk when this returns. */
  receive({ text, purpose = 'agent', askedBy = 'user', worksFor, ...asker }: Request): Taken {
    const { journal, uuid } = this.#parts;
    const conversation = journal.conversationFor({
      ...asker,
      id: worksFor?.id ?? uuid(),
      parentId: worksFor?.conversationId,
    });
    const conversationId = conversation.id;
    if (askedBy === 'user' && text.trim() === '/stop') {
      return { kind: 'stopped', conversationId, count: this.stop(conversationId) };
    }
    if (text.trim() === '') return { kind: 'refused', why: 'The message is empty.' };
    if (text.length > TEXT_LENGTH_MAX) {
      const why = `The message has more than ${TEXT_LENGTH_MAX} characters.`;
      return { kind: 'refused', why };
    }
    const open = journal.openTasks(conversationId);
    if (open.length >= WAITING_MAX) {
      return { kind: 'refused', why: `${open.length} tasks wait already; /stop ends them.` };
    }
    const asked = { conversationId, purpose, askedBy, request: text, parentId: worksFor?.taskId };
    const task = journal.addTask({ id: uuid(), ...asked });
    this.#work(conversation);
    return { kind: 'task', task };
  }

  /** Goes on with what was under way when the process ended. */
  resume(): void {
    const { journal } = this.#parts;
    const ids = new Set(journal.openTasks().map(({ conversationId }) => conversationId));
    for (const id of ids) {
      const conversation = journal.conversation(id);
      if (conversation !== undefined) this.#work(conversation);
    }
  }

  /** Ends the tasks of a conversation, or only the one that is named, with those of its sub-agents. */
  stop(conversationId: string, taskId?: string, reason = STOPPED_BY_USER): number {
    const { journal } = this.#parts;
    const tasks = journal.openTasks().filter((task) => {
      if (task.conversationId === conversationId) return taskId === undefined || task.id === taskId;
      if (task.parentId === null) return false;
      if (taskId !== undefined) return task.parentId === taskId;
      return journal.conversation(task.conversationId)?.parentId === conversationId;
    });
    const reply = { role: 'notice', text: `I stopped this task: ${reason}.` } as const;
    for (const { id, conversationId: of } of tasks) {
      journal.endTask(id, { state: 'stopped', reason, reply });
      const current = this.#active.get(of)?.current;
      if (current?.taskId === id) current.stop.abort();
    }
    return tasks.length + this.#parts.stopProcesses(conversationId, taskId);
  }

  /** Changes every open run, for a policy or a server. One that is slow or fails holds up no other. */
  async forEachRun(
    change: (run: AgentRun, conversation: Conversation) => Promise<unknown>,
  ): Promise<void> {
    const changing = [...this.#active.values()].map(async ({ run, conversation }) => {
      try {
        if (run !== undefined) await change(await run, conversation);
      } catch (cause) {
        const { id, channel } = conversation;
        this.#parts.log(`A change did not reach ${channel} ${id}: ${errorText(cause)}.`);
      }
    });
    await Promise.all(changing);
  }

  /** Takes nothing more, and leaves open tasks for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { current } of this.#active.values()) current?.stop.abort();
    for (const go of this.#waitingForRoom.splice(0)) go();
    await Promise.allSettled([...this.#active.values()].map(async ({ working }) => working));
    await Promise.allSettled([...this.#active.keys()].map((id) => this.#closeRun(id)));
  }

  #work(conversation: Conversation): void {
    const active = this.#activate(conversation);
    clearTimeout(active.idle);
    active.working ??= this.#workOff(active)
      .finally(() => this.#rest(active))
      .catch((cause: unknown) => this.#parts.log(`A conversation failed: ${errorText(cause)}.`));
  }

  #rest(active: Active): void {
    const { conversation } = active;
    active.working = undefined;
    if (this.#isClosed) return;
    // A message may have come between the last look and this.
    if (this.#next(active) !== undefined) return this.#work(conversation);
    // A sub-agent is asked nothing more.
    const idleMs = conversation.parentId === null ? IDLE_MS : 0;
    active.idle = setTimeout(() => this.#closeIdle(conversation), idleMs).unref();
    active.idleSinceMs = performance.now();
    this.#closeLongestIdle();
  }

  #closeLongestIdle(): void {
    const idle = [...this.#active.values()]
      .filter(({ working }) => working === undefined)
      .toSorted((one, other) => one.idleSinceMs - other.idleSinceMs);
    for (const { conversation } of idle.slice(0, -IDLE_RUNS_MAX)) this.#closeIdle(conversation);
  }

  #closeIdle({ id }: Conversation): void {
    this.#closeRun(id).catch((cause: unknown) =>
      this.#parts.log(`A run did not end as it should: ${errorText(cause)}.`),
    );
  }

  #activate(conversation: Conversation): Active {
    const known = this.#active.get(conversation.id);
    if (known !== undefined) return known;
    const made = {
      conversation,
      ...{ run: undefined, current: undefined, working: undefined, idle: undefined },
      ...{ heard: 0, idleSinceMs: 0 },
    };
    this.#active.set(conversation.id, made);
    return made;
  }

  #next({ conversation }: Active): JournalTask | undefined {
    return this.#parts.journal.openTasks(conversation.id)[0];
  }

  async #workOff(active: Active): Promise<void> {
    // Sub-agents are bounded by themselves, and take no person's place.
    const takesRoom = active.conversation.parentId === null;
    if (takesRoom) await this.#room();
    try {
      while (!this.#isClosed) {
        const task = this.#next(active);
        if (task === undefined) return;
        await this.#perform(active, task);
      }
    } finally {
      if (takesRoom) this.#leaveRoom();
    }
  }

  async #room(): Promise<void> {
    if (this.#working >= AT_ONCE_MAX && !this.#isClosed) {
      await new Promise<void>((go) => this.#waitingForRoom.push(go));
    }
    this.#working += 1;
  }

  #leaveRoom(): void {
    this.#working -= 1;
    this.#waitingForRoom.shift()?.();
  }

  async #perform(active: Active, task: JournalTask): Promise<void> {
    const { log } = this.#parts;
    const stop = new AbortController();
    active.current = { taskId: task.id, stop };
    try {
      const run = await this.#openRun(active);
      await this.#hear(active, run);
      if (task.askedBy === 'user') run.userSaid(task.request);
      const { conversation } = active;
      const reply = (text: string) => this.#parts.reply(conversation, text);
      await runTask({ ...this.#parts, conversation, run, reply }, task.id, stop.signal);
    } catch (cause) {
      // A defect or a disk that is full: the task ends rather than being tried for ever.
      const reason = errorText(cause);
      log(`The task ${task.id} failed: ${reason}`);
      this.#giveUp(task, reason);
    } finally {
      active.current = undefined;
    }
  }

  /** Without a journal nothing may go on. */
  #giveUp({ id }: JournalTask, reason: string): void {
    const reply = { role: 'notice', text: `This failed: ${reason}` } as const;
    try {
      this.#parts.journal.endTask(id, { state: 'failed', reason, reply });
    } catch {
      this.#isClosed = true;
      this.#halt.abort();
      this.#parts.log('Nothing more is done: the journal takes no writes.');
    }
  }

  #openRun(active: Active): Promise<AgentRun> {
    active.run ??= this.#rememberedRun(active.conversation).catch((cause: unknown) => {
      active.run = undefined;
      throw cause;
    });
    return active.run;
  }

  /** A new run knows what was said and read before: taint outlives a restart. */
  async #rememberedRun(conversation: Conversation): Promise<AgentRun> {
    const { journal, openRun } = this.#parts;
    // A sub-agent is handed values of the conversation that it works for: their taint goes along.
    const { id, parentId } = conversation;
    const ids = [...(parentId === null ? [] : [parentId]), id];
    const tasks = ids.flatMap((one) => journal.lastTasksOf(one, REMEMBERED_TASKS_MAX));
    const said = ids.flatMap((one) => journal.userWords(one, REMEMBERED_TASKS_MAX));
    const steps = tasks.flatMap((task) => journal.steps(task.id)).slice(-REMEMBERED_STEPS_MAX);
    const run = await openRun(conversation);
    journal.setRun(conversation.id, run.id);
    for (const text of said) run.userSaid(text);
    for (const { server, tool, result, callId } of steps) {
      if (callId !== null && result !== null) await run.remember({ server, tool, text: result });
    }
    return run;
  }

  /** What came from other runs, such as the result of a sub-agent, is as tainted as what a tool answers. */
  async #hear(active: Active, run: AgentRun): Promise<void> {
    const { journal } = this.#parts;
    const { id } = active.conversation;
    for (const message of journal.lastMessages(id, HEARD_MESSAGES_MAX)) {
      if (message.n <= active.heard) continue;
      active.heard = message.n;
      if (!isFromElsewhere(journal, message)) continue;
      await run.remember({ server: 'agents', tool: 'result', text: message.text });
    }
  }

  async #closeRun(conversationId: string): Promise<void> {
    const active = this.#active.get(conversationId);
    if (active === undefined || active.current !== undefined) return;
    this.#active.delete(conversationId);
    clearTimeout(active.idle);
    const run = await active.run?.catch(() => undefined);
    if (run !== undefined) await this.#parts.closeRun(run);
  }
}
