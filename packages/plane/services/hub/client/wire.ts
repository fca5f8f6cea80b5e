// One kept-alive connection to the hub: a request goes out, an answer comes in, in time or not.
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Target } from './endpoint.ts';

export interface WireOptions {
  readonly target: Target;
  readonly connectMs: number;
  readonly responseBytesMax: number;
}

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** How long all of it may take. */
  readonly totalMs: number;
}

export type Exchanged =
  | { readonly kind: 'response'; readonly status: number; readonly text: string }
  /**
   * `stale`: a kept connection had been closed by the other side before it answered.
   * `gone`: nobody listens there.
   */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly stale: boolean;
      readonly gone: boolean;
    };

/** What a connection says that the other side has closed meanwhile. */
const STALE_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);
/** What the system says when the process that listened has ended. */
const GONE_CODES: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT']);

export class Wire {
  readonly #options: WireOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 });
  readonly #headers: { readonly [name: string]: string };
  #isClosed = false;

  constructor(options: WireOptions) {
    const { target } = options;
    this.#options = options;
    this.#headers = 'token' in target ? { authorization: `Bearer ${target.token}` } : {};
  }

  /** Never rejects. Asks again once when the connection turns out to have been closed. */
  async exchange(sent: Sent): Promise<Exchanged> {
    const startedMs = performance.now();
    const first = await this.#once(sent);
    if (first.kind === 'response' || !first.stale || this.#isClosed) return first;
    const totalMs = sent.totalMs - (performance.now() - startedMs);
    return this.#once({ ...sent, totalMs });
  }

  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  #once(sent: Sent): Promise<Exchanged> {
    if (this.#isClosed) return Promise.resolve(failed('the connection to the hub was closed'));
    if (sent.totalMs <= 0) return Promise.resolve(failed('the hub did not answer in time'));
    return new Promise((resolve) => {
      const request = httpRequest(this.#requestOptions(sent));
      const settle = (exchanged: Exchanged): void => {
        clearTimeout(total);
        resolve(exchanged);
      };
      const giveUp = (reason: string): void => {
        settle(failed(reason));
        request.destroy();
      };
      const total = setTimeout(() => giveUp('the hub did not answer in time'), sent.totalMs);
      total.unref();
      request.once('socket', (socket) => this.#watchConnect(socket, giveUp));
      request.once('response', (response) => this.#receive(response, settle, giveUp));
      request.on('error', (error) => settle(failedBy(request, error)));
      request.end(sent.body);
    });
  }

  #requestOptions({ method, path, body }: Sent) {
    const { target } = this.#options;
    const content =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return {
      agent: this.#agent,
      ...('socketPath' in target ? target : { host: target.host, port: target.port }),
      method,
      path,
      headers: { ...this.#headers, ...content },
    };
  }

  #watchConnect(socket: Socket, giveUp: (reason: string) => void): void {
    if (!socket.connecting) return;
    const late = () => giveUp('the hub could not be reached in time');
    const timer = setTimeout(late, this.#options.connectMs);
    timer.unref();
    const clear = () => clearTimeout(timer);
    socket.once('connect', clear);
    socket.once('close', clear);
  }

  #receive(
    response: IncomingMessage,
    settle: (exchanged: Exchanged) => void,
    giveUp: (reason: string) => void,
  ): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > this.#options.responseBytesMax)
        return giveUp('the answer of the hub is too long');
      chunks.push(chunk);
    });
    response.once('end', () => {
      const { statusCode: status = 0 } = response;
      settle({ kind: 'response', status, text: Buffer.concat(chunks).toString('utf8') });
    });
    const cut = () => settle(failed('the hub broke off its answer'));
    response.once('error', cut);
    response.once('close', cut);
  }
}

function failedBy(request: ClientRequest, error: Error): Exchanged {
  const code = 'code' in error ? error.code : undefined;
  const stale = request.reusedSocket && STALE_CODES.has(code);
  const name = typeof code === 'string' ? code : 'error';
  const gone = GONE_CODES.has(code);
  return { kind: 'failed', reason: `the hub cannot be reached (${name})`, stale, gone };
}

function failed(reason: string): Exchanged {
  return { kind: 'failed', reason, stale: false, gone: false };
}
