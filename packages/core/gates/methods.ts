// What the methods of the protocol are to the gates.
import { AGENT_METHODS } from '../session/peek/protocol-names.ts';

function methods(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}

/** Answers that a model reads. */
export const RESULTS = methods('tools/call tasks/result resources/read prompts/get');

/** Answers besides results that an agent may take a value from. */
export const HEARD = methods(
  'completion/complete initialize prompts/list resources/list resources/templates/list',
  'server/discover tasks/get tools/list',
);

/** In their answers a server describes itself: instructions, names, capabilities. */
export const INTRODUCTIONS = methods('initialize server/discover');

/** What the agent sends that names a prompt or a resource, or carries arguments for one. */
export const NAMING = methods(
  'prompts/get resources/read resources/subscribe resources/unsubscribe completion/complete',
  'subscriptions/listen',
);

/** The results of tasks belong to the tool that began them. */
export const TASKS = methods('tasks/get tasks/result');

/** What an agent may send to a server, apart from what names something. */
export const PLAIN = AGENT_METHODS.filter((method) => !NAMING.includes(method));

const KNOWN: ReadonlySet<string> = new Set(AGENT_METHODS);

/** Whether some revision of the protocol has this method, from agent to server. */
export function isKnownMethod(method: string): boolean {
  return KNOWN.has(method);
}

/** The method of an answer to nothing that is open. */
export const UNKNOWN = '';
