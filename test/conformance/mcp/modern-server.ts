// The server of the modern era: SDK v2, 2026-07-28 only, with the tasks extension in front of it. With the
// argument `both` it serves the legacy era too, as the SDK does; with `stdio` on stdin and stdout, with
// `stdio-modern` without the legacy era.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  type McpRequestContext,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ASK_CONTEXT } from './forms.ts';
import { registerInputTools, STATES } from './input-tools.ts';
import { listen } from './listen.ts';
import { registerModernTools } from './modern-tools.ts';
import {
  PROMPTS,
  RESOURCES,
  SERVER_INFO,
  TEMPLATE,
  templatePage,
  templateText,
  text,
  user,
} from './offer.ts';
import { answerTask, TASKS_CAPABILITY } from './task-layer.ts';

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
  ...TASKS_CAPABILITY,
};

const WAY = process.argv[2];
const ON_STDIO = WAY?.startsWith('stdio') === true;

/** The SDK asks for a server per request. */
function fixtureServer({ era }: McpRequestContext): McpServer {
  const server = new McpServer(SERVER_INFO, {
    capabilities: CAPABILITIES,
    requestState: { verify: (state, context) => STATES.verify(state, context) },
  });
  registerModernTools(server, ON_STDIO ? ownNotifier(server, era) : handler.notify);
  registerInputTools(server);
  registerResources(server);
  registerPrompts(server);
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }));
  return server;
}

/** On stdio a server notifies its one client. The SDK has no subscriptions of the legacy era. */
function ownNotifier(server: McpServer, era: 'legacy' | 'modern'): ServerNotifier {
  const subscribed = new Set<string>();
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return {
    toolsChanged: () => server.sendToolListChanged(),
    promptsChanged: () => server.sendPromptListChanged(),
    resourcesChanged: () => server.sendResourceListChanged(),
    resourceUpdated: (uri) => {
      const isAwaited = era === 'modern' || subscribed.has(uri);
      if (isAwaited) void server.server.sendResourceUpdated({ uri });
    },
  };
}

function registerResources(server: McpServer): void {
  for (const [uri, { name, mimeType, contents }] of Object.entries(RESOURCES)) {
    server.registerResource(name, uri, { mimeType }, () => ({
      contents: [{ uri, mimeType, ...contents }],
    }));
  }
  const { name, uriTemplate, mimeType } = TEMPLATE;
  const template = new ResourceTemplate(uriTemplate, { list: undefined });
  server.registerResource(name, template, { mimeType }, (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType, text: templateText(String(id)) }],
  }));
  server.server.setRequestHandler('resources/templates/list', ({ params }) => {
    const page = templatePage(params?.cursor);
    if (page === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such cursor');
    }
    return page;
  });
}

function registerPrompts(server: McpServer): void {
  for (const [name, { description, args, messages }] of Object.entries(PROMPTS)) {
    const names = Object.keys(args);
    if (names.length === 0) {
      server.registerPrompt(name, { description }, () => ({ messages: messages({}) }));
      continue;
    }
    const properties = Object.fromEntries(
      Object.entries(args).map(([argument, about]) => [
        argument,
        { type: 'string', description: about },
      ]),
    );
    const argsSchema = fromJsonSchema<Record<string, string>>({
      type: 'object',
      properties,
      required: names,
    });
    server.registerPrompt(name, { description, argsSchema }, (given) => ({
      messages: messages(given),
    }));
  }
  server.registerPrompt(
    'test_input_required_result_prompt',
    {
      description: 'Asks the user before it is rendered',
      argsSchema: fromJsonSchema({ type: 'object' }),
    },
    (_args, { mcpReq }) => {
      const answer = acceptedContent<{ context: string }>(mcpReq.inputResponses, 'user_context');
      if (answer !== undefined) {
        return { messages: [user(text(`Use the following context: ${answer.context}`))] };
      }
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({
            message: 'What context should the prompt use?',
            requestedSchema: ASK_CONTEXT,
          }),
        },
      });
    },
  );
}

const handler = createMcpHandler(fixtureServer, {
  legacy: WAY === 'both' ? 'stateless' : 'reject',
});
const handle = toNodeHandler(handler);
const isHostAllowed = localhostHostValidation();
const isOriginAllowed = localhostOriginValidation();

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isHostAllowed(request, response) || !isOriginAllowed(request, response)) return;
  const body = parsed(await readText(request));
  const answer = body && answerTask(body, request.headers);
  if (answer !== undefined) {
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
    return;
  }
  // Its type wants `url?: string`, Node's has `url?: string | undefined`.
  await handle(request as Parameters<typeof handle>[0], response, body);
}

/** Undefined for a body that is no JSON: the SDK says what is wrong with it. */
function parsed(body: string): Parameters<typeof answerTask>[0] | undefined {
  try {
    return JSON.parse(body) as Parameters<typeof answerTask>[0];
  } catch {
    return undefined;
  }
}

if (ON_STDIO) serveStdio(fixtureServer, { legacy: WAY === 'stdio' ? 'serve' : 'reject' });
else listen(createServer((request, response) => void serve(request, response)));
