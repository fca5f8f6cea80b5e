// Where hooks are asked: over HTTP on this machine with a token, and on a Unix socket for hooks that are processes.
// A hook that no longer waits gives its call up.
import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSocketServer, type Socket } from 'node:net';
import { type Failure, failure, isObject } from '@subluminal/contracts';
import type { HookReply } from '@subluminal/core/hooks';
import {
  ConnectionGate,
  closeHttpServer,
  GatheredBytes,
  listenOnLoopback,
  listenOnUnixSocket,
  loopbackGuard,
  parseJson,
  refuseUpgrades,
} from '../../os/index.ts';
import { type Body, BodyReader } from '../serve/http/read-body.ts';
import { decodeBytes } from '../transports/stdio/index.ts';
import type { HookSenders } from './hook-senders.ts';

export interface HookListenerOptions {
  /** In a folder that is for its owner alone. */
  readonly socketPath: string;
  readonly bodyBytesMax: number;
  /** Opens a port of this machine for hooks that are posted, too. */
  readonly takesPosts: boolean;
  /** Tells who asks; everybody may unless given. */
  readonly senders?: HookSenders;
  readonly handle: (hook: AskedHook, signal: AbortSignal) => Promise<HookReply>;
}

/** A hook as it was asked. */
export interface AskedHook {
  readonly client: string;
  readonly body: string;
  /** The process of a hook that is one, as it says itself. */
  readonly pid?: number;
  /** How long ago its process was started; nothing for hooks that are posted. */
  readonly ageMs?: number;
  /** Hooks from the settings of a client tell where they run, and which policy their user has named. */
  readonly cwd?: string;
  readonly policy?: string;
}

export interface HookListener {
  /** The url is `http://127.0.0.1:PORT/hooks`; the id of the client stands behind it. */
  readonly http?: { readonly url: string; readonly token: string };
  readonly socketPath: string;
  close(): Promise<void>;
}

type Handle = HookListenerOptions['handle'];

const SERVER_OPTIONS = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 600_000,
  noDelay: true,
};
const LIMITS = { connectionsMax: 512, waitingMax: 128 };
const TOKEN_BYTES = 32;
const CLOSE_MS = 500;
const PATH = /^\/hooks\/([a-z0-9-]{1,64})$/;
const REFUSALS = {
  host: 'The Host is not this address.',
  origin: 'This address does not speak to web pages.',
  token: 'The token of the run is missing or wrong.',
  sender: 'Only the agent of the run may ask.',
};

export async function openHookListener(
  options: HookListenerOptions,
): Promise<HookListener | Failure> {
  const { socketPath } = options;
  const socket = await listenSocket(options);
  if ('code' in socket) return socket;
  if (!options.takesPosts) return { socketPath, close: socket.close };
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const http = await listenHttp(options, token);
  if ('code' in http) {
    await socket.close();
    return http;
  }
  const close = async (): Promise<void> => {
    await Promise.all([http.close(), socket.close()]);
  };
  return { http: { url: `${http.url}/hooks`, token }, socketPath, close };
}

function failed(why: string): Failure {
  const message = `The hooks of agents cannot be listened for: ${why}.`;
  return failure('SUB_HOOKS_LISTEN', message, 'Check SUB_HOME and its permissions.');
}

interface Listening {
  readonly close: () => Promise<void>;
}

// Over HTTP.

async function listenHttp(
  { handle, bodyBytesMax, senders }: HookListenerOptions,
  token: string,
): Promise<(Listening & { readonly url: string }) | Failure> {
  const server = createServer(SERVER_OPTIONS);
  const gate = new ConnectionGate(LIMITS);
  gate.watch(server);
  const guard = loopbackGuard({ token, server });
  const bodies = new BodyReader({ inspectBytesMax: bodyBytesMax, messageBytesMax: bodyBytesMax });
  const signals = new WeakMap<Socket, AbortSignal>();
  server.on('request', (request, response) => {
    const check = guard(request);
    if (check !== undefined) return send(response, check === 'token' ? 401 : 403, REFUSALS[check]);
    if (!gate.admit(request.socket)) return;
    const [, client] = PATH.exec(request.url ?? '') ?? [];
    if (client === undefined || request.method !== 'POST') return send(response, 404, 'Unknown.');
    if (senders?.isPostedByClient(request.socket) === false)
      return send(response, 403, REFUSALS.sender);
    const signal = signals.get(request.socket) ?? closeSignal(request.socket);
    signals.set(request.socket, signal);
    bodies.read(request, client, (body) => answer(body, { signal, response, client, handle }));
  });
  refuseUpgrades(server);
  const listening = await listenOnLoopback(server, {});
  if (listening.kind === 'failed') return failed(listening.why);
  server.on('error', () => {});
  const close = async (): Promise<void> => {
    const closed = closeHttpServer(server, CLOSE_MS);
    gate.dropWaiting();
    await closed;
  };
  return { url: listening.url, close };
}

/** One for all hooks of a connection: to make one costs more than to answer. */
function closeSignal(socket: Socket): AbortSignal {
  const left = new AbortController();
  socket.once('close', () => left.abort());
  return left.signal;
}

