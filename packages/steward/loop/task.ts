// A task: the model proposes, each proposal becomes a step, until it answers. Everything is read from
// the journal at each turn, so that a task that was interrupted goes on by the same code.
import { isFailure } from '@subluminal/contracts';
import type { AgentTool } from '@subluminal/plane/agent-run';
import type {
  JournalStep,
  JournalTask,
  JournalTurn,
  StepState,
  TaskEnd,
} from '../journal/index.ts';
import type { ModelAnswer } from '../models/types.ts';
import { buildContext, isFromElsewhere, useIdOf } from './context.ts';
import { type OfferedTools, offerTools } from './model-tools.ts';
import { performStep } from './step.ts';
import { limitReached, timesProposed } from './task-limits.ts';
import type { TaskParts } from './types.ts';
import { WorkClock } from './work-clock.ts';

const ANSWER_TOKENS_MAX = 8_192;
const HISTORY_MESSAGES_MAX = 60;
/** An answer that says nothing and calls nothing is told to the model so often. */
const MALFORMED_MAX = 2;
const NAME_LENGTH_MAX = 128;
const OPEN: ReadonlySet<StepState> = new Set(['proposed', 'judged', 'sent', 'forwarded']);

interface Work {
  readonly parts: TaskParts;
  readonly taskId: string;
  readonly signal: AbortSignal;
  readonly clock: WorkClock;
  readonly knowledge: {
    readonly identity: string;
    readonly skills: string;
    readonly memory: string;
  };
}

/** Ends when the task has ended, or when the signal says to leave it as it is. */
export async function runTask(parts: TaskParts, taskId: string, signal: AbortSignal) {
  const { journal, knowledge, run, nowMs } = parts;
  journal.startTask(taskId);
  const { request } = mustHave(journal.task(taskId));
  const memory = await knowledge.recall(request, parts.run);
  // As if it had searched its memory itself: what comes from there counts as read.
  if (memory !== '') await run.remember({ server: 'memory', tool: 'search', text: memory });
  const work = {
    ...{ parts, taskId, signal },
    clock: new WorkClock(nowMs),
    knowledge: {
      identity: await knowledge.identity(),
      skills: await knowledge.skills(request),
      memory,
    },
  };
  while (!signal.aborted) {
    const end = await advance(work);
    if (end === undefined) continue;
    journal.endTask(taskId, end);
    return;
  }
}

/** One step or one turn; the end when there is nothing left to do. */
async function advance(work: Work): Promise<TaskEnd | undefined> {
  const { parts, taskId, clock } = work;
  const { journal, limits, nowMs } = parts;
  const task = mustHave(journal.task(taskId));
  const turns = journal.turns(taskId);
  const steps = journal.steps(taskId);
  const last = turns.at(-1);
  if (last !== undefined && last.uses.length === 0 && last.text.trim() !== '') {
    return { state: 'done', reply: { role: 'assistant', text: parts.reply(last.text) } };
  }
  const open = steps.find(({ state }) => OPEN.has(state));
  const next = last?.uses.findIndex((_use, index) => !isMade(steps, last, index)) ?? -1;
  if (open === undefined) {
    // What was begun is finished; nothing new is begun beyond a limit.
    const why = limitReached(journal, limits, { task, workMs: clock.workMs, nowMs: nowMs() });
    if (why !== undefined) return stopped(why);
  }
  const tools = await parts.run.tools();
  if (open !== undefined) return finishStep(work, { task, step: open, tools });
  const offered = offerTools(tools);
  if (last !== undefined && next >= 0) return propose(work, { last, index: next, steps, offered });
  const empty = turns.filter(({ uses }) => uses.length === 0).length;
  if (empty > MALFORMED_MAX) return failed('the model gave no answer that can be read.');
  return askModel(work, { task, turns, steps, offered });
}

function isMade(steps: readonly JournalStep[], last: JournalTurn, index: number): boolean {
  const id = useIdOf(last.uses[index]?.id ?? '', index);
  return steps.some(({ turn, useId }) => turn === last.n && useId === id);
}

