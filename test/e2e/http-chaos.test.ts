// A remote server that is cut, delayed and killed at random moments, seeded: no call is executed twice by us, none stays
// without an answer, and what can be resumed is resumed. `CHAOS_CALLS=2000 CHAOS_SEEDS=1,2,3` makes it longer.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ended, ensureBuilt, startSub } from './sub.ts';
import { TcpFront } from './tcp-front.ts';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly n?: number } };
  readonly result?: { readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly message: string };
}

const CALLS = Number(process.env['CHAOS_CALLS'] ?? 60);
const SEEDS = (process.env['CHAOS_SEEDS'] ?? '1,2').split(',').map(Number);
const AT_ONCE = 6;

beforeAll(() => ensureBuilt());

/** A small generator, so that a seed gives the same faults again. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * A legacy server with sessions and streams that can be resumed. Its memory is lost when it is killed; what it has
 * executed is remembered here.
 */
class ShakyServer {
  readonly executed = new Map<number, number>();
  resumed = 0;
  readonly #random: () => number;
  readonly #front: TcpFront;
  #server: Server | undefined;
  #sessions = new Set<string>();
  /** The answers of streams that were cut, by the id of their first event. */
  #streams = new Map<string, string>();

  private constructor(random: () => number, front: TcpFront) {
    this.#random = random;
    this.#front = front;
  }

  static async open(random: () => number): Promise<ShakyServer> {
    const server = new ShakyServer(random, await TcpFront.open());
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#front.port}/mcp`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#front.leadTo((server.address() as AddressInfo).port);
    this.#server = server;
  }

  /** As a crash: connections are cut, sessions and streams forgotten. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#front.leadTo(undefined);
    server?.closeAllConnections();
    server?.close();
    if (server !== undefined) await once(server, 'close');
    this.#sessions = new Set();
    this.#streams = new Map();
  }

  async close(): Promise<void> {
    await this.kill();
    await this.#front.close();
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
    const fate = this.#random();
    // Refused before it is executed, by a server that is gone in a moment.
    if (fate < 0.08) return void response.destroy();
    this.executed.set(n, (this.executed.get(n) ?? 0) + 1);
    const result = { content: [{ type: 'text', text: `done ${n}` }] };
    if (fate < 0.16) return void response.destroy();
    if (fate < 0.3)
      return void setTimeout(() => answer(response, message, result), this.#random() * 40);
    if (fate < 0.55) return answer(response, message, result);
    const line = `data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}`;
    const first = randomUUID();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (fate < 0.7) return void response.end(`${line}\n\n`);
    // Cut behind its first event: it can be resumed, unless the server forgets it.
    this.#streams.set(first, line);
    const start = `id: ${first}\nretry: ${Math.floor(this.#random() * 20)}\ndata:\n\n`;
    const half = fate < 0.85 ? line.slice(0, Math.floor(this.#random() * line.length)) : '';
    response.write(start + half, () => response.destroy());
  }

  #resume(request: IncomingMessage, response: ServerResponse): void {
    const last = String(request.headers['last-event-id']);
    const line = this.#streams.get(last);
    if (line === undefined) {
      return void response
        .writeHead(request.headers['last-event-id'] === undefined ? 405 : 400)
        .end();
    }
    // Some attempts are cut as well.
    if (this.#random() < 0.3) return void response.destroy();
    this.#streams.delete(last);
    this.resumed++;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`id: ${randomUUID()}\n${line}\n\n`);
  }
}

function answer(response: ServerResponse, { id }: Message, result: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

function startShim(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sub-http-chaos-'));
  const child = startSub(['shim', '--server-name', 'shaky', '--url', url, '--events', 'off'], {
    cwd: folder,
    env: { HOME: folder, SUB_HOME: join(folder, 'home') },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const over = ended(child);
  const answers = new Map<number, Message[]>();
  const waiting = new Map<number, (message: Message) => void>();
  if (child.stdout === null) throw new Error('the shim has no output');
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    answers.set(message.id, [...(answers.get(message.id) ?? []), message]);
    waiting.get(message.id)?.(message);
  });
  let id = 0;
  const tell = (message: object): void =>
    void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object): Promise<Message> =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      tell({ id, method, params });
    });
  return { child, over, answers, tell, ask };
}

test.each(SEEDS)(
  'every call is answered once and executed at most once (seed %i)',
  async (seed) => {
    const random = randomFrom(seed);
    const server = await ShakyServer.open(random);
    onTestFinished(() => server.close());
    const { child, over, answers, tell, ask } = startShim(server.url);
    await ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'chaos', version: '1' },
    });
    tell({ method: 'notifications/initialized' });
    const outcomes = new Map<number, Message>();
    let next = 0;
    const caller = async (): Promise<void> => {
      for (let n = next++; n < CALLS; n = next++) {
        outcomes.set(n, await ask('tools/call', { name: 'do', arguments: { n } }));
        if (random() > 0.06) continue;
        await server.kill();
        await server.start();
      }
    };
    // One after the other kills; the others only call.
    const onlyCall = async (): Promise<void> => {
      for (let n = next++; n < CALLS; n = next++) {
        outcomes.set(n, await ask('tools/call', { name: 'do', arguments: { n } }));
      }
    };
    await Promise.all([caller(), ...Array.from({ length: AT_ONCE - 1 }, onlyCall)]);
    expect(outcomes.size).toBe(CALLS);
    const answered = [...outcomes].filter(([, { result }]) => result !== undefined);
    for (const [n, { result }] of answered) {
      expect([server.executed.get(n), result?.content?.[0]?.text]).toEqual([1, `done ${n}`]);
    }
    const failed = [...outcomes.values()].filter(({ result }) => result === undefined);
    for (const { error } of failed) expect(error?.message).toMatch(/`shaky`/);
    expect(Math.max(...server.executed.values())).toBe(1);
    for (const all of answers.values()) expect(all).toHaveLength(1);
    expect(answered.length).toBeGreaterThan(CALLS / 3);
    expect(server.resumed).toBeGreaterThan(0);
    child.stdin?.end();
    expect(await over).toMatchObject({ code: 0 });
  },
);
