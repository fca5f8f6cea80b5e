// Calls that continue as tasks: the result comes later, in the answer to another request, and counts as an
// answer of the tool.
import { isObject } from '@subluminal/contracts';

interface TaskCall {
  readonly callId: string;
  readonly tool: string;
}

export interface TaskTools {
  /** By the id of the task; the oldest goes when there is no room. */
  readonly calls: Map<string, TaskCall>;
  /** Tasks whose result was asked for and has not come yet. */
  readonly asked: Map<string, number>;
}

const TASKS_MAX = 1_000;
const ID_LENGTH_MAX = 1_024;
const RELATED = 'io.modelcontextprotocol/related-task';

export function newTaskTools(): TaskTools {
  return { calls: new Map(), asked: new Map() };
}

/** Notes the task in the answer to a call, if it continues as one. */
export function taskBegun({ calls }: TaskTools, call: TaskCall, result: unknown): void {
  const id = taskIdOf(result);
  if (id === undefined) return;
  calls.delete(id);
  calls.set(id, call);
  dropOldest(calls);
}

/** The agent asks how a task goes, or for its result. */
export function resultAsked({ asked }: TaskTools, params: unknown): void {
  const id = isObject(params) ? idOf(params['taskId']) : undefined;
  if (id === undefined) return;
  asked.set(id, (asked.get(id) ?? 0) + 1);
  dropOldest(asked);
}

function dropOldest(known: Map<string, unknown>): void {
  const [oldest] = known.keys();
  if (known.size > TASKS_MAX && oldest !== undefined) known.delete(oldest);
}

/**
 * The call that an answer about a task belongs to. If several tasks are waited for, the server names the
 * task; it could have answered any of them anyway.
 */
export function callOfTask({ calls, asked }: TaskTools, result: unknown): TaskCall | undefined {
  const [first, second] = asked.keys();
  const said = taskIdOf(result);
  const id = second === undefined ? (first ?? said) : said;
  if (id === undefined) return undefined;
  const waits = (asked.get(id) ?? 1) - 1;
  if (waits > 0) asked.set(id, waits);
  else asked.delete(id);
  return calls.get(id);
}

/** The task that a result names: the task itself, a member of it, or a related task. */
function taskIdOf(result: unknown): string | undefined {
  if (!isObject(result)) return undefined;
  const { task, taskId, _meta: meta } = result;
  const related = isObject(meta) ? meta[RELATED] : undefined;
  const own = isObject(task) ? idOf(task['taskId']) : undefined;
  return own ?? idOf(taskId) ?? (isObject(related) ? idOf(related['taskId']) : undefined);
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= ID_LENGTH_MAX ? value : undefined;
}
