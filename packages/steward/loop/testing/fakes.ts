// A world for the loop: servers whose effects are counted, a model that follows a script, and a
// journal that dies at a chosen write, as a process does.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Failure, failure, isFailure, type JsonObject } from '@subluminal/contracts';
import type {
  AgentCall,
  AgentOutcome,
  AgentRun,
  AgentTool,
  PastAnswer,
} from '@subluminal/plane/agent-run';
import { type Journal, openJournal } from '../../journal/index.ts';
import type { ModelAnswer, ModelQuestion, ModelUse } from '../../models/types.ts';
import { type ConversationParts, Conversations, type LoopLimits, type Proposal } from '../index.ts';

export const TERMINAL = { channel: 'terminal', person: 'ada', address: 'ada' };

const LIMITS: LoopLimits = {
  taskStepsMax: 20,
  taskCostMicrosMax: 1_000_000,
  taskWorkMsMax: 60_000,
  dayStepsMax: 200,
  dayCostMicrosMax: 5_000_000,
  dayWorkMsMax: 600_000,
  backgroundCostMicrosMax: 500_000,
  repeatsMax: 3,
};

export interface ScriptedTurn {
  readonly text?: string;
  readonly uses?: readonly (Omit<ModelUse, 'id'> & { readonly id?: string })[];
  readonly costMicros?: number;
}
export type ModelScript = (question: ModelQuestion) => ScriptedTurn | Promise<ScriptedTurn>;

/** The turn after those that the task holds. */
export function inOrder(...turns: readonly ScriptedTurn[]): ModelScript {
  return ({ messages }) => {
    const since = messages.findLastIndex(({ role }) => role === 'user');
    const said = messages.slice(since).filter(({ role }) => role === 'assistant').length;
    return turns[said] ?? { text: 'The script is at its end.' };
  };
}

export function use(name: string, args: JsonObject = {}): ModelUse {
  return { id: `use-${name}`, name, args: { ...args, reasoning: 'The user asked for it.' } };
}

const TOOL = { description: 'A tool.', inputSchema: { type: 'object', properties: {} } };
export const TOOLS: readonly AgentTool[] = [
  { ...TOOL, server: 'files', name: 'read', isReadOnly: true, isRepeatable: true },
  { ...TOOL, server: 'email', name: 'send', isReadOnly: false, isRepeatable: false },
  { ...TOOL, server: 'notes', name: 'add', isReadOnly: false, isRepeatable: true },
];

export class World {
  readonly folder = mkdtempSync(join(tmpdir(), 'sub-loop-'));
  /** Keys of the calls that took effect, in their order. */
  readonly effects: string[] = [];
  readonly calls: AgentCall[] = [];
  readonly proposals: Proposal[] = [];
  tools: readonly AgentTool[] = TOOLS;
  readonly questions: ModelQuestion[] = [];
  readonly said: string[] = [];
  readonly remembered: PastAnswer[] = [];
  /** Runs that were ended. */
  readonly closed: string[] = [];
  /** What the memory has on every request. */
  recalled = '';
  readonly logged: string[] = [];
  nowMs = Date.parse('2026-03-04T12:00:00Z');
  script: ModelScript = inOrder();
  answer: (call: AgentCall) => AgentOutcome | Promise<AgentOutcome> = ({ server, tool }) => {
    return { kind: 'answered', callId: 'call', text: `${server}.${tool} answered`, isError: false };
  };
  stopProcesses: ConversationParts['stopProcesses'] = () => 0;
  limits = LIMITS;
  #isDead = false;
  #count = 0;
  #ids = 0;
  #open: { journal: Journal; conversations: Conversations }[] = [];

  async start(killAt?: { readonly write: number; readonly when: 'before' | 'after' }) {
    this.#isDead = false;
    this.#count = 0;
    const journal = await openJournal(join(this.folder, 'journal.db'), () => this.nowMs);
    if (isFailure(journal)) throw new Error(journal.message);
    const parts = this.#parts(killAt === undefined ? journal : this.#dying(journal, killAt));
    const conversations = new Conversations(parts);
    this.#open.push({ journal, conversations });
    return { journal, conversations };
  }

