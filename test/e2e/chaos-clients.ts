// Clients of `sub serve` that go on whatever breaks: one of 2026-07-28, one of 2025-11-25 that resumes its streams, and
// that of the official SDK v1. None of them sends a call twice, unless it was told that its session is gone.
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ask, initialize, MCP_HEADERS, modern } from './served.ts';
import type { Message } from './shaky-server.ts';

export interface Place {
  readonly port: number;
  readonly path: string;
}

/** How a call ended for its client. */
export type Outcome =
  | { readonly kind: 'result'; readonly text: string | undefined }
  /** By an answer that says why. */
  | { readonly kind: 'error'; readonly message: string }
  /** The connection broke, or the session was gone. */
  | { readonly kind: 'broken'; readonly message: string };

export interface ChaosClient {
  call(args: CallArgs): Promise<Outcome>;
}

interface CallArgs {
  readonly n: number;
  readonly waitMs: number;
}

const RETRY_MS = 20;
const PATIENCE_MS = 30_000;
const VERSION = '2025-11-25';

function outcomeOf({ result, error }: Message): Outcome {
  if (result !== undefined) return { kind: 'result', text: result.content?.[0]?.text };
  return { kind: 'error', message: error?.message ?? '' };
}

function broken(cause: unknown): Outcome {
  return { kind: 'broken', message: cause instanceof Error ? cause.message : String(cause) };
}

export class ModernCaller implements ChaosClient {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  async call(args: CallArgs): Promise<Outcome> {
    const { path } = this.#place;
    const asking = { path, ...modern(args.n, 'tools/call', { name: 'do', arguments: args }) };
    try {
      const { text } = await ask(this.#place, asking);
      const lines = text.startsWith('{') ? [text] : text.split('\n');
      const messages = lines.flatMap((line) => parsed(line.replace(/^data: ?/, '')) ?? []);
      const answer = messages.find(({ id }) => id === args.n);
      return answer === undefined ? broken(`no answer in ${text}`) : outcomeOf(answer);
    } catch (cause) {
      return broken(cause);
    }
  }
}

/** Tries again until there is something: a server that is about to start refuses. */
async function eventually<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await attempt().catch(() => undefined);
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) throw new Error('no session in time');
    await pause(RETRY_MS);
  }
}

/** Follows the specification where its connection breaks: it resumes the stream by its last event. */
export class ResumingCaller implements ChaosClient {
  resumed = 0;
  /** Called with each event of a stream. */
  onEvent: () => void = () => {};
  readonly #place: Place;
  #session: Promise<string> | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  async call(args: CallArgs): Promise<Outcome> {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: args.n,
      method: 'tools/call',
      params: { name: 'do', arguments: args, _meta: { progressToken: args.n } },
    });
    for (;;) {
      this.#session ??= eventually(() => this.#begin());
      const began = this.#session;
      const session = await began;
      let read: StreamRead;
      try {
        read = await this.#read({ method: 'POST', session, id: args.n, body });
      } catch (cause) {
        return broken(cause);
      }
      if (read.status !== 404) return this.#followed(read, { session, id: args.n });
      if (this.#session === began) this.#session = undefined;
    }
  }

  async #followed(
    first: StreamRead,
    { session, id }: { session: string; id: number },
  ): Promise<Outcome> {
    let { answer, lastEventId } = first;
    while (answer === undefined && lastEventId !== undefined) {
      const asked = { method: 'GET', session, id, lastEventId };
      const next = await eventually(() => this.#read(asked));
      // Its session is gone, and the stream with it.
      if (next.status === 404) return broken('the session is gone');
      if (next.status !== 200) return broken(`not resumed: ${next.status} ${next.text}`);
      this.resumed++;
      answer = next.answer;
      lastEventId = next.lastEventId ?? lastEventId;
    }
    return answer === undefined
      ? broken(`no answer: ${first.status} ${first.text}`)
      : outcomeOf(answer);
  }

  async #begin(): Promise<string> {
    const { path } = this.#place;
    const begun = await ask(this.#place, { path, headers: MCP_HEADERS, body: initialize(VERSION) });
    const session = begun.headers['mcp-session-id'];
    if (begun.status !== 200 || typeof session !== 'string') throw new Error(begun.text);
    const headers = { ...MCP_HEADERS, 'mcp-session-id': session, 'mcp-protocol-version': VERSION };
    const ready = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const told = await ask(this.#place, { path, headers, body: ready });
    if (told.status !== 202) throw new Error(told.text);
    return session;
  }

  #read(asked: {
    method: string;
    session: string;
    id: number;
    body?: string;
    lastEventId?: string;
  }): Promise<StreamRead> {
    const { method, session, id, body, lastEventId } = asked;
    const headers = {
      ...MCP_HEADERS,
      'mcp-session-id': session,
      'mcp-protocol-version': VERSION,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const { port, path } = this.#place;
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
      sent.once('error', reject);
      sent.once('response', (response) => resolve(readAnswer(response, id, this.onEvent)));
      sent.end(body);
    });
  }
}

