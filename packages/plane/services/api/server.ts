// A bounded HTTP server: how it is made, bound and addressed.
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorEntry } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { ConnectionGate } from '../../os/index.ts';
import { type Problem, rawProblem } from './problem.ts';
import type { ApiLimits, OpenApiResult } from './types.ts';

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
