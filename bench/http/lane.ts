// One contestant of the bench: a server in a process of its own, and the agents that call tools through it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import type { Result } from '../gateway/lane.ts';

export const ERAS = ['legacy', 'modern'] as const;
export type BenchEra = (typeof ERAS)[number];

interface ToldUsage {
  readonly url: string;
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

export interface HttpLaneSettings {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
}

export const AGENTS = 16;
const PATH = '/mcp/mcp';
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export class HttpLane {
  readonly name: string;
  readonly url: string;
  readonly results: { readonly [E in BenchEra]: Result };
  readonly #child: ChildProcess;
  readonly #pool: Pool;
  #calls = 0;
  readonly #sessions: string[] = [];

  private constructor(name: string, child: ChildProcess, url: string) {
    this.name = name;
    this.url = url;
    const empty = () => ({ cpuMicros: 0, wallMs: 0, requests: 0, latenciesMs: [] });
    this.results = { legacy: empty(), modern: empty() };
    this.#child = child;
    this.#pool = new Pool(url, { connections: AGENTS });
  }

  static async start({ name, script, args }: HttpLaneSettings): Promise<HttpLane> {
    const child = fork(script, [...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [{ url }] = (await once(child, 'message')) as [ToldUsage];
    return new HttpLane(name, child, url);
  }

  async usage(): Promise<ToldUsage> {
    const answer = once(this.#child, 'message');
    this.#child.send('usage');
    const [told] = (await answer) as [ToldUsage];
    return told;
  }

  /** Opens sessions until there are so many. */
  async openSessions(count: number): Promise<void> {
    const open = async (): Promise<void> => {
      while (this.#sessions.length < count) {
        const place = this.#sessions.push('') - 1;
        this.#sessions[place] = await this.#initialize();
      }
    };
    await Promise.all(Array.from({ length: AGENTS }, open));
  }

  /** `AGENTS` agents at once, each with a session of its own where the era has them. */
  async round(era: BenchEra, requests: number): Promise<Result> {
    await this.openSessions(AGENTS);
    const latenciesMs: number[] = [];
    let left = requests;
    const before = await this.usage();
    const startMs = performance.now();
    const agent = async (_: unknown, index: number): Promise<void> => {
      while (left-- > 0) {
        const sentMs = performance.now();
        await this.#call(era, this.#sessions[index] ?? '');
        latenciesMs.push(performance.now() - sentMs);
      }
    };
    await Promise.all(Array.from({ length: AGENTS }, agent));
    const wallMs = performance.now() - startMs;
    const cpuMicros = (await this.usage()).cpuMicros - before.cpuMicros;
    return { cpuMicros, wallMs, requests: latenciesMs.length, latenciesMs };
  }

  async stop(): Promise<void> {
    await this.#pool.destroy();
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }

  async #initialize(): Promise<string> {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    };
    const { headers } = await this.#post({ id: 0, method: 'initialize', params }, {});
    const session = String(headers['mcp-session-id']);
    await this.#post({ method: 'notifications/initialized' }, { 'mcp-session-id': session });
    return session;
  }

  async #call(era: BenchEra, session: string): Promise<void> {
    const id = ++this.#calls;
    const call = { name: 'read_file', arguments: { path: `src/folder/file-${id}.ts` } };
    const isModern = era === 'modern';
    const params = isModern ? { ...call, _meta: META } : call;
    const headers = isModern
      ? {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'read_file',
        }
      : { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session };
    const { text } = await this.#post({ id, method: 'tools/call', params }, headers);
    if (!text.includes('A line of the file') || !text.includes(`"id":${id}`)) {
      throw new Error(`${this.name}: ${text.slice(0, 300)}`);
    }
  }

  async #post(message: object, headers: { readonly [name: string]: string }) {
    const answer = await this.#pool.request({
      path: PATH,
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) {
      throw new Error(`${this.name}: ${answer.statusCode} ${text.slice(0, 300)}`);
    }
    return { text, headers: answer.headers };
  }
}
