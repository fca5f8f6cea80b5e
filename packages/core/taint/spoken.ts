// Messages that a server sends on its own: a person or a model reads them, and may take a value.

/** Messages for programs; no client passes their text to a model. */
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
