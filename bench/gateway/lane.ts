// One contestant of the bench: a server in a process of its own, and the client that drives it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { percentile } from '../measure.ts';
import { Conversation, KINDS, type Kind } from './conversation.ts';

export const PARALLEL = 16;

interface ServerTold {
  readonly url: string;
  readonly key?: string;
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

export interface Result {
  cpuMicros: number;
  wallMs: number;
  requests: number;
  readonly latenciesMs: number[];
}

export interface LaneSettings {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly headers?: { readonly [name: string]: string };
}

export class Lane {
  readonly name: string;
  readonly url: string;
  readonly results: { readonly [K in Kind]: Result };
  readonly #child: ChildProcess;
  readonly #pool: Pool;
  readonly #headers: { readonly [name: string]: string };
  readonly #conversations = new Map(
    KINDS.map((kind) => [
      kind,
      Array.from({ length: PARALLEL }, (_, session) => new Conversation(kind, session)),
    ]),
  );

  private constructor(settings: LaneSettings, child: ChildProcess, { url, key }: ServerTold) {
    this.name = settings.name;
    this.url = url;
    this.results = { stream: emptyResult(), whole: emptyResult() };
    this.#child = child;
    this.#pool = new Pool(url, { connections: PARALLEL });
    this.#headers = { 'x-api-key': key ?? 'key-of-the-client', ...settings.headers };
  }

  static async start(settings: LaneSettings): Promise<Lane> {
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
    const child = fork(settings.script, [...settings.args], { stdio: [...stdio] });
    return new Lane(settings, child, await told(child));
  }

  async usage(): Promise<ServerTold> {
    const answer = told(this.#child);
    this.#child.send('usage');
    return answer;
  }

  /** `PARALLEL` agents at once, each with a conversation of its own. */
  async round(kind: Kind, requests: number): Promise<Result> {
    const latenciesMs: number[] = [];
    let left = requests;
    const before = await this.usage();
    const startMs = performance.now();
    const agent = async (conversation: Conversation, session: number): Promise<void> => {
      while (left-- > 0) {
        const body = conversation.next();
        const sentMs = performance.now();
        await this.#ask(kind, session, body);
        latenciesMs.push(performance.now() - sentMs);
      }
    };
    await Promise.all((this.#conversations.get(kind) ?? []).map(agent));
    const wallMs = performance.now() - startMs;
    const cpuMicros = (await this.usage()).cpuMicros - before.cpuMicros;
    return { cpuMicros, wallMs, requests: latenciesMs.length, latenciesMs };
  }

  async #ask(kind: Kind, session: number, body: Buffer): Promise<void> {
    const { statusCode, body: answer } = await this.#pool.request({
      path: '/v1/messages',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: kind === 'stream' ? 'text/event-stream' : 'application/json',
        'anthropic-version': '2023-06-01',
        'x-claude-code-session-id': `session-${session}`,
        ...this.#headers,
      },
      body,
    });
    const text = await answer.text();
    const isWhole = kind === 'whole' || text.includes('message_stop');
    if (statusCode !== 200 || text.length < 1_000 || !isWhole) {
      throw new Error(`${this.name}: ${statusCode} ${text.slice(0, 200)}`);
    }
  }

  async stop(): Promise<void> {
    await this.#pool.destroy();
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
}

async function told(child: ChildProcess): Promise<ServerTold> {
  const [message] = (await once(child, 'message')) as [ServerTold];
  return message;
}

function emptyResult(): Result {
  return { cpuMicros: 0, wallMs: 0, requests: 0, latenciesMs: [] };
}

export function addResult(sum: Result, part: Result): void {
  sum.cpuMicros += part.cpuMicros;
  sum.wallMs += part.wallMs;
  sum.requests += part.requests;
  sum.latenciesMs.push(...part.latenciesMs);
}

export function summaryOf({ cpuMicros, wallMs, requests, latenciesMs }: Result) {
  const sorted = Float64Array.from(latenciesMs).toSorted();
  return {
    cpuMicros: cpuMicros / requests,
    perSecond: (requests / wallMs) * 1_000,
    p50Ms: percentile(sorted, 50),
    p99Ms: percentile(sorted, 99),
  };
}
