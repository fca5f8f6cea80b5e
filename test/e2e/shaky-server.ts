// A legacy server over HTTP with sessions and streams that can be resumed. It cuts, delays and refuses at random, and it
// can be killed: its memory is lost then, but what it has executed is remembered here.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { TcpFront } from './tcp-front.ts';

export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly arguments?: { readonly n?: number };
    readonly _meta?: { readonly progressToken?: number | string };
  };
  readonly result?: { readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly message: string };
}

const WAIT_MS_MAX = 40;
const TOOLS = [{ name: 'do', inputSchema: { type: 'object' } }];

export class ShakyServer {
  readonly executed = new Map<number, number>();
  resumed = 0;
  readonly front: TcpFront;
  readonly #random: () => number;
  #server: Server | undefined;
  #sessions = new Set<string>();
  /** The answers of streams that may be cut, by the id of their first event. */
  #streams = new Map<string, Promise<string>>();
  #held: Promise<void> | undefined;

  private constructor(random: () => number, front: TcpFront) {
    this.#random = random;
    this.front = front;
  }

  static async open(random: () => number): Promise<ShakyServer> {
    const server = new ShakyServer(random, await TcpFront.open());
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.front.port}/mcp`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.front.leadTo((server.address() as AddressInfo).port);
    this.#server = server;
  }

  /** As a crash: connections are cut, sessions and streams forgotten. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.front.leadTo(undefined);
    server?.closeAllConnections();
    server?.close();
    if (server !== undefined) await once(server, 'close');
    this.#sessions = new Set();
    this.#streams = new Map();
  }

  async close(): Promise<void> {
    await this.kill();
    await this.front.close();
  }

  /** From now on it makes no trouble, and each answer waits for this behind the first event of its stream. */
  holdAnswers(until: Promise<void>): void {
    this.#held = until;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const session = String(request.headers['mcp-session-id']);
    if (request.method === 'GET') return this.#resume(request, response);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    if (message.method === 'initialize') return this.#open(message, response);
    if (!this.#sessions.has(session)) return void response.writeHead(404).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === 'tools/list') return answer(response, message, { tools: TOOLS });
    if (message.method !== 'tools/call') return answer(response, message, {});
    await this.#call(message, response);
  }

  #open(message: Message, response: ServerResponse): void {
    const session = randomUUID();
    this.#sessions.add(session);
    response.setHeader('mcp-session-id', session);
    const info = { name: 'shaky', version: '1' };
    answer(response, message, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: info,
    });
  }

  async #call(message: Message, response: ServerResponse): Promise<void> {
    const n = message.params?.arguments?.n ?? -1;
    const fate = this.#held === undefined ? this.#random() : 1;
    // Refused before it is executed, by a server that is gone in a moment.
    if (fate < 0.08) return void response.destroy();
    this.executed.set(n, (this.executed.get(n) ?? 0) + 1);
    const result = { content: [{ type: 'text', text: `done ${n}` }] };
    const waitMs = this.#random() * WAIT_MS_MAX;
    if (fate < 0.16) return void response.destroy();
    if (fate < 0.3) return void pause(waitMs).then(() => answer(response, message, result));
    if (fate < 0.45) return answer(response, message, result);
    await this.#stream(message, response, { result, fate, waitMs });
  }

  async #stream(
    message: Message,
    response: ServerResponse,
    { result, fate, waitMs }: { result: object; fate: number; waitMs: number },
  ): Promise<void> {
    const line = `data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n\n`;
    const first = randomUUID();
    const later = (this.#held ?? pause(waitMs)).then(() => line);
    this.#streams.set(first, later);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const start = `id: ${first}\nretry: ${Math.floor(this.#random() * 20)}\n${progress(message)}\n\n`;
    // Cut behind its first event: it can be resumed, unless the server forgets it.
    const half = fate < 0.85 ? line.slice(0, Math.floor(this.#random() * line.length)) : '';
    if (fate >= 0.6 && fate < 1) {
      return void response.write(start + half, () => response.destroy());
    }
    response.write(start);
    response.end(await later);
  }

  async #resume(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const last = request.headers['last-event-id'];
    const later = this.#streams.get(String(last));
    if (later === undefined) return void response.writeHead(last === undefined ? 405 : 400).end();
    // Some attempts are cut as well.
    if (this.#held === undefined && this.#random() < 0.3) return void response.destroy();
    this.resumed++;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`id: ${randomUUID()}\n${await later}`);
  }
}

/** The data of the first event: progress, where it was asked for. */
function progress({ params }: Message): string {
  const token = params?.['_meta']?.progressToken;
  if (token === undefined) return 'data:';
  const told = { progressToken: token, progress: 1 };
  return `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: told })}`;
}

function answer(response: ServerResponse, { id }: Message, result: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}