  get writes(): number {
    return this.#count;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  async remove(): Promise<void> {
    for (const { journal, conversations } of this.#open) {
      await conversations.close();
      journal.close();
    }
    rmSync(this.folder, { recursive: true });
  }

  #parts(journal: Journal): ConversationParts {
    const limits = () => this.limits;
    return {
      journal,
      uuid: () => `id-${++this.#ids}`,
      nowMs: () => this.nowMs,
      get limits() {
        return limits();
      },
      models: { ask: (question) => this.#ask(question) },
      knowledge: {
        identity: async () => 'You are kind.',
        skills: async () => '',
        recall: async () => this.recalled,
      },
      judge: {
        judge: async (proposal) => {
          this.proposals.push(proposal);
          return { judgements: [], asksPerson: false };
        },
      },
      openRun: async () => this.#run(),
      closeRun: (run) => run.close(),
      reply: (_conversation, text) => text,
      stopProcesses: (...of) => this.stopProcesses(...of),
      log: (line) => this.logged.push(line),
    };
  }

  async #ask(question: ModelQuestion): Promise<ModelAnswer | Failure> {
    this.#alive();
    this.questions.push(question);
    const turn = await Promise.race([this.script(question), aborted(question.signal)]);
    if (turn === 'aborted') return failure('SUB_USAGE', 'It was withdrawn.', 'Ask again.');
    const { text = '', uses = [], costMicros = 10 } = turn;
    const numbered = uses.map((one, index) => ({ id: `use-${index}`, ...one }));
    const stop = uses.length > 0 ? 'tools' : 'end';
    const tokens = { inputTokens: 1, outputTokens: 1, costMicros };
    return { text, uses: numbered, stop, model: 'scripted', ...tokens };
  }

  #run(): AgentRun {
    const id = `run-${++this.#ids}`;
    return {
      id,
      get turns(): never {
        throw new Error('no model is asked through this run');
      },
      userSaid: (text) => this.said.push(text),
      remember: async (past) => void this.remembered.push(past),
      tools: async () => this.tools,
      call: async (wanted) => {
        this.#alive();
        this.calls.push(wanted);
        try {
          wanted.onForward?.();
        } catch (cause) {
          return { kind: 'failed', message: String(cause), wasForwarded: false };
        }
        if (this.#isDead) return new Promise(() => undefined);
        // A server that knows the key does nothing again.
        const isKnown = wanted.server === 'notes' && this.effects.includes(wanted.key);
        if (wanted.server !== 'files' && !isKnown) this.effects.push(wanted.key);
        return this.answer(wanted);
      },
      usePolicy: async () => undefined,
      addServer: async () => undefined,
      removeServer: async () => undefined,
      close: async () => void this.closed.push(id),
    };
  }

  #alive(): void {
    if (this.#isDead) throw new Error('the process is dead');
  }

  /** From the chosen write on, nothing of this process reaches the disk. */
  #dying(journal: Journal, { write, when }: { write: number; when: 'before' | 'after' }): Journal {
    const die = () => {
      this.#isDead = true;
      throw new Error('killed');
    };
    return new Proxy(journal, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const isWrite = /^(?:add|set|start|end|change|spend|conversationFor)/.test(String(name));
        return (...values: readonly unknown[]): unknown => {
          this.#alive();
          if (!isWrite) return Reflect.apply(member, target, values);
          this.#count += 1;
          if (this.#count === write && when === 'before') die();
          const result: unknown = Reflect.apply(member, target, values);
          if (this.#count === write && when === 'after') die();
          return result;
        };
      },
    });
  }
}

function aborted(signal: AbortSignal | undefined): Promise<'aborted'> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve('aborted'));
  });
}

/** Resolves when all tasks have ended. */
export function settled(journal: Journal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (journal.openTasks().length > 0) return;
      stop();
      resolve();
    };
    const stop = journal.onChange(look);
    look();
  });
}
