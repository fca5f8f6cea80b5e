// Why a request gets no answer, in the one form that all of them have.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ApiError, ERROR_CODES, errorEntry, type SubCode } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { ConnectionGate } from '../../os/index.ts';
import type { ApiLimits, OpenApiResult } from './types.ts';

export interface Problem {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 426 | 431 | 500 | 503;
  readonly code: SubCode;
  /** Beyond the title of the code. */
  readonly detail?: string;
  readonly headers?: { readonly [name: string]: string };
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Everything that is sent holds text of agents and servers: nobody may show it as a page. */
export const SECURITY_HEADERS: { readonly [name: string]: string } = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export function bodyOf({ code, detail = '' }: Problem): string {
  const { title, fix } = errorEntry(code);
  const message = detail === '' ? title : `${title} ${detail}`;
  const body: ApiError = { error: { code, message, fix } };
  return JSON.stringify(body);
}

/** The sender is in the middle of its body: a closed connection would hide the answer from it. */
const IN_THE_BODY: ReadonlySet<number> = new Set([413, 415]);

/** Answers, and ends the connection: what else it would say is not worth reading. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  const body = bodyOf(problem);
  const isHeardOut = IN_THE_BODY.has(problem.status);
  response.writeHead(problem.status, {
    ...SECURITY_HEADERS,
    ...problem.headers,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    ...(!isHeardOut && { connection: 'close' }),
  });
  response.end(body);
}

/** The same where there is no response yet, because the request could not be read. */
export function rawProblem(problem: Problem): string {
  const body = bodyOf(problem);
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${problem.status} Refused`, ...lines, '', body].join('\r\n');
}

/** What the ledger could not do. Its own words may name files, so only its code travels. */
export function ledgerProblem(cause: unknown): Problem {
  const code = codeOf(cause);
  if (code === 'SUB_LEDGER_QUERY') return { status: 400, code, detail: detailOf(cause, code) };
  if (code === 'SUB_LEDGER_BUSY') return { status: 503, code };
  return { status: 500, code: code ?? 'SUB_INTERNAL' };
}

function codeOf(cause: unknown): SubCode | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return ERROR_CODES.find((known) => known === code && known.startsWith('SUB_LEDGER_'));
}

function detailOf(cause: unknown, code: SubCode): string {
  const message = cause instanceof Error ? cause.message : '';
  return message.replace(errorEntry(code).title, '').trim();
}

// A bounded HTTP server: how it is made, bound and addressed.

const HEADERS_MAX = 100;
const WARNING_LENGTH_MAX = 500;

export function failed(detail: string): OpenApiResult {
  const { code, title, fix } = errorEntry('SUB_API_START');
  return { ok: false, code, message: `${title} ${detail}`, fix };
}

export function serverOf(limits: ApiLimits, gate: ConnectionGate): Server {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.requestMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.ceil(limits.requestMs / 4),
    keepAliveTimeout: limits.keepAliveMs,
    // The guard says it in our words.
    requireHostHeader: false,
  });
  server.maxHeadersCount = HEADERS_MAX;
  server.maxConnections = gate.acceptedMax;
  server.on('connection', (socket: Socket) => gate.add(socket));
  server.timeout = limits.stallMs;
  return server;
}

/** The address, or why there is none. */
export function listening(
  server: Server,
  at: { readonly host: string; readonly port: number },
): Promise<AddressInfo | string> {
  return new Promise((resolve) => {
    server.once('error', (cause) => resolve(visible(cause.message, WARNING_LENGTH_MAX)));
    server.listen(at, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address : 'It has no address.');
    });
  });
}

/** Says why what could not even be read as a request gets no answer. */
export function unreadableEnds(server: Server): void {
  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Socket) => {
    // Never in the middle of another answer.
    const isFresh = socket.writable && socket.bytesWritten === 0;
    if (isFresh) socket.end(rawProblem(unreadable(cause.code)), () => socket.destroy());
    else socket.destroy();
  });
  // After it listens, nothing that happens to it may end the process.
  server.on('error', () => undefined);
}

function unreadable(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      status: 431,
      code: 'SUB_API_LIMIT',
      detail: 'The address or the headers are too long.',
    };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, code: 'SUB_API_LIMIT', detail: 'The request took too long.' };
  }
  return { status: 400, code: 'SUB_API_REQUEST', detail: 'It is not HTTP.' };
}

export function urlOf({ family, address, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
