// Tasks of the modern server: each is the later answer of a tool call.
import { randomUUID } from 'node:crypto';
import { ASK_OK } from './forms.ts';
import { text } from './offer.ts';

type Outcome =
  | { readonly status: 'working' | 'cancelled' }
  | { readonly status: 'input_required'; readonly inputRequests: Record<string, object> }
  | { readonly status: 'completed'; readonly result: object }
  | { readonly status: 'failed'; readonly error: { code: number; message: string } };

interface Task {
  readonly taskId: string;
  readonly createdAt: string;
  lastUpdatedAt: string;
  outcome: Outcome;
}

export interface TaskCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly inputResponses?: Readonly<Record<string, { content?: Record<string, unknown> }>>;
}

const tasks = new Map<string, Task>();

/** What a call to a task tool answers at once. */
export function createTask(call: TaskCall): object {
  const now = new Date().toISOString();
  const task: Task = {
    taskId: randomUUID(),
    createdAt: now,
    lastUpdatedAt: now,
    outcome: { status: 'working' },
  };
  tasks.set(task.taskId, task);
  work(task, call);
  return { resultType: 'task', ...describe(task), status: task.outcome.status };
}

export function getTask(taskId: string): object | undefined {
  const task = tasks.get(taskId);
  return task && { resultType: 'complete', ...describe(task), ...task.outcome };
}

/** False when there is no such task. A task that has ended stays as it is. */
export function cancelTask(taskId: string): boolean {
  const task = tasks.get(taskId);
  if (task === undefined) return false;
  settle(task, { status: 'cancelled' });
  return true;
}

/** Takes the answers that the task waits for; it goes on when it has them all. */
export function updateTask(taskId: string, responses: Readonly<Record<string, unknown>>): boolean {
  const task = tasks.get(taskId);
  if (task === undefined) return false;
  if (task.outcome.status !== 'input_required') return true;
  const pending = Object.entries(task.outcome.inputRequests).filter(([key]) => !(key in responses));
  const isAnswered = pending.length === 0;
  settle(
    task,
    isAnswered
      ? { status: 'completed', result: resultText('Done as you said') }
      : { status: 'input_required', inputRequests: Object.fromEntries(pending) },
  );
  return true;
}

function describe({ taskId, createdAt, lastUpdatedAt }: Task): object {
  return { taskId, createdAt, lastUpdatedAt, ttlMs: 600_000, pollIntervalMs: 200 };
}

function settle(task: Task, outcome: Outcome): void {
  if (['completed', 'failed', 'cancelled'].includes(task.outcome.status)) return;
  task.outcome = outcome;
  task.lastUpdatedAt = new Date().toISOString();
}

function work(task: Task, { name, arguments: args, inputResponses }: TaskCall): void {
  const waitMs = name === 'slow_compute' ? Number(args?.['seconds'] ?? 0) * 1000 : 0;
  const timer = setTimeout(() => settle(task, outcomeOf(name, inputResponses)), waitMs);
  timer.unref();
}

function outcomeOf(name: string, responses: TaskCall['inputResponses']): Outcome {
  switch (name) {
    case 'failing_job':
      return { status: 'completed', result: { ...resultText('The job failed'), isError: true } };
    case 'protocol_error_job':
      return { status: 'failed', error: { code: -32_603, message: 'The job broke' } };
    case 'confirm_delete':
      return { status: 'input_required', inputRequests: { [randomUUID()]: confirmation() } };
    case 'multi_input':
      return {
        status: 'input_required',
        inputRequests: { [randomUUID()]: confirmation(), [randomUUID()]: confirmation() },
      };
    default: {
      const given = Object.values(responses ?? {}).map(({ content }) => content);
      return { status: 'completed', result: resultText(`Computed ${JSON.stringify(given)}`) };
    }
  }
}

function confirmation(): object {
  const params = { mode: 'form', message: 'Go on?', requestedSchema: ASK_OK };
  return { method: 'elicitation/create', params };
}

function resultText(value: string) {
  return { content: [text(value)] };
}
