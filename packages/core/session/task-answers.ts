// What a server says of tasks. The answer of a tool that comes by a task ends its call, as a direct one does.
import { type CallError, isObject } from '@subluminal/contracts';
import { memberRange } from '../json/member-ranges.ts';
import { memberText } from '../json/text-parts.ts';
import { type MessageStep, type OpenCall, sizeOf } from './context.ts';
import { type MatchedAnswer, type Onward, shownResult } from './pass-message.ts';
import type { SeenNotification } from './peek/types.ts';
import { type CallEnding, endCall, fitted, notifyEnd, previewText } from './record-call.ts';
import type { TaskCall } from './task-calls.ts';

const ID_LENGTH_MAX = 1_024;
const MESSAGE_BYTES_MAX = 2_048;
type Members = { readonly [key: string]: unknown };

/** Whether the answer to a call is a task: then the call has not ended. */
export function beginTask(step: MessageStep, call: OpenCall, answer: MatchedAnswer): boolean {
  const { seen, open } = answer;
  if (call.call.subject !== undefined || seen.failed !== 'no') return false;
  const task = taskIn(step, answer);
  const taskId = idOf(task?.['taskId']);
  const { tasks } = step.context;
  // A second call can't take over the task of another one.
  if (task === undefined || taskId === undefined || tasks.get(taskId) !== undefined) return false;
  const { sinceMs, endedBy } = open;
  const keptMs = task['ttlMs'] ?? task['ttl'];
  const ttlMs = typeof keptMs === 'number' ? keptMs : Number.POSITIVE_INFINITY;
  const expiresAtMs = step.nowMs + Math.max(ttlMs, step.context.limits.orphanMs);
  const isEnded = endedBy !== undefined;
  const dropped = tasks.begin(taskId, { open: call, sinceMs, expiresAtMs, isEnded });
  if (dropped?.isEnded === false) endTask(step, dropped, { status: 'TIMEOUT', error: FORGOTTEN });
  notifyEnd(step, { call, sinceMs, isError: false });
  return true;
}

const FORGOTTEN: CallError = {
  class: 'timeout',
  message: 'Too many tasks are open; the result of this one is no longer waited for.',
};

/** The task that a result begins, as the agent gets it. */
function taskIn(step: MessageStep, answer: MatchedAnswer): Members | undefined {
  const text = shownResult(step, answer);
  const result: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isObject(result)) return undefined;
  if (answer.seen.resultType === 'task') return result;
  // In 2025-11-25, a result with content is the answer of the tool, whatever else it holds.
  const { task, content } = result;
  return isObject(task) && content === undefined ? task : undefined;
}

export interface AnsweredCall {
  readonly open: OpenCall;
  readonly sinceMs: number;
  /** The call went on as a task, and this is the answer of the tool. */
  readonly isTask?: boolean;
}

/** The answer to a request about a task; the call that it is the answer of, if it is one. */
export function taskAnswered(step: MessageStep, answer: MatchedAnswer): AnsweredCall | undefined {
  const { open, seen, onward } = answer;
  const { taskId, method } = open;
  const task = step.context.tasks.get(taskId);
  if (taskId === undefined || task === undefined || task.isEnded) return undefined;
  if (method === 'tasks/result') {
    step.context.tasks.end(taskId);
    const { open: call, sinceMs } = task;
    return { open: call, sinceMs, isTask: true };
  }
  if (seen.result === undefined || step.unseen !== undefined) return undefined;
  const { start, end } = seen.result;
  const text = step.context.decode(step.bytes, start, end);
  endByState(step, { taskId, task }, { text, shown: shownResult(step, answer), onward });
  return undefined;
}

/** The server says how a task goes, without being asked. */
export function taskNotified(step: MessageStep, seen: SeenNotification, onward: Onward): void {
  const { context, bytes, unseen } = step;
  const { taskId = '' } = seen.params;
  const task = context.tasks.get(taskId);
  const isAbout = seen.method === 'notifications/tasks' || seen.method === STATUS;
  if (!isAbout || task === undefined || task.isEnded || unseen !== undefined) return;
  const range = memberRange(bytes, 'params');
  if (range === undefined) return;
  const text = context.decode(bytes, range.start, range.end);
  const shown =
    onward.kind === 'rewritten'
      ? context.decode(onward.bytes, onward.value.start, onward.value.end)
      : text;
  endByState(step, { taskId, task }, { text, shown, onward });
}