interface HttpHook {
  readonly signal: AbortSignal;
  readonly response: ServerResponse;
  readonly client: string;
  readonly handle: Handle;
}

function answer(body: Body, { signal, response, client, handle }: HttpHook): void {
  if (body.kind === 'aborted') return;
  if (body.kind === 'busy') return send(response, 503, 'Too much is being read already.');
  if (body.kind !== 'whole')
    return send(response, 413, 'It is larger than what is read of a hook.');
  void handle({ client, body: decodeBytes(body.bytes, 0, body.bytes.length) }, signal).then(
    ({ stdout, stderr, exitCode }) => {
      // A client takes an empty body as nothing to say: a refusal without one must not look like that.
      if (stdout === '' && exitCode !== 0) return send(response, 500, stderr);
      send(response, 200, stdout === '' ? '{}' : stdout);
    },
    () => send(response, 500, 'The hook could not be answered.'),
  );
}

function send(response: ServerResponse, status: number, text: string): void {
  const type = status === 200 ? 'application/json' : 'text/plain; charset=utf-8';
  const length = Buffer.byteLength(text);
  const headers = { 'content-type': type, 'content-length': length };
  response.writeHead(status, status === 200 ? headers : { ...headers, connection: 'close' });
  response.end(text);
}

// On a socket: a word of ours that the hook takes for its name; one line of JSON that says who asks, the body, and the
// end of the input; then one HookReply, or why the hook has to refuse.

const CONNECTIONS_MAX = 256;
const RECEIVE_MS = 30_000;
const ALIVE_MS = 500;
/** Two paths stand in it. */
const HEADER_BYTES_MAX = 65_536;
const HELD_BYTES_MAX = 256 * 1_048_576;
const NEWLINE = 0x0a;
const NOT_STARTED = 'the client itself has not started it';

async function listenSocket(options: HookListenerOptions): Promise<Listening | Failure> {
  const { socketPath } = options;
  const open = new Set<Socket>();
  const room = { bytes: 0 };
  // The client ends its input, and still reads.
  const server = createSocketServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    receive(socket, options, room);
  });
  server.maxConnections = CONNECTIONS_MAX;
  const listening = await listenOnUnixSocket(server, socketPath, { isFolderPrivate: true });
  if (listening.kind === 'taken') return failed(`the socket ${socketPath} is in use`);
  if (listening.kind === 'failed') return failed(`the socket ${socketPath}: ${listening.why}`);
  server.on('error', () => {});
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroySoon();
    await closed;
    listening.unlink();
  };
  return { close };
}

function receive(
  socket: Socket,
  { handle, bodyBytesMax, senders }: HookListenerOptions,
  room: { bytes: number },
): void {
  const word = senders?.newWord() ?? '';
  socket.write(`${word}\n`);
  const gathered = new GatheredBytes();
  const late = setTimeout(() => socket.destroy(), RECEIVE_MS);
  let held = 0;
  const release = (): void => {
    clearTimeout(late);
    room.bytes -= held;
    held = 0;
  };
  socket.once('close', release);
  socket.on('data', (chunk: Buffer) => {
    gathered.add(chunk);
    held += chunk.length;
    room.bytes += chunk.length;
    // Whoever gets no reply refuses.
    if (held > bodyBytesMax + HEADER_BYTES_MAX || room.bytes > HELD_BYTES_MAX) socket.destroy();
  });
  socket.once('end', () => {
    const bytes = gathered.take();
    release();
    const asked = readAsked(bytes);
    if (asked === undefined) {
      socket.destroy();
      return;
    }
    if (senders?.isStartedByClient(asked, word) === false) {
      socket.end(`${JSON.stringify({ refused: NOT_STARTED })}\n`);
      return;
    }
    // Whoever has ended its input is seen to be gone only when something is written; JSON may begin with blanks.
    const alive = setInterval(() => socket.write(' '), ALIVE_MS);
    const left = new AbortController();
    socket.once('close', () => {
      clearInterval(alive);
      if (!socket.writableEnded) left.abort();
    });
    const ageMs = senders?.ageMs(asked.pid) ?? 0;
    void handle({ ...asked, ageMs }, left.signal)
      // A write behind the end would cut the reply off.
      .finally(() => clearInterval(alive))
      .then(
        (reply) => socket.end(`${JSON.stringify(reply)}\n`),
        () => socket.destroy(),
      );
  });
}

const CLIENT = /^[a-z0-9-]{1,64}$/;

/** Undefined when it does not say who asks. */
function readAsked(bytes: Buffer): AskedHook | undefined {
  const at = bytes.indexOf(NEWLINE);
  if (at === -1 || at > HEADER_BYTES_MAX) return undefined;
  const header = parseJson(bytes.toString('utf8', 0, at));
  if (!isObject(header) || header['v'] !== 1) return undefined;
  const { client, cwd, policy, pid } = header;
  if (typeof client !== 'string' || !CLIENT.test(client)) return undefined;
  return {
    client,
    body: bytes.toString('utf8', at + 1),
    ...(typeof pid === 'number' && { pid }),
    ...(typeof cwd === 'string' && { cwd }),
    ...(typeof policy === 'string' && { policy }),
  };
}
