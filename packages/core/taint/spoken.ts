// What a server says without being asked: a person or a model reads it, and may take a value from it.

/** Signs and figures for programs; no client hands their words to a model. */
const QUIET: ReadonlySet<string> = new Set([
  'ping',
  'roots/list',
  ...['cancelled', 'message', 'progress'].map((name) => `notifications/${name}`),
  ...['prompts', 'resources', 'tools'].map((name) => `notifications/${name}/list_changed`),
]);

/** Whether a request or notification of a server, such as `elicitation/create`, is read by anybody. */
export function isSpoken(method: string): boolean {
  return !QUIET.has(method);
}
