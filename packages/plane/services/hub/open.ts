// A hub on its socket.
import { once } from 'node:events';
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { MAX_INSPECT_BYTES } from '@subluminal/contracts';
import { ConnectionGate } from '../../os/index.ts';
import { createHub } from './hub.ts';
import { hubGuard, listenAt } from './listen.ts';
import type { RefusalStatus } from './metrics.ts';
import { errorText, type Serving, serving } from './serve.ts';
import type { HubOpened, OpenHubOptions, RunningHub, ServerLimits } from './types.ts';

const LIMITS: ServerLimits = {
  // What can be inspected, written out anew (a short number may become four times as long), and
  // what goes with it.
  bodyBytesMax: 8 * MAX_INSPECT_BYTES + 2 * 1024 * 1024,
  bodiesBytesMax: 64 * 1024 * 1024,
  requestsMax: 256,
  connectionsMax: 1_024,
  waitingMax: 256,
  headersMs: 2_000,
  requestMs: 5_000,
  idleMs: 60_000,
  closeMs: 500,
};

const HEADER_BYTES_MAX = 8_192;
const HEADERS_MAX = 64;

/** Opens the hub of a run; a port or path that cannot be had is told, not thrown. */
export async function openHub(options: OpenHubOptions): Promise<HubOpened> {
  const limits = { ...LIMITS, ...options.serverLimits };
  const hub = createHub(options);
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    noDelay: true,
  });
  server.maxHeadersCount = HEADERS_MAX;
  const gate = new ConnectionGate(limits);
  server.maxConnections = gate.acceptedMax;
  server.on('connection', (socket) => gate.add(socket));
  const { listen } = options;
  const served = serving({ hub, guard: hubGuard(server, listen), limits, gate });
  server.on('request', served.handle);
  server.on('clientError', (error, socket) => refuseClient(served, error, socket));
  const listening = await listenAt(server, listen);
  if (listening.kind === 'failed') return listening;
  // A connection that could not be taken is the client's problem; the hub goes on.
  server.on('error', () => {});
  const running: RunningHub = {
    endpoint: listening.endpoint,
    summary: () => hub.summary(),
    shims: () => hub.shims(),
    terminated: () => hub.terminated(),
    shutdown: () => hub.shutdown(),
    whenLeft: (timeoutMs) => hub.whenLeft(timeoutMs),
    async close() {
      hub.shutdown();
      served.stop();
      await closeServer(server, limits.closeMs);
    },
  };
  return { kind: 'open', hub: running };
}

/** What is no HTTP, too slow or too long gets a short answer, and its connection ends. */
function refuseClient({ metrics }: Serving, error: Error, socket: Duplex): void {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statusOf(code);
  metrics.refused(status);
  const text = errorText(status, 'the request is malformed or incomplete');
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  const fields = `Content-Type: application/json\r\nContent-Length: ${text.length}`;
  // Without waiting for the other side: it may never end.
  socket.end(`${head}\r\nConnection: close\r\n${fields}\r\n\r\n${text}`, () => socket.destroy());
}

function statusOf(code: unknown): RefusalStatus {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

async function closeServer(server: Server, closeMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const overdue = setTimeout(() => server.closeAllConnections(), closeMs);
  await closed;
  clearTimeout(overdue);
}
