// The methods of the protocol, over all of its revisions, and what they are to the gates.

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
export const PLAIN: readonly string[] = [
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'tasks/update',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/tasks/status',
];

const KNOWN: ReadonlySet<string> = new Set([...PLAIN, ...NAMING]);

/** Whether some revision of the protocol has this method, from agent to server. */
export function isKnownMethod(method: string): boolean {
  return KNOWN.has(method);
}

/** The method of an answer to nothing that is open. */
export const UNKNOWN = '';