interface StreamRead {
  readonly status: number;
  readonly text: string;
  readonly answer: Message | undefined;
  readonly lastEventId: string | undefined;
}

/** Reads until the answer is there, or the connection is gone. A body that is no stream must be whole. */
function readAnswer(response: IncomingMessage, id: number, onEvent: () => void) {
  const status = response.statusCode ?? 0;
  const isStream = response.headers['content-type'] === 'text/event-stream';
  let text = '';
  return new Promise<StreamRead>((resolve, reject) => {
    const read = (): StreamRead => {
      // What follows the last empty line is half an event.
      const events = text.slice(0, text.lastIndexOf('\n\n') + 1);
      const ids = [...events.matchAll(/^id: ?(.+)$/gm)];
      const data = isStream
        ? [...events.matchAll(/^data: ?(.+)$/gm)].map(([, one]) => one)
        : [text];
      const answer = data.flatMap((one) => parsed(one ?? '') ?? []).find((one) => one.id === id);
      return { status, text, answer, lastEventId: ids.at(-1)?.[1] };
    };
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (isStream) onEvent();
    });
    response.once('error', (cause) => (isStream ? resolve(read()) : reject(cause)));
    response.once('end', () => resolve(read()));
  });
}

function parsed(text: string): Message | undefined {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return undefined;
  }
}

/** The client of SDK v1, for one call at a time. It resumes by itself, and leaves it to its user to begin another session. */
export class SdkCaller implements ChaosClient {
  resumed = 0;
  /** How often it was told that its session is gone. */
  sessionsLost = 0;
  isConnected = false;
  readonly #url: URL;
  #client: Promise<Client> | undefined;

  constructor({ port, path }: Place) {
    this.#url = new URL(`http://127.0.0.1:${port}${path}`);
  }

  async call(args: CallArgs): Promise<Outcome> {
    const asked = { name: 'do', arguments: { ...args } };
    try {
      const result = await this.#ask((client) =>
        client.callTool(asked, undefined, { onprogress: () => {} }),
      );
      return outcomeOf({ result: result as Message['result'] & object });
    } catch (cause) {
      const isAnswer = cause instanceof Error && cause.message.startsWith('MCP error -32');
      const isOwn = /Connection closed|timed out/.test(String(cause));
      return isAnswer && !isOwn ? { kind: 'error', message: cause.message } : broken(cause);
    }
  }

  /** Finds out that its session is gone, unless a call has found out first. */
  async ping(): Promise<void> {
    await this.#ask((client) => client.ping()).catch(() => undefined);
  }

  /** Asks again in a new session when the old one is gone. */
  async #ask<T>(question: (client: Client) => Promise<T>): Promise<T> {
    for (;;) {
      this.#client ??= eventually(() => this.#connect());
      const connected = this.#client;
      const client = await connected;
      try {
        return await question(client);
      } catch (cause) {
        if (!(cause instanceof StreamableHTTPError && cause.code === 404)) throw cause;
        if (this.#client !== connected) continue;
        this.#client = undefined;
        this.isConnected = false;
        this.sessionsLost++;
        await client.close();
      }
    }
  }

  async close(): Promise<void> {
    await (await this.#client?.catch(() => undefined))?.close();
  }

  async #connect(): Promise<Client> {
    const reconnectionOptions = {
      initialReconnectionDelay: RETRY_MS,
      maxReconnectionDelay: RETRY_MS,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 1_000,
    };
    const counting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const isResumed = new Headers(init?.headers).has('last-event-id');
      if (isResumed && response.ok) this.resumed++;
      return response;
    };
    const client = new Client({ name: 'chaos', version: '1' });
    const options = { reconnectionOptions, fetch: counting };
    try {
      await client.connect(new StreamableHTTPClientTransport(this.#url, options));
      this.isConnected = true;
      return client;
    } catch (cause) {
      await client.close();
      throw cause;
    }
  }
}
