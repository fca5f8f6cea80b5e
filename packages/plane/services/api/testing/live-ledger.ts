// A real ledger with the API in front of it, and clients that say exactly what they are told.

import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type Event, isFailure } from '@subluminal/contracts';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';
import type { IncomingLine, Ledger } from '../../../stores/ledger/index.ts';
import { type Shim, T0_MS } from '../../../stores/ledger/testing/events.ts';
import { LedgerHome } from '../../../stores/ledger/testing/temp-ledger.ts';
import { openApi } from '../open-api.ts';
import type { Api, ApiOptions, Feed } from '../types.ts';

export const TOKEN = 'test-token-0123456789-abcdefghij-xyz';
export const AUTH = { authorization: `Bearer ${TOKEN}` };

interface StreamedEvent {
  readonly seq: number;
  readonly event: Event;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface AskOptions {
  readonly headers?: { readonly [name: string]: string | readonly string[] | undefined };
  readonly method?: string;
  readonly body?: string;
}

/** Announces what it has committed, as the daemon does. */
class LiveLedger implements Feed {
  readonly ledger: Ledger;
  readonly warnings: string[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #unheard: (() => void)[] = [];
  #tip = 0;

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) for (const wake of this.#unheard.splice(0)) wake();
    };
  }

  /** When nobody listens any more. */
  async unheard(): Promise<void> {
    if (this.#listeners.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#unheard.push(resolve);
    });
  }

  tip(): number {
    return this.#tip;
  }

  async ingest(...lines: readonly IncomingLine[]): Promise<void> {
    await this.ledger.ingest(lines);
    await this.announce();
  }

  /** Announces what was committed without a word. */
  async announce(): Promise<void> {
    this.#tip = this.ledger.lastSeq;
    for (const listener of this.#listeners) listener();
  }

  /** Opens the API, until the test is over. */
  async open(options: Partial<ApiOptions> = {}): Promise<ApiClient> {
    const opened = await openApi({
      reader: this.ledger.store,
      take: async (lines) => {
        const taken = await this.ledger.ingest(lines);
        await this.announce();
        return taken;
      },
      feed: this,
      token: TOKEN,
      user: 'ada',
      version: '1.2.3',
      nowMs: () => T0_MS,
      onWarning: (message) => this.warnings.push(message),
      ...options,
    });
    if (isFailure(opened)) throw new Error(opened.message);
    onTestFinished(() => opened.close());
    return new ApiClient(opened);
  }
}

export class ApiClient {
  readonly api: Api;
  readonly host: string;

  constructor(api: Api) {
    this.api = api;
    this.host = new URL(api.url).host;
  }

  /** With the token, unless the headers say otherwise. */
  ask(path: string, { headers = {}, method = 'GET', body }: AskOptions = {}): Promise<Answer> {
    const { hostname, port } = new URL(this.api.url);
    const all = { ...AUTH, host: this.host, ...headers };
    const defined = Object.fromEntries(Object.entries(all).filter(([, value]) => value));
    return new Promise((resolve, reject) => {
      const name = hostname.replaceAll(/[[\]]/g, '');
      const asked = { host: name, port, path, method, headers: defined as never, agent: false };
      const sent = httpRequest({ ...asked, setHost: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, headers: got } = response;
          resolve({ status, headers: got, text: Buffer.concat(chunks).toString('utf8') });
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** The answer as JSON; fails when it is not what was expected. */
  async json(path: string, status = 200, options: AskOptions = {}): Promise<unknown> {
    const answer = await this.ask(path, options);
    if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
    return JSON.parse(answer.text);
  }

  /** With the token in a header, unless told otherwise. */
  stream(
    query = '',
    options: { protocols?: string[]; headers?: { [name: string]: string } } = {},
  ): StreamClient {
    const { protocols = [], headers = AUTH } = options;
    const url = `${this.api.url.replace('http', 'ws')}/api/v1/stream${query}`;
    return new StreamClient(new WebSocket(url, protocols, { headers }));
  }
}

/** Collects what a stream sends. */
class StreamClient {
  readonly socket: WebSocket;
  readonly received: StreamedEvent[] = [];
  readonly opened: Promise<void>;
  /** The code and reason of its end, or the status that refused it. */
  readonly ended: Promise<{ readonly code: number; readonly reason: string }>;
  #waiting: (() => void)[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.opened = new Promise((resolve) => {
      socket.on('open', resolve);
    });
    socket.on('message', (data: Buffer) => {
      this.received.push(JSON.parse(data.toString('utf8')) as StreamedEvent);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.ended = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
      socket.on('unexpected-response', (_, response) => {
        response.resume();
        resolve({ code: response.statusCode ?? 0, reason: '' });
      });
    });
    socket.on('error', () => undefined);
    onTestFinished(() => socket.terminate());
  }

  async until(count: number): Promise<readonly StreamedEvent[]> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    return this.received;
  }

  /** Until everything has arrived that was sent before. */
  async settled(): Promise<void> {
    const answered = once(this.socket, 'pong');
    this.socket.ping();
    await answered;
  }

  get seqs(): readonly number[] {
    return this.received.map(({ seq }) => seq);
  }
}

/** Calls with long previews, so that some hundreds of them fill every buffer on the way. */
export function heavyCalls(shim: Shim, count: number): readonly IncomingLine[] {
  const preview = { truncated: true, args_preview: 'x'.repeat(16_000) };
  return Array.from({ length: count }, () => shim.start(`c${shim.count}`, { preview }));
}

export async function liveLedger(): Promise<LiveLedger> {
  return new LiveLedger(await new LedgerHome().open());
}
