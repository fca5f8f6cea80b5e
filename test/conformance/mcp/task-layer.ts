// The tasks extension of 2026-07-28 in front of SDK v2, which does not implement it.
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
} from '@modelcontextprotocol/server';
import { cancelTask, createTask, getTask, type TaskCall, updateTask } from './task-store.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
export const TASKS_CAPABILITY = { extensions: { [EXTENSION]: {} } };

/** `required`: the tool answers only by a task. */
export const TASK_TOOLS: Readonly<Record<string, 'optional' | 'required'>> = {
  slow_compute: 'optional',
  failing_job: 'required',
  protocol_error_job: 'required',
  confirm_delete: 'required',
  multi_input: 'required',
};

interface TaskRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params?: Partial<TaskCall> & {
    readonly taskId?: string;
    readonly _meta?: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities };
  };
}

interface Headers {
  readonly [name: string]: string | string[] | undefined;
}

export interface TaskAnswer {
  readonly status: number;
  readonly body: object;
}

/** The answer to a request that is about tasks; undefined when the SDK answers it. */
export function answerTask(request: TaskRequest, headers: Headers): TaskAnswer | undefined {
  const { id, method, params = {} } = request;
  const name = params.name ?? '';
  const isTaskMethod = ['tasks/get', 'tasks/update', 'tasks/cancel'].includes(method);
  if (!isTaskMethod && !isTaskCall(request)) return undefined;
  const error = (code: number, message: string, data?: object) => ({
    status: 400,
    body: { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } },
  });
  const { _meta: meta } = params;
  const declared = meta?.[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[EXTENSION];
  const expected = isTaskMethod ? params.taskId : name;
  if (headers['mcp-method'] !== method || headers['mcp-name'] !== expected) {
    return error(-32_020, 'Header mismatch: Mcp-Method or Mcp-Name');
  }
  if (declared === undefined) {
    if (!isTaskMethod && TASK_TOOLS[name] !== 'required') return undefined;
    return error(-32_021, 'Missing required client capability', {
      requiredCapabilities: TASKS_CAPABILITY,
    });
  }
  const result = isTaskMethod ? taskResult(request) : createTask({ ...params, name });
  return result === undefined
    ? { ...error(-32_602, 'There is no such task'), status: 200 }
    : { status: 200, body: { jsonrpc: '2.0', id, result } };
}

/** A tool that asks first makes its task when it has the answer. */
function isTaskCall({ method, params = {} }: TaskRequest): boolean {
  if (method !== 'tools/call' || params.name === undefined) return false;
  if (params.name === 'test_tool_with_task') return params.inputResponses !== undefined;
  return params.name in TASK_TOOLS;
}

function taskResult({ method, params }: TaskRequest): object | undefined {
  const taskId = params?.taskId ?? '';
  if (method === 'tasks/get') return getTask(taskId);
  const isThere =
    method === 'tasks/cancel'
      ? cancelTask(taskId)
      : updateTask(taskId, params?.inputResponses ?? {});
  return isThere ? { resultType: 'complete' } : undefined;
}
