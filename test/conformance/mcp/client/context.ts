import type { ClientCredentials } from './oauth-fetch.ts';

interface Context extends Partial<ClientCredentials> {
  readonly toolCalls?: readonly { name: string; arguments: Record<string, unknown> }[];
}

/** What the suite tells the client about the scenario. */
export function scenarioContext(): Context {
  return JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
}
