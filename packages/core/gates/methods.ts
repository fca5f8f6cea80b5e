// What the methods of the protocol are to the gates.
import { AGENT_METHODS } from '../session/peek/method-names.ts';

/** Answers that a model reads. */
export const RESULTS: readonly string[] = [
  'tools/call',
  'tasks/result',
  'resources/read',
  'prompts/get',
];

/** What an agent may take a value from, besides results. */
export const HEARD: readonly string[] = [
  'completion/complete',
  'initialize',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'server/discover',
  'tasks/get',
  'tools/list',
];

/** In their answers a server speaks of itself: instructions, names, what it can do. */
export const INTRODUCTIONS: readonly string[] = ['initialize', 'server/discover'];

/** What the agent sends that names a prompt or a resource, or carries arguments for one. */
export const NAMING: readonly string[] = [
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'subscriptions/listen',
];

/** The results of tasks belong to the tool that began them. */
export const TASKS: readonly string[] = ['tasks/get', 'tasks/result'];

/** What an agent may send to a server, apart from what names something. */
export const PLAIN: readonly string[] = AGENT_METHODS.filter((method) => !NAMING.includes(method));

/** Whether some revision of the protocol has this method, from agent to server. */
export function isKnownMethod(method: string): boolean {
  return AGENT_METHODS.includes(method);
}

/** The method of an answer to nothing that is open. */
export const UNKNOWN = '';
