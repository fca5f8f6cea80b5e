// The official clients, SDK v1 and SDK v2, each with a user and a model who answer always the same.
import { Client as ModernClient, type Transport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport as LegacyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

export type SdkVersion = 'v1' | 'v2';

interface CallOptions {
  readonly onprogress?: (progress: object) => void;
  readonly signal?: AbortSignal;
}

/** What both clients offer. */
export interface SdkClient {
  getServerVersion(): object | undefined;
  getServerCapabilities(): object | undefined;
  getInstructions(): string | undefined;
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResources(): Promise<object>;
  listResourceTemplates(): Promise<object>;
  readResource(params: { uri: string }): Promise<object>;
  listPrompts(): Promise<object>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<object>;
  complete(params: {
    ref: { type: 'ref/prompt'; name: string };
    argument: { name: string; value: string };
  }): Promise<object>;
  close(): Promise<void>;
}

export interface OpenClient {
  readonly client: SdkClient;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<object>;
  /** The log messages that arrived. */
  readonly logged: unknown[];
}

export interface SdkTransports {
  v1(): LegacyTransport;
  v2(): Transport;
}

const INFO = { name: 'sdk-matrix', version: '1.0.0' };
const CAPABILITIES = { roots: {}, sampling: {}, elicitation: { form: {} } };
const ROOTS = { roots: [{ uri: 'file:///project', name: 'project' }] };
const MODEL_ANSWER = {
  role: 'assistant' as const,
  model: 'scripted',
  content: { type: 'text' as const, text: 'pong' },
};
const USER_ANSWER = {
  action: 'accept' as const,
  content: { name: 'Ada', response: 'yes', ok: true, confirmed: true },
};

export function openClient(version: SdkVersion, transports: SdkTransports): Promise<OpenClient> {
  return version === 'v1' ? openLegacy(transports.v1()) : openModern(transports.v2());
}

async function openLegacy(transport: LegacyTransport): Promise<OpenClient> {
  const client = new LegacyClient(INFO, { capabilities: CAPABILITIES });
  const logged: unknown[] = [];
  client.setRequestHandler(CreateMessageRequestSchema, () => MODEL_ANSWER);
  client.setRequestHandler(ElicitRequestSchema, () => USER_ANSWER);
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    logged.push(params);
  });
  await client.connect(transport);
  return {
    client,
    logged,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
  };
}

async function openModern(transport: Transport): Promise<OpenClient> {
  const client = new ModernClient(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: 'auto' },
  });
  const logged: unknown[] = [];
  client.setRequestHandler('sampling/createMessage', () => MODEL_ANSWER);
  client.setRequestHandler('elicitation/create', () => USER_ANSWER);
  client.setRequestHandler('roots/list', () => ROOTS);
  client.setNotificationHandler('notifications/message', ({ params }) => {
    logged.push(params);
  });
  await client.connect(transport);
  return {
    client,
    logged,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
  };
}