async function finishStep(
  { parts, clock, signal }: Work,
  { task, step, tools }: { task: JournalTask; step: JournalStep; tools: readonly AgentTool[] },
): Promise<undefined> {
  const tool = tools.find(({ server, name }) => server === step.server && name === step.tool);
  const isRepeatable = tool?.isRepeatable ?? false;
  // Neither the guardian nor a person is asked about a call that cannot be made.
  const problem = step.state === 'proposed' ? tool?.argsProblem?.(step.args) : undefined;
  if (problem !== undefined) {
    parts.journal.changeStep(step, { state: 'failed', result: problem });
    return;
  }
  await performStep(parts, { task, step, isRepeatable, clock, signal });
}

interface Proposing {
  readonly last: JournalTurn;
  readonly index: number;
  readonly steps: readonly JournalStep[];
  readonly offered: OfferedTools;
}

/** Writes the next proposal of the turn down; it is carried out by what follows. */
function propose(
  { parts: { journal, limits }, taskId }: Work,
  { last, index, steps, offered }: Proposing,
): TaskEnd | undefined {
  const use = mustHave(last.uses[index]);
  const n = steps.length + 1;
  const useId = useIdOf(use.id, index);
  const written = { taskId, n, turn: last.n, useId, key: `${taskId}-${n}` };
  const read = offered.read(use);
  const isRead = read.kind === 'proposal';
  const named = isRead
    ? { server: read.tool.server, tool: read.tool.name, args: read.args }
    : { server: '', tool: use.name.slice(0, NAME_LENGTH_MAX), args: {} };
  if (timesProposed(steps, named) >= limits.repeatsMax - 1) {
    const action = isRead ? `${named.server}.${named.tool}` : named.tool;
    const how = isRead ? 'with the same values' : 'which is no call that can be made';
    return stopped(`it proposed ${action} again and again, ${how}`);
  }
  const step = journal.addStep({ ...written, ...named, reasoning: isRead ? read.reasoning : '' });
  if (!isRead) journal.changeStep(step, { state: 'failed', result: read.why });
  return undefined;
}

interface Asking {
  readonly task: JournalTask;
  readonly turns: readonly JournalTurn[];
  readonly steps: readonly JournalStep[];
  readonly offered: OfferedTools;
}

async function askModel(work: Work, asking: Asking): Promise<TaskEnd | undefined> {
  const { parts, taskId, signal, clock, knowledge } = work;
  const { journal, models, run, conversation, nowMs } = parts;
  const { task, turns, steps, offered } = asking;
  const history = journal
    .lastMessages(conversation.id, HISTORY_MESSAGES_MAX)
    .filter(({ taskId: of, atMs }) => of !== taskId && atMs <= task.createdAtMs)
    .map((message) => ({ ...message, isFromElsewhere: isFromElsewhere(journal, message) }));
  const context = buildContext({
    ...{ task, history, turns, steps, nowMs: nowMs(), ...knowledge },
    channel: conversation.channel,
    toolsLeftOut: offered.leftOut,
  });
  const answer = await models.ask({
    purpose: task.purpose,
    runId: run.id,
    ...context,
    tools: offered.definitions,
    tokensMax: ANSWER_TOKENS_MAX,
    signal,
  });
  if (signal.aborted) return undefined;
  if (isFailure(answer)) return failed(`${answer.message} ${answer.fix}`);
  const { model, inputTokens, outputTokens, costMicros } = answer;
  const turn = { taskId, n: turns.length + 1, text: wordsIn(answer), uses: answer.uses, model };
  const spent = { inputTokens, outputTokens, costMicros, workMs: clock.takeMs(), atMs: nowMs() };
  journal.addTurn(turn, { purpose: task.purpose, taskId, ...spent });
  return undefined;
}

function wordsIn({ text, uses, stop }: ModelAnswer): string {
  if (uses.length > 0 || text.trim() !== '') return text;
  return stop === 'refusal' ? 'The model declined to answer.' : '';
}

function stopped(why: string): TaskEnd {
  const text = `I stopped this task: ${why}.`;
  return { state: 'stopped', reason: why, reply: { role: 'notice', text } };
}

function failed(why: string): TaskEnd {
  return { state: 'failed', reason: why, reply: { role: 'notice', text: `This failed: ${why}` } };
}

function mustHave<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the journal has lost a part of its task');
  return value;
}