const STATUS = 'notifications/tasks/status';

interface TaskState {
  /** As the server wrote it, and as the agent gets it. */
  readonly text: string;
  readonly shown: string | undefined;
  readonly onward: Onward;
}

/** Ends the call of a task if the task has ended. */
function endByState(
  step: MessageStep,
  { taskId, task }: { readonly taskId: string; readonly task: TaskCall },
  { text, shown, onward }: TaskState,
): void {
  const ending = endingOf(step, JSON.parse(text), shown);
  if (ending === undefined) return;
  // A refused notification is no end: the agent asks for the result, and hears why it gets none.
  if (onward.kind === 'refused' && onward.message.kind === 'notification') return;
  step.context.tasks.end(taskId);
  const content = onward.note;
  if (onward.kind !== 'refused') return endTask(step, task, { ...ending, content });
  const message = fitted(step.context.redact(onward.why.summary), MESSAGE_BYTES_MAX);
  const error = { class: 'policy_block', message } as const;
  endTask(step, task, { status: 'ERROR', error, content, isError: ending.isError });
}

type TaskEnding = Pick<CallEnding, 'status' | 'error' | 'preview' | 'content'> & {
  readonly isError?: boolean | undefined;
};

/** How a task has ended; undefined while it goes on, or while its result has to be asked for. */
function endingOf(
  step: MessageStep,
  state: unknown,
  shown: string | undefined,
): TaskEnding | undefined {
  const { status, result }: Members = isObject(state) ? state : {};
  switch (status) {
    case 'completed': {
      if (!isObject(result)) return undefined;
      const preview = previewText(step.context, memberText(shown ?? '{}', 'result') ?? '{}');
      if (result['isError'] !== true) return { status: 'OK', preview, isError: false };
      const failure: CallError = { class: 'upstream_error', message: 'The tool reports an error.' };
      return { status: 'ERROR', preview, error: failure, isError: true };
    }
    case 'failed': {
      const told: unknown = JSON.parse(shown ?? '{}');
      const { error, statusMessage }: Members = isObject(told) ? told : {};
      const { message = statusMessage, code }: Members = isObject(error) ? error : {};
      const written = typeof message === 'string' ? message : 'The server reports an error.';
      const text = fitted(step.context.redact(written), MESSAGE_BYTES_MAX);
      const known = typeof code === 'number' && Number.isSafeInteger(code) ? { code } : {};
      const failure: CallError = { class: 'upstream_error', message: text, ...known };
      return { status: 'ERROR', error: failure, isError: true };
    }
    case 'cancelled':
      return { status: 'CANCELLED', isError: false };
    default:
      return undefined;
  }
}

function endTask(step: MessageStep, { open, sinceMs }: TaskCall, ending: TaskEnding): void {
  const bytesOut = step.bytesTotal ?? sizeOf(step.bytes);
  endCall(step, { open, sinceMs, bytesOut, isTask: true, ...ending });
}

/** The connection is over: nobody will hear of these tasks here. */
export function endTasks(step: MessageStep, ending: Pick<CallEnding, 'status' | 'error'>): void {
  for (const [taskId, task] of step.context.tasks.waiting()) {
    step.context.tasks.end(taskId);
    endTask(step, task, { ...ending, isError: false });
  }
}

const EXPIRED: CallError = {
  class: 'timeout',
  message: 'Nobody asked for the result of its task within the time that the server keeps it.',
};

export function tickTasks(step: MessageStep): void {
  for (const [taskId, task] of step.context.tasks.waiting()) {
    if (step.nowMs < task.expiresAtMs) continue;
    step.context.tasks.end(taskId);
    endTask(step, task, { status: 'TIMEOUT', error: EXPIRED, isError: false });
  }
}

function idOf(value: unknown): string | undefined {
  const isId = typeof value === 'string' && value !== '' && value.length <= ID_LENGTH_MAX;
  return isId ? value : undefined;
}
