// The names that differ between the eras.

export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const;

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const UNSUPPORTED_VERSION = -32022;
/** Of 2025-11-25 and before: replaced by -32602. */
export const RESOURCE_NOT_FOUND = -32002;
/** Of 2025-11-25 only. */
export const URL_ELICITATION_REQUIRED = -32042;
/** The codes that identify a server as modern: header mismatch, missing capability, unsupported version. */
const MODERN_ERRORS: ReadonlySet<number> = new Set([-32020, -32021, UNSUPPORTED_VERSION]);

export function isModernError(code: number | undefined): boolean {
  return code !== undefined && MODERN_ERRORS.has(code);
}

/** Requests that a server may answer with `input_required`. */
export const INPUT_METHODS: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
]);

/** Requests whose results say how long they may be kept. */
export const CACHEABLE_METHODS: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** Of increasing severity. */
const LOG_LEVELS: readonly string[] = [
  ...['debug', 'info', 'notice', 'warning'],
  ...['error', 'critical', 'alert', 'emergency'],
];

/** The severity of a level that is written as JSON; -1 for an unknown one. */
export function severityOf(levelJson: string | undefined): number {
  return levelJson === undefined ? -1 : LOG_LEVELS.findIndex((name) => levelJson === `"${name}"`);
}

/** The name of a severity. */
export function levelOf(severity: number): string {
  return LOG_LEVELS[severity] ?? 'emergency';
}

/** The notifications about changed lists: their members in a subscription, and in the server's capabilities. */
export const LIST_CHANGES = [
  { method: 'notifications/tools/list_changed', member: 'toolsListChanged', feature: 'tools' },
  {
    method: 'notifications/prompts/list_changed',
    member: 'promptsListChanged',
    feature: 'prompts',
  },
  {
    method: 'notifications/resources/list_changed',
    member: 'resourcesListChanged',
    feature: 'resources',
  },
] as const;
