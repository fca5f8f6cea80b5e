// Where services that call us reach all channels: `/channels/NAME`, behind a proxy that speaks TLS.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { boundServer, SERVER_OPTIONS } from '@subluminal/gateway/listen';
import { isHttpFailure } from '@subluminal/plane/api/http-failure';
import { readBytes } from '@subluminal/plane/api/read-request';
import { isFromPage, listenOnAddress } from '@subluminal/plane/os';
import type { WebhookAnswer, WebhookRequest } from '../shared/types.ts';

interface ListenerOptions {
  /** HOST:PORT */
  readonly listen: string;
  /** Names by which it may be called, beside those of this machine. */
  readonly hosts: readonly string[];
  /** Each request proves by its signature who sent it. */
  readonly handle: (channel: string, request: WebhookRequest) => Promise<WebhookAnswer>;
}

export interface WebhookListener {
  readonly url: string;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 1_048_576;
const LIMITS = { connectionsMax: 128, waitingMax: 64 };
const GRACE_MS = 2_000;
const LISTEN = /^(\[[0-9a-f:.]+\]|[^:\s]+):(\d{1,5})$/i;
const PATH = /^\/channels\/([a-z]{1,20})$/;

export async function openWebhookListener(
  options: ListenerOptions,
): Promise<WebhookListener | Failure> {
  const [, host = '', port = ''] = LISTEN.exec(options.listen) ?? [];
  if (host === '') return tableFailure('SUB_STEWARD_CHANNEL', '`listen` must be HOST:PORT.');
  const server = createServer(SERVER_OPTIONS);
  const names = new Set(options.hosts.map((name) => name.toLowerCase()));
  const close = boundServer(server, {
    limits: LIMITS,
    isRefused: (request, response) => {
      const isKnown = isKnownHost(request.headers.host ?? '', names);
      if (isKnown && !isFromPage(request)) return false;
      send(response, { status: 403, body: { error: 'the host is not known here' } });
      return true;
    },
    handle: (request, response) => void answer(request, response, options),
  });
  const address = { host: host.replaceAll(/[[\]]/g, ''), port: Number(port) };
  const listening = await listenOnAddress(server, address);
  if (listening.kind === 'failed') {
    const detail = `Webhooks cannot be taken on ${options.listen}: ${listening.why}`;
    return tableFailure('SUB_STEWARD_CHANNEL', detail);
  }
  return { url: listening.url, close: () => close(GRACE_MS) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { handle }: ListenerOptions,
): Promise<void> {
  const { method = '', url = '', headers } = request;
  const [path = '', query = ''] = url.split('?', 2);
  const channel = PATH.exec(path)?.[1];
  if (channel === undefined || (method !== 'GET' && method !== 'POST')) {
    return send(response, { status: 404, body: { error: 'there is nothing here' } });
  }
  const rawBody = await readBytes(request, BODY_BYTES_MAX);
  if (isHttpFailure(rawBody)) {
    return send(response, { status: rawBody.status, body: { error: 'the body cannot be read' } });
  }
  try {
    const parts = { method, query: new URLSearchParams(query), headers, rawBody };
    send(response, await handle(channel, parts));
  } catch {
    // The service sends it again.
    send(response, { status: 500, body: { error: 'it could not be taken' } });
  }
}

function isKnownHost(given: string, names: ReadonlySet<string>): boolean {
  const host = given.toLowerCase();
  const name = host.replace(/:\d{1,5}$/, '');
  return names.has(host) || names.has(name) || ['127.0.0.1', 'localhost', '[::1]'].includes(name);
}

function send(response: ServerResponse, { status, body }: WebhookAnswer): void {
  const isText = typeof body === 'string';
  const text = isText ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
