// What the loop needs of the other parts.
import type { AgentRun, Judgement } from '@subluminal/plane/agent-run';
import type { Conversation, Journal, JournalStep, JournalTask } from '../journal/index.ts';
import type { Models } from '../models/types.ts';

/** What the model knows beside the conversation. */
export interface Knowledge {
  /** Who the agent is, and what it always knows of its user. */
  identity(): Promise<string>;
  /** Skills that fit the request, as they are written. */
  skills(request: string): Promise<string>;
  /** What the memory has on the request; text from outside is marked, and taints the run. */
  recall(request: string, run: Pick<AgentRun, 'id' | 'remember'>): Promise<string>;
}

export interface Proposal
  extends Pick<JournalStep, 'server' | 'tool' | 'args' | 'reasoning' | 'key'> {
  readonly conversation: Conversation;
  readonly task: JournalTask;
  readonly runId: string;
  /** What the user has asked for; empty where only the agent has. */
  readonly request: string;
  /** What the user has said in this conversation, or in the one that a sub-agent works for. */
  readonly userWords: readonly string[];
}

/** What is thought of a proposal before the policy decides. It may only tighten. */
export interface StepJudge {
  judge(proposal: Proposal, signal: AbortSignal): Promise<StepOpinion>;
}

export interface StepOpinion {
  readonly judgements: readonly Judgement[];
  /** A person will be asked: the time until they answer is no work. */
  readonly asksPerson: boolean;
}

export interface LoopLimits {
  readonly taskStepsMax: number;
  readonly taskCostMicrosMax: number;
  readonly taskWorkMsMax: number;
  readonly dayStepsMax: number;
  readonly dayCostMicrosMax: number;
  readonly dayWorkMsMax: number;
  /** For heartbeat and schedules together. */
  readonly backgroundCostMicrosMax: number;
  /** The same proposal so often ends the task. */
  readonly repeatsMax: number;
}

/** What a task is done with. */
export interface TaskParts {
  readonly conversation: Conversation;
  readonly run: AgentRun;
  readonly journal: Journal;
  readonly models: Models;
  readonly knowledge: Knowledge;
  readonly judge: StepJudge;
  readonly limits: LoopLimits;
  readonly nowMs: () => number;
  /** A reply as it may leave to the channel. */
  readonly reply: (text: string) => string;
}
