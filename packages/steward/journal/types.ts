// What Steward has on record of its own work, so that a crash loses nothing and repeats nothing. What
// was called, and why it was allowed, is in the ledger.
import type { JsonObject } from '@subluminal/contracts';
import type { ModelUse, Purpose } from '../models/types.ts';

/** One person on one channel. */
export interface Conversation {
  readonly id: string;
  readonly channel: string;
  /** The sender, as the channel names it. */
  readonly person: string;
  /** Where replies go, as the channel names it. */
  readonly address: string;
  /** The run of the ledger that its calls are on record in; null before the first. */
  readonly runId: string | null;
  /** The conversation that a sub-agent works for; null for one with a person. */
  readonly parentId: string | null;
  readonly createdAtMs: number;
}

/** A notice is of Steward itself: why a task ended, an alert. */
export type MessageRole = 'user' | 'assistant' | 'notice';

export interface JournalMessage {
  /** Counts up over all conversations. */
  readonly n: number;
  readonly conversationId: string;
  readonly role: MessageRole;
  readonly text: string;
  readonly taskId: string | null;
  readonly atMs: number;
}

/** Whose words a request is: those of a model count as what they are, never as the user's. */
export type AskedBy = 'user' | 'agent';

/** A task waits until those before it in its conversation have ended. */
export type TaskState = 'waiting' | 'running' | 'done' | 'stopped' | 'failed';

export interface JournalTask {
  readonly id: string;
  readonly conversationId: string;
  readonly purpose: Purpose;
  readonly askedBy: AskedBy;
  readonly request: string;
  /** The task that a sub-agent was started by: what it spends counts there too. */
  readonly parentId: string | null;
  readonly state: TaskState;
  /** Why it was stopped or failed. */
  readonly reason: string | null;
  readonly steps: number;
  readonly costMicros: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

/** What the model said at once: words, and the tools that it wants to use. */
export interface JournalTurn {
  readonly taskId: string;
  readonly n: number;
  readonly text: string;
  readonly uses: readonly ModelUse[];
  readonly model: string;
}

export type StepState =
  | 'proposed'
  | 'judged'
  | 'sent'
  | 'forwarded'
  | 'done'
  | 'refused'
  | 'failed'
  /** It was forwarded, and a crash came before its answer: nobody knows whether it happened. */
  | 'unknown';

/** One proposal of the model, and what became of it. */
export interface JournalStep {
  readonly taskId: string;
  /** Of the turn that proposed it. */
  readonly turn: number;
  /** Counts up in its task. */
  readonly n: number;
  readonly useId: string;
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly reasoning: string;
  /** The same when the step is tried again. */
  readonly key: string;
  readonly state: StepState;
  readonly judgements: readonly JsonObject[];
  /** The call of the ledger; null before its decision. */
  readonly callId: string | null;
  /** The run that holds this call: a conversation has a new one after each start. */
  readonly runId: string | null;
  /** What the model is told; null until the step has ended. */
  readonly result: string | null;
  readonly atMs: number;
}

export interface Spending {
  readonly purpose: Purpose;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  /** Time of work, without that of waiting for a person. */
  readonly workMs: number;
  /** Proposals of the model. */
  readonly steps: number;
}

/** A turn's use of a model, whether it belongs to a task or not. */
export interface SpentTurn {
  readonly purpose: Purpose;
  readonly taskId: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  /** The work since the turn before. */
  readonly workMs: number;
  readonly atMs: number;
}

/** What a step that may have reached a server has sent. */
export type ForwardedCall = Pick<JournalStep, 'server' | 'tool' | 'args' | 'key' | 'atMs'>;

/** A tool that has answered. */
export type HeardTool = Pick<JournalStep, 'server' | 'tool'>;

/** The last tasks of a conversation, without one of them. */
export interface HeardTasks {
  readonly tasksMax: number;
  readonly exceptTask?: string;
}

/** The calls of one tool since a time, without the one with this key. */
export interface ToolPeriod extends HeardTool {
  readonly sinceMs: number;
  readonly exceptKey: string;
  /** All channels without it. */
  readonly channel?: string | undefined;
}

export interface StepChange {
  readonly state: StepState;
  readonly judgements?: readonly JsonObject[];
  readonly callId?: string;
  readonly runId?: string;
  readonly result?: string;
}

export interface JournalSchedule {
  readonly id: string;
  /** A pattern of cron, or a moment in ISO 8601 for what happens once. */
  readonly when: string;
  readonly request: string;
  readonly askedBy: AskedBy;
  /** Where the answer goes. */
  readonly conversationId: string | null;
  /** When it ran last, or was made. */
  readonly lastAtMs: number;
}

export interface NewConversation extends Omit<Conversation, 'runId' | 'parentId' | 'createdAtMs'> {
  readonly parentId?: string | undefined;
}

export interface NewTask {
  readonly id: string;
  readonly conversationId: string;
  readonly purpose: Purpose;
  readonly askedBy: AskedBy;
  readonly request: string;
  readonly parentId?: string | undefined;
}

export interface NewMessage {
  readonly conversationId: string;
  readonly role: MessageRole;
  readonly text: string;
  readonly taskId?: string;
}

export interface TaskEnd {
  readonly state: Extract<TaskState, 'done' | 'stopped' | 'failed'>;
  readonly reason?: string;
  /** What the conversation is told. */
  readonly reply: { readonly role: MessageRole; readonly text: string };
}

export type NewStep = Omit<
  JournalStep,
  'state' | 'judgements' | 'callId' | 'runId' | 'result' | 'atMs'
>;

/** `coding` is an agent of its own, in a process; the others are conversations of Steward with itself. */
export type SubAgentKind = 'research' | 'task' | 'coding';

export type SubAgentState =
  | 'SPAWNED'
  | 'RUNNING'
  | 'COMPLETED'
  | 'FAILED'
  | 'TIMED_OUT'
  | 'CANCELLED';

export interface SubAgent {
  /** `agent:steward:subagent:UUID` */
  readonly id: string;
  /** Of the step that started it: the same step starts no second one. */
  readonly key: string;
  readonly kind: SubAgentKind;
  /** The conversation that it works for. */
  readonly conversationId: string;
  /** The task that started it. */
  readonly taskId: string;
  /** All that it is told. */
  readonly request: string;
  readonly state: SubAgentState;
  /** What it found, or why it ended. Hostile text; null until it has ended. */
  readonly result: string | null;
  readonly spawnedAtMs: number;
  readonly endedAtMs: number | null;
}

/** Something odd that the user should know of, once for each cause and window. */
export interface JournalAlert {
  readonly n: number;
  /** What is odd, such as `spike:email.send`. */
  readonly cause: string;
  readonly text: string;
  /** How often it was seen in its window. */
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** False for one that was only recorded. */
  readonly isTold: boolean;
  /** Null until a person has acknowledged it. */
  readonly acknowledged: { readonly by: string; readonly atMs: number } | null;
}
