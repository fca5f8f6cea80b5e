// A model on loopback that says what a script tells it to, and keeps every request it gets.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANTHROPIC } from './anthropic-wire.ts';
import { CHAT } from './chat-wire.ts';
import { geminiWire } from './gemini-wire.ts';
import { RESPONSES } from './responses-wire.ts';
import { type Body, isBody, jsonAnswer, type Turn, turnAfter, type Wire } from './script.ts';

export interface ModelRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Body;
  /** Everything that came over the wire for it, but its end. */
  readonly bytes: string;
  /** When it was whole. */
  readonly atMs: number;
}

export interface ModelServer {
  /** Without a path. */
  readonly url: string;
  /** What it says from now on, and to an agent that was given a part; nothing was asked yet then. */
  readonly play: (script: readonly Turn[], part?: Part) => void;
  /** Everything that came in since, in order. */
  readonly requests: () => readonly ModelRequest[];
  /** What the tools gave back, as it stood in the last request that continued the task. */
  readonly seen: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** What a sub-agent is asked to do, in words of its own, and what the model says to it then. */
export interface Part {
  readonly task: string;
  readonly script: readonly Turn[];
}

const BODY_BYTES_MAX = 16 * 1024 * 1024;
const REQUESTS_MAX = 200;

const WIRES: { readonly [path: string]: Wire } = {
  '/v1/messages': ANTHROPIC,
  '/v1/chat/completions': CHAT,
  '/v1/responses': RESPONSES,
};

function wireOf(path: string): Wire | undefined {
  return WIRES[path] ?? geminiWire(path);
}

/**
 * Each request carries the conversation so far, so the turn to say follows from the results in it:
 * a request that is sent twice is answered twice alike.
 */
export async function startModelServer(): Promise<ModelServer> {
  let scripts: Scripts = { script: [] };
  let requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    void take(request).then((taken) => {
      if (taken === undefined || requests.length >= REQUESTS_MAX) {
        response.writeHead(413).end();
        return;
      }
      requests.push(taken);
      void reply({ taken, scripts, response });
    });
  });
  // Codex would rather speak over a WebSocket, and takes this as a no.
  server.on('upgrade', (_, socket) => {
    socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  // Whatever else a client wants of the world comes here as to a proxy.
  server.on('connect', (_, socket) => {
    socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    play(script, part) {
      scripts = { script, part };
      requests = [];
    },
    requests: () => requests,
    seen: () => lastSeen(requests),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function lastSeen(requests: readonly ModelRequest[]): readonly string[] {
  const last = requests.findLast(({ path, body }) => wireOf(path)?.isTask(body) === true);
  return last === undefined ? [] : (wireOf(last.path)?.results(last.body) ?? []);
}

async function take(request: IncomingMessage): Promise<ModelRequest | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  const { method = '', url = '/', headers, rawHeaders } = request;
  const text = Buffer.concat(chunks).toString();
  return {
    method,
    path: new URL(url, 'http://model').pathname,
    headers,
    body: bodyOf(text),
    bytes: [method, url, ...rawHeaders, text].join('\n'),
    atMs: performance.now(),
  };
}

function bodyOf(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    return isBody(value) ? value : {};
  } catch {
    return {};
  }
}

interface Scripts {
  readonly script: readonly Turn[];
  readonly part?: Part | undefined;
}

interface Asked {
  readonly taken: ModelRequest;
  readonly scripts: Scripts;
  readonly response: ServerResponse;
}

function scriptFor({ script, part }: Scripts, prompts: readonly string[]): readonly Turn[] {
  const isPart = part !== undefined && prompts.some((prompt) => prompt.includes(part.task));
  return isPart ? part.script : script;
}

async function reply({ taken, scripts, response }: Asked): Promise<void> {
  const { method, path, body } = taken;
  const wire = method === 'POST' ? wireOf(path) : undefined;
  if (wire !== undefined) {
    const script = wire.isTask(body) ? scriptFor(scripts, wire.prompts(body)) : [];
    const turn = turnAfter(script, wire.results(body).length);
    if (turn.kind !== 'error') await turn.before?.();
    const isError = turn.kind === 'error';
    const answer = isError ? jsonAnswer(turn.body) : wire.answer(turn, body);
    response
      .writeHead(isError ? turn.status : 200, { 'content-type': answer.type })
      .end(answer.text);
    return;
  }
  const fixed = path === '/v1/messages/count_tokens' ? { input_tokens: 1 } : { data: [] };
  const isKnown = ['/', '/v1/models', '/v1/messages/count_tokens'].includes(path);
  response
    .writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
    .end(method === 'HEAD' ? undefined : JSON.stringify(fixed));
}
