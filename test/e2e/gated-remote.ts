// A remote server whose tools a test makes up, and agents that reach it through `sub shim --url` or `sub serve`.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';
import { type Approving, approvingAt } from '../contract/approving.ts';
import { homeOf } from '../contract/gated.ts';
import { type OpenClient, openClient, type SdkTransports } from './sdk-client.ts';
import { bearer, keyEntry, type Serving, startServing } from './served.ts';
import { SUB } from './sub.ts';

/** How the server answers: a body of JSON, or a stream. */
export type Form = 'json' | 'stream';

interface RemoteCall {
  readonly tool: string;
  readonly args: object;
  readonly headers: IncomingMessage['headers'];
}

interface RemoteTool {
  readonly description?: string;
  readonly answer: (call: RemoteCall) => object;
}

export interface Remote {
  readonly url: string;
  /** The calls that were executed. */
  readonly calls: RemoteCall[];
  /** What it shows from now on, by the names of its tools. */
  show(tools: { readonly [name: string]: RemoteTool }): void;
}

/** A result that is this text. */
export function said(value: string): object {
  return { content: [{ type: 'text', text: value }] };
}

interface Asked {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: object };
}

/** A legacy server without sessions. */
export async function startRemote(form: Form = 'json'): Promise<Remote> {
  const calls: RemoteCall[] = [];
  let shown: { readonly [name: string]: RemoteTool } = {};
  const resultOf = ({ method, params = {} }: Asked, headers: RemoteCall['headers']): object => {
    if (method === 'initialize') return INITIALIZED;
    if (method === 'server/discover') return { code: -32_601, message: 'Method not found' };
    if (method !== 'tools/call') {
      const tools = Object.entries(shown).map(([name, { description = name }]) => ({
        name,
        description,
        inputSchema: { type: 'object' },
      }));
      return { tools };
    }
    const call = { tool: params.name ?? '', args: params.arguments ?? {}, headers };
    calls.push(call);
    return shown[call.tool]?.answer(call) ?? {};
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const asked = JSON.parse(body) as Asked;
    if (asked.id === undefined) return void response.writeHead(202).end();
    const result = resultOf(asked, request.headers);
    // An answer with a `message` is an error.
    const member = 'message' in result ? { error: result } : { result };
    const answer = JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...member });
    const type = form === 'json' ? 'application/json' : 'text/event-stream';
    response.writeHead(200, { 'content-type': type });
    response.end(form === 'json' ? answer : `event: message\ndata: ${answer}\n\n`);
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    show: (tools) => {
      shown = tools;
    },
  };
}

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'remote', version: '1' },
};

export type Way = 'sub shim --url' | 'sub serve';
export const WAYS = ['sub shim --url', 'sub serve'] as const;

export interface Governed {
  /** An agent of this caller before this server; a shim has one caller. */
  agent(server?: string, caller?: string): Promise<OpenClient>;
  readonly people: Approving;
  /** All that is on record, in the log, and in the files of the home. */
  recorded(): string;
  readonly serving: Serving | undefined;
}

export interface GovernedFacts {
  /** The addresses of the servers by their names. */
  readonly servers: { readonly [name: string]: string };
  readonly policy: string;
  readonly config?: string;
  readonly env?: { readonly [name: string]: string };
  /** The variable with the bearer token of the servers. */
  readonly bearerEnv?: string;
  /** The SDK of the agents; with `v2` they speak 2026-07-28, and are bridged. */
  readonly sdk?: 'v1' | 'v2';
}

/** Two callers, each by a key of its own. */
export const CALLERS = ['ann', 'bob'] as const;

export async function governed(way: Way, facts: GovernedFacts): Promise<Governed> {
  const { servers, policy, config, env = {}, bearerEnv, sdk = 'v1' } = facts;
  const home = homeOf();
  if (config !== undefined) home.write('config.toml', config);
  const events = join(home.folder, 'events.jsonl');
  const flags = ['--policy', home.write('policy.yaml', policy), '--events', `file:${events}`];
  const people = approvingAt(home.folder);
  const own = { HOME: home.folder, SUB_HOME: home.path, ...env };
  const entries = Object.entries(servers).map(([name, url]) => {
    return [name, { url, ...(bearerEnv !== undefined && { bearer_env: bearerEnv }) }];
  });
  const auth = { keys: CALLERS.map((name) => keyEntry(name)) };
  const serving =
    way === 'sub serve'
      ? await startServing({ auth, servers: Object.fromEntries(entries) }, { flags, env: own })
      : undefined;
  if (serving !== undefined) onTestFinished(() => serving.close());
  let log = '';
  const note = (stderr: { on(event: 'data', heard: (part: Buffer) => void): unknown } | null) => {
    stderr?.on('data', (part) => {
      log += part.toString();
    });
  };
  const overStdio = (server: string): SdkTransports => {
    const words = ['--server-name', server, '--url', servers[server] ?? ''];
    const token = bearerEnv === undefined ? [] : ['--bearer-env', bearerEnv];
    const program = {
      command: process.execPath,
      args: [SUB, 'shim', ...words, ...token, ...flags],
      env: { PATH: process.env['PATH'] ?? '', ...own },
      stderr: 'pipe' as const,
    };
    return {
      v1: () => {
        const transport = new StdioClientTransport(program);
        note(transport.stderr);
        return transport;
      },
      v2: () => {
        const transport = new ModernStdio(program);
        note(transport.stderr);
        return transport;
      },
    };
  };
  const overHttp = (server: string, caller: string): SdkTransports => {
    const url = new URL(`${serving?.url}/mcp/${server}`);
    const options = { requestInit: { headers: bearer(caller) } };
    return {
      v1: () => new StreamableHTTPClientTransport(url, options),
      v2: () => new ModernHttp(url, options),
    };
  };
  const agent = async (server = 'far', caller: string = CALLERS[0]): Promise<OpenClient> => {
    const transports = serving === undefined ? overStdio(server) : overHttp(server, caller);
    const open = await openClient(sdk, transports);
    onTestFinished(() => open.client.close());
    return open;
  };
  const recorded = (): string => {
    const kept = existsSync(events) ? readFileSync(events, 'utf8') : '';
    return `${kept}\n${log}\n${serving?.log() ?? ''}`;
  };
  return { agent, people, recorded, serving };
}
