// A server on the official SDK v2 that speaks MCP 2026-07-28. With `serve` it speaks the legacy era as well,
// with `reject` it refuses legacy clients. With `http` it listens on a free port and says where, else it is on stdio.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const text = (value) => ({ type: 'text', text: value });
const said = (value) => ({ content: [text(value)] });
const form = (field) => ({
  type: 'object',
  properties: { [field]: { type: 'string' } },
  required: [field],
});
const askName = (message) => inputRequired.elicit({ message, requestedSchema: form('name') });
const WATCHED = 'test://watched';

function registerTools(server) {
  const tool = (name, properties, call) => {
    const inputSchema = fromJsonSchema({ type: 'object', properties });
    server.registerTool(name, { description: `Does ${name}.`, inputSchema }, call);
  };
  tool('echo', { message: { type: 'string' } }, ({ message }) => said(`Echo: ${message}`));
  tool('fail', {}, () => {
    throw new Error('It failed.');
  });
  tool('structured', {}, () => ({ content: [text('{}')], structuredContent: { n: 1 } }));
  tool('name', {}, (_args, { mcpReq }) => {
    if (mcpReq.inputResponses === undefined) {
      return inputRequired({ inputRequests: { name: askName('Name?') }, requestState: 'st"ate' });
    }
    const given = acceptedContent(mcpReq.inputResponses, 'name');
    return said(JSON.stringify([given, mcpReq.requestState()]));
  });
  tool('everything', {}, (_args, { mcpReq }) => {
    const { inputResponses } = mcpReq;
    if (inputResponses !== undefined) {
      const kinds = ['who', 'text', 'roots'].map((key) => inputResponse(inputResponses, key));
      return said(JSON.stringify(kinds));
    }
    const messages = [{ role: 'user', content: text('Say pong') }];
    return inputRequired({
      inputRequests: {
        who: askName('Who?'),
        text: inputRequired.createMessage({ messages, maxTokens: 9 }),
        roots: inputRequired.listRoots(),
      },
    });
  });
  tool('rounds', {}, (_args, { mcpReq }) => {
    const round = Number(mcpReq.requestState() ?? '0');
    if (round === 3) return said('three rounds');
    const inputRequests = { [`name${round}`]: askName(`Round ${round}?`) };
    return inputRequired({ inputRequests, requestState: String(round + 1) });
  });
  tool('page', {}, (_args, { mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return said('visited');
    const page = inputRequired.elicitUrl({ message: 'Log in', url: 'https://example.org/' });
    return inputRequired({ inputRequests: { page } });
  });
  tool('progress', {}, async (_args, { mcpReq }) => {
    const { _meta: { progressToken } = {} } = mcpReq;
    for (const progress of progressToken === undefined ? [] : [1, 2, 3]) {
      const params = { progressToken, progress, total: 3 };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    return said('done');
  });
  tool('log', {}, async (_args, { mcpReq }) => {
    await mcpReq.log('info', 'a detail');
    await mcpReq.log('error', 'a problem');
    return said('logged');
  });
  tool('hang', {}, (_args, { mcpReq }) => {
    return new Promise((_resolve, reject) => {
      mcpReq.signal.addEventListener('abort', () => {
        process.stderr.write('the hanging call was cancelled\n');
        reject(new Error('cancelled'));
      });
    });
  });
  tool('change', {}, async () => {
    if (handler === undefined) {
      await server.sendToolListChanged();
      await server.server.sendResourceUpdated({ uri: WATCHED });
    } else {
      handler.notify.toolsChanged();
      handler.notify.resourceUpdated(WATCHED);
    }
    return said('changed');
  });
}

function modernServer() {
  const server = new McpServer(
    { name: 'modern', version: '1' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        logging: {},
        completions: {},
      },
      instructions: 'Be kind.',
    },
  );
  registerTools(server);
  server.registerResource('watched', WATCHED, { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, text: 'watched' }],
  }));
  const argsSchema = fromJsonSchema({ type: 'object' });
  server.registerPrompt('greet', { description: 'Greets', argsSchema }, (_args, { mcpReq }) => {
    const { name } = acceptedContent(mcpReq.inputResponses, 'name') ?? {};
    if (name === undefined) return inputRequired({ inputRequests: { name: askName('Whom?') } });
    return { messages: [{ role: 'user', content: text(JSON.stringify({ name })) }] };
  });
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris'], total: 1, hasMore: false },
  }));
  return server;
}

const [legacy, way] = process.argv.slice(2);
const handler = way === 'http' ? createMcpHandler(modernServer, { legacy }) : undefined;
if (handler === undefined) serveStdio(modernServer, { legacy });
else {
  const server = createServer(toNodeHandler(handler));
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`);
  });
}
