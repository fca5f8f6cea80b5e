// The server of the legacy era: SDK v1, Streamable HTTP with sessions and resumable streams; with the
// argument `stdio` on stdin and stdout.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { localhostHostValidation, localhostOriginValidation } from '@modelcontextprotocol/node';
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  isInitializeRequest,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { eventStore } from './event-store.ts';
import { callTool, LEGACY_TOOLS } from './legacy-tools.ts';
import { listen } from './listen.ts';
import { PROMPTS, RESOURCES, SERVER_INFO, TEMPLATE, templatePage, templateText } from './offer.ts';

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};

/** How long a client waits before it asks for the rest of a stream. */
const RETRY_MS = 500;

function fixtureServer(): McpServer['server'] {
  const { server } = new McpServer(SERVER_INFO, {
    capabilities: CAPABILITIES,
    taskStore: new InMemoryTaskStore(),
    taskMessageQueue: new InMemoryTaskMessageQueue(),
  });
  const subscribed = new Set<string>();
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: LEGACY_TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, (request, extra) =>
    callTool(request, extra, {
      log: (level, data) => server.sendLoggingMessage({ level, data }, extra.sessionId),
      change: async (uri) => {
        if (subscribed.has(uri)) await server.sendResourceUpdated({ uri });
        await server.sendResourceListChanged();
        await server.sendPromptListChanged();
        await server.sendToolListChanged();
      },
    }),
  );
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: Object.entries(RESOURCES).map(([uri, { name, mimeType }]) => ({
      uri,
      name,
      mimeType,
    })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, ({ params }) => {
    const page = templatePage(params?.cursor);
    if (page === undefined) throw new McpError(ErrorCode.InvalidParams, 'No such cursor');
    return page;
  });
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => readResource(params.uri));
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(PROMPTS).map(([name, { description, args }]) => ({
      name,
      description,
      arguments: Object.entries(args).map(([argument, about]) => ({
        name: argument,
        description: about,
        required: true,
      })),
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS[params.name];
    if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, 'No such prompt');
    return { messages: prompt.messages(params.arguments ?? {}) };
  });
  server.setRequestHandler(CompleteRequestSchema, () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }));
  return server;
}

function readResource(uri: string) {
  const resource = RESOURCES[uri];
  if (resource !== undefined) {
    return { contents: [{ uri, mimeType: resource.mimeType, ...resource.contents }] };
  }
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) throw new McpError(-32_002, 'Resource not found', { uri });
  return { contents: [{ uri, mimeType: TEMPLATE.mimeType, text: templateText(id) }] };
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: eventStore(),
    retryInterval: RETRY_MS,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await fixtureServer().connect(transport);
  return transport;
}

const isHostAllowed = localhostHostValidation();
const isOriginAllowed = localhostOriginValidation();

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isHostAllowed(request, response) || !isOriginAllowed(request, response)) return;
  const id = request.headers['mcp-session-id'];
  const body: unknown = request.method === 'POST' ? JSON.parse(await readText(request)) : undefined;
  const known = typeof id === 'string' ? sessions.get(id) : undefined;
  if (known !== undefined) return known.handleRequest(request, response, body);
  if (id === undefined && isInitializeRequest(body)) {
    return (await openSession()).handleRequest(request, response, body);
  }
  const status = id === undefined ? 400 : 404;
  const message = id === undefined ? 'Mcp-Session-Id is missing' : 'Session not found';
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}

if (process.argv[2] === 'stdio') await fixtureServer().connect(new StdioServerTransport());
else listen(createServer((request, response) => void handle(request, response)));
