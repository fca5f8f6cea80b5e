// A server over HTTP that does what a test says, and a transport to it whose messages a test sees.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { ServerEnd } from '../../types.ts';
import { connectHttpServer, type HttpServerOptions } from '../connect.ts';

/** A message as far as tests look at it. */
export interface JsonRpc {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: { readonly [member: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface SeenCall {
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The body as a message; of a request without a body, an empty one. */
  readonly message: JsonRpc;
}

type Act = (call: SeenCall, response: ServerResponse, request: IncomingMessage) => unknown;

/** Serves on loopback; `act` may be replaced meanwhile. */
export async function scriptedServer(act: Act) {
  const calls: SeenCall[] = [];
  const script = { act };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const message = parsed(body === '' ? '{}' : body);
      const call = { method: request.method, headers: request.headers, body, message };
      calls.push(call);
      void script.act(call, response, request);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, calls, script, server };
}

function parsed(text: string): JsonRpc {
  return JSON.parse(text) as JsonRpc;
}

export function json(response: ServerResponse, value: object, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

export function sse(response: ServerResponse, ...events: readonly string[]): ServerResponse {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`${event}\n\n`);
  return response;
}

export const data = (value: object): string => `data: ${JSON.stringify(value)}`;

export const answer = (id: unknown, result: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  result,
});

/** A transport to this address, whose messages are seen as objects. */
export function driven(url: string, options: Partial<HttpServerOptions> = {}) {
  const warnings: string[] = [];
  const end: ServerEnd = connectHttpServer({
    serverName: 'remote',
    url,
    transport: 'auto',
    headers: [],
    limits: { requestMs: 10_000 },
    env: {},
    warn: (text) => void warnings.push(text),
    ...options,
  });
  onTestFinished(() => end.close());
  const messages: JsonRpc[] = [];
  const abouts: (string | undefined)[] = [];
  const kinds: string[] = [];
  let large = '';
  end.transport.read({
    incoming: (incoming) => {
      for (const one of incoming) {
        kinds.push(one.kind);
        if (one.kind === 'head') large = '';
        if (one.kind === 'message') {
          messages.push(parsed(Buffer.from(one.bytes).toString()));
          abouts.push(one.about);
        } else if ('bytes' in one) large += Buffer.from(one.bytes).toString();
        else if (one.kind === 'end' && one.isComplete) messages.push(parsed(large));
      }
    },
    end: () => {},
  });
  const write = (message: object): void =>
    end.transport.write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`));
  /** The message with this id. */
  const answerTo = (id: unknown) =>
    vi.waitFor(
      () => {
        const found = messages.find((one) => one.id === id && one.method === undefined);
        if (found === undefined) throw new Error(`no answer to ${String(id)}`);
        return found;
      },
      { timeout: 8_000, interval: 5 },
    );
  return { end, transport: end.transport, messages, abouts, kinds, warnings, write, answerTo };
}

export const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};
export const INITIALIZED = { method: 'notifications/initialized' };
export const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A legacy server with sessions; `call` answers the requests behind the handshake. */
export function legacy(call: Act, { hasStream = false } = {}): Act {
  let sessions = 0;
  return (seen, response, request) => {
    if (seen.message.method === 'initialize') {
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} };
      const headers = { 'mcp-session-id': `session-${++sessions}` };
      return json(response, answer(seen.message.id, result), 200, headers);
    }
    const isNotice = seen.method === 'POST' && seen.message.id === undefined;
    if (isNotice) return response.writeHead(202).end();
    const isOther = seen.method === 'DELETE' || (seen.method === 'GET' && !hasStream);
    if (isOther && seen.headers['last-event-id'] === undefined) {
      return response.writeHead(405).end();
    }
    return call(seen, response, request);
  };
}
