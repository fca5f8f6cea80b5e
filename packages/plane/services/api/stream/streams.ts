// All open streams: takes WebSockets in, and ends them.
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { API_ENDPOINTS, API_STREAM_PROTOCOL } from '@subluminal/contracts';
import { WebSocketServer } from 'ws';
import type { Guard } from '../guard.ts';
import { readParameters } from '../parameters.ts';
import { type Problem, sendProblem } from '../problem.ts';
import type { ApiLimits, ApiReader, Feed } from '../types.ts';
import { Subscriber } from './subscriber.ts';

interface StreamsOptions {
  readonly reader: Pick<ApiReader, 'events'>;
  readonly feed: Feed;
  readonly limits: ApiLimits;
  readonly onWarning: (cause: unknown) => void;
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** A client has nothing to say but pongs and goodbye. */
const MESSAGE_BYTES_MAX = 1_024;

export class Streams {
  readonly #options: StreamsOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    // The other protocol that a browser offers is the token: it is never said back.
    handleProtocols: (offered) => offered.has(API_STREAM_PROTOCOL) && API_STREAM_PROTOCOL,
  });
  readonly #subscribers = new Set<Subscriber>();
  #isClosing = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#server.clients.size;
  }

  take(guard: Guard, { request, socket, head }: Upgrade): void {
    // Without a listener, a connection that breaks would end the process.
    socket.on('error', () => socket.destroy());
    const problem = guard(request) ?? this.#problemOf(request);
    if (problem !== undefined) return refuse({ request, socket, head }, problem);
    const query = readParameters(API_ENDPOINTS.stream.query, request.url ?? '');
    if (!query.ok) return refuse({ request, socket, head }, query.problem);
    const { reader, feed, limits, onWarning } = this.#options;
    this.#server.handleUpgrade(request, socket, head, (client) => {
      const { streamBytesMax: bytesMax, pingMs } = limits;
      const of = { reader, feed, bytesMax, pingMs, onWarning, query: query.value };
      const subscriber = new Subscriber({ socket: client, ...of });
      this.#subscribers.add(subscriber);
      client.once('close', () => this.#subscribers.delete(subscriber));
    });
  }

  /** Says goodbye to all. */
  close(): void {
    this.#isClosing = true;
    for (const subscriber of this.#subscribers) subscriber.goAway();
  }

  /** Does not wait for their goodbye any longer. */
  terminate(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #problemOf({ url = '', headers }: IncomingMessage): Problem | undefined {
    const { path } = API_ENDPOINTS.stream;
    const isStream = url.split('?', 1)[0] === path;
    if (!isStream || headers.upgrade?.toLowerCase() !== 'websocket') {
      const detail = `Only ${path} is a WebSocket.`;
      return { status: 400, code: 'SUB_API_REQUEST', detail };
    }
    if (this.#isClosing || this.count >= this.#options.limits.streamsMax) {
      return { status: 503, code: 'SUB_API_LIMIT', detail: 'There is no room for another stream.' };
    }
    return undefined;
  }
}

/** An upgrade comes with a bare socket; what is refused gets a response of its own. */
function refuse({ request, socket }: Upgrade, problem: Problem): void {
  const response = new ServerResponse(request);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A server without TLS has these.
  response.assignSocket(socket as Socket);
  response.on('finish', () => socket.end(() => socket.destroy()));
  sendProblem(response, problem);
}
