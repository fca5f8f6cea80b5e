// The agent of the client scenarios: SDK v1 in the legacy era, SDK v2 in the modern era.
import { Client as ModernClient, type Transport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport as LegacyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

export interface Agent {
  listTools(): Promise<{ tools: { name: string; inputSchema: object }[] }>;
  callTool(call: ToolCall): Promise<unknown>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<unknown>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: { name: string }): Promise<unknown>;
  close(): Promise<void>;
}

const INFO = { name: 'conformance-client', version: '1.0.0' };

/** Fills in nothing by itself: the SDK puts the defaults of the form in. */
export async function legacyAgent(transport: LegacyTransport): Promise<Agent> {
  const capabilities = { elicitation: { form: { applyDefaults: true } } };
  const client = new LegacyClient(INFO, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }));
  await client.connect(transport);
  return client;
}

export async function modernAgent(transport: Transport): Promise<Agent> {
  const client = new ModernClient(INFO, {
    capabilities: { roots: {}, sampling: {}, elicitation: {} },
    versionNegotiation: { mode: 'auto' },
  });
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { confirmed: true },
  }));
  await client.connect(transport);
  return client;
}
