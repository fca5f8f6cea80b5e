// Groups of methods that the gates treat alike.
import { AGENT_METHODS } from '../session/peek/protocol-names.ts';

function methods(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}

/** Requests whose answers describe the server: instructions, names, capabilities. */
export const INTRODUCTIONS = methods('initialize server/discover');

/** Messages of the agent that name a prompt or a resource, or carry arguments for one. */
export const NAMING = methods(
  'prompts/get resources/read resources/subscribe resources/unsubscribe completion/complete',
  'subscriptions/listen',
);

/** Requests that name a task: what they bring belongs to the tool that began it. */
export const TASKS = methods('tasks/get tasks/result tasks/update tasks/cancel');

/** Its answer has tasks without their tools (2025-11-25). */
export const TASK_LIST = 'tasks/list';

/** The other methods that an agent may send to a server. */
export const PLAIN = AGENT_METHODS.filter(
  (method) => !NAMING.includes(method) && !TASKS.includes(method),
);

const KNOWN: ReadonlySet<string> = new Set(AGENT_METHODS);

/** Whether some revision of the protocol has this method, from agent to server. */
export function isKnownMethod(method: string): boolean {
  return KNOWN.has(method);
}

/** The method of an answer to nothing that is open. */
export const UNKNOWN = '';
