// Calls that go on as tasks: the server answers with a task, and the answer of the tool comes later, to
// another request or in a notification.
import { isObject } from '@subluminal/contracts';
import type { OpenCall } from './context.ts';

/** A call that goes on as a task. */
export interface TaskCall {
  readonly open: OpenCall;
  readonly sinceMs: number;
  /** The server may forget the task then. */
  readonly expiresAtMs: number;
  /** Its end is on record; the task may still be asked for. */
  readonly isEnded: boolean;
}

/** Of one session, ended ones included. */
const TASKS_MAX = 1_000;

/** By the id of the task. */
export class TaskCalls {
  private readonly calls = new Map<string, TaskCall>();

  get(taskId: string | undefined): TaskCall | undefined {
    return taskId === undefined ? undefined : this.calls.get(taskId);
  }

  /** Adds a call; to make room, the oldest one goes, and is returned. */
  begin(taskId: string, call: TaskCall): TaskCall | undefined {
    this.calls.set(taskId, call);
    if (this.calls.size <= TASKS_MAX) return undefined;
    const [oldest] = this.calls;
    if (oldest !== undefined) this.calls.delete(oldest[0]);
    return oldest?.[1];
  }

  /** Marks a call as ended; it keeps its place. */
  end(taskId: string): void {
    const call = this.calls.get(taskId);
    if (call !== undefined) this.calls.set(taskId, { ...call, isEnded: true });
  }

  /** The tasks that have not ended, the oldest first. */
  waiting(): readonly (readonly [taskId: string, call: TaskCall])[] {
    return [...this.calls].filter(([, { isEnded }]) => !isEnded);
  }
}

const RELATED = 'io.modelcontextprotocol/related-task';

/** Whether the answer to a request about a task is about another one. */
export function isOtherTask(result: unknown, taskId: string): boolean {
  if (!isObject(result)) return false;
  const { taskId: own, _meta: meta, task } = result;
  const related = isObject(meta) ? meta[RELATED] : undefined;
  const named = [own, isObject(related) ? related['taskId'] : undefined];
  const begun = isObject(task) ? task['taskId'] : undefined;
  return [...named, begun].some((id) => id !== undefined && id !== taskId);
}
