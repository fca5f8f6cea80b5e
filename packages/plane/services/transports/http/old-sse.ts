// HTTP+SSE of 2024-11-05: one stream brings all messages of the server, and says where messages to it are posted.
import { isFailure } from '@subluminal/contracts';
import { CallAbort, isFault, readAnswerBody } from '../../../os/upstream/index.ts';
import { seenIn } from './message-facts.ts';
import { type OpenRequest, type OutgoingMessage, wholeBytes } from './open-requests.ts';
import { type HttpRefusal, ofCut, ofFailure, ofFault, ofStatus } from './refusal.ts';
import { isAnswerToUs, Subscriptions } from './subscriptions.ts';
import {
  followCursor,
  isEventStream,
  newCursor,
  noteAnswers,
  type Wire,
  type WireParts,
} from './wire.ts';

const CONNECT_MS = 10_000;
const ERROR_BYTES_MAX = 64 * 1024;

interface OldStream {
  readonly endpoint: string;
  readonly abort: CallAbort;
}

export class OldSse implements Wire {
  readonly #parts: WireParts;
  #stream: OldStream | undefined;
  #connecting: Promise<OldStream | HttpRefusal> | undefined;
  /** The agent's own first messages, for a new connection. */
  #initialize: Uint8Array | undefined;
  #initialized: Uint8Array | undefined;
  /** Waits for the answer to an `initialize` that is repeated. */
  #handshake: ((isOk: boolean) => void) | undefined;
  readonly #subscriptions = new Subscriptions();
  #isClosed = false;

  constructor(parts: WireParts) {
    this.#parts = parts;
  }

  async request(request: OpenRequest): Promise<void> {
    const { open } = this.#parts;
    if (request.facts.method === 'initialize') {
      this.#initialize = wholeBytes(request);
      this.#initialized = undefined;
      this.#subscriptions.forget();
    }
    const refusal = await this.#post(request);
    open.sent(request);
    if (refusal !== undefined) open.fail(request, refusal);
    else this.#subscriptions.note(request);
  }

  async tell(message: OutgoingMessage): Promise<void> {
    if (message.facts.method === 'notifications/initialized')
      this.#initialized = wholeBytes(message);
    const refusal = await this.#post(message);
    if (refusal === undefined) return;
    const { method } = message.facts;
    this.#parts.warn('the server did not take a message', { method, reason: refusal.text });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#stream?.abort.abort();
    return Promise.resolve();
  }

  /** Opens the stream; why it could not be opened. */
  async connect(): Promise<HttpRefusal | undefined> {
    const stream = await this.#connected(false);
    return 'text' in stream ? stream : undefined;
  }

  async #post(message: OutgoingMessage): Promise<HttpRefusal | undefined> {
    const { kind, method } = message.facts;
    const isNew = this.#stream === undefined && this.#initialize !== undefined;
    // A new session knows nothing of the requests of the old one.
    if (isNew && kind === 'response') return this.#gone();
    const begins = method === 'initialize' || method === 'notifications/initialized';
    const stream = await this.#connected(isNew && !begins);
    return 'text' in stream ? stream : this.#send(stream, message.body);
  }

  /** A connection is a session, and this one is new. */
  async #startAgain(stream: OldStream, initialize: Uint8Array): Promise<OldStream | HttpRefusal> {
    const answered = new Promise<boolean>((resolve) => {
      this.#handshake = resolve;
      setTimeout(resolve, CONNECT_MS, false).unref();
    });
    let refusal = await this.#send(stream, [initialize]);
    if (refusal === undefined && !(await answered)) refusal = this.#gone();
    if (refusal === undefined && this.#initialized !== undefined) {
      refusal = await this.#send(stream, [this.#initialized]);
    }
    if (refusal !== undefined) {
      stream.abort.abort();
      return refusal;
    }
    for (const again of this.#subscriptions.again()) await this.#send(stream, [again]);
    this.#parts.warn('the connection to the server was lost; a new one goes on');
    return stream;
  }

  #gone(): HttpRefusal {
    const { serverName } = this.#parts;
    return { text: `The MCP server \`${serverName}\` has lost the session, and gives no new one.` };
  }

  async #send(
    { endpoint }: OldStream,
    body: OutgoingMessage['body'],
  ): Promise<HttpRefusal | undefined> {
    const { client, requestMs, serverName: server } = this.#parts;
    const answer = await client.send({
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json' },
      body,
      timeoutMs: requestMs,
      signal: new CallAbort(),
    });
    if (isFailure(answer)) return ofFailure(answer);
    if (isFault(answer)) return ofFault(server, answer);
    const { status, headers } = answer;
    if (status < 300) {
      answer.body.destroy();
      return undefined;
    }
    const read = await readAnswerBody(answer.body, ERROR_BYTES_MAX);
    const text = isFault(read) ? new Uint8Array(0) : read;
    const { hasToken } = client;
    return ofStatus({ server, status, body: text, hasToken, location: headers.location });
  }

  /** All messages wait for a connection under way, and for the handshake that it begins with. */
  async #connected(startsAgain: boolean): Promise<OldStream | HttpRefusal> {
    if (this.#connecting !== undefined) return this.#connecting;
    if (this.#stream !== undefined) return this.#stream;
    this.#connecting = this.#connect(startsAgain).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(startsAgain: boolean): Promise<OldStream | HttpRefusal> {
    const stream = await this.#open();
    if ('text' in stream || !startsAgain || this.#initialize === undefined) return stream;
    return this.#startAgain(stream, this.#initialize);
  }

  async #open(): Promise<OldStream | HttpRefusal> {
    const { client, url, serverName: server, inbox } = this.#parts;
    const abort = new CallAbort();
    const answer = await client.send({
      method: 'GET',
      url,
      headers: { accept: 'text/event-stream' },
      timeoutMs: CONNECT_MS,
      idleMs: 0,
      signal: abort,
    });
    if (isFailure(answer)) return ofFailure(answer);
    if (isFault(answer)) return ofFault(server, answer);
    const { status, headers, body } = answer;
    if (status !== 200 || !isEventStream(headers['content-type'])) {
      body.destroy();
      const { hasToken } = client;
      const nothing = new Uint8Array(0);
      return ofStatus({ server, status, body: nothing, hasToken, location: headers.location });
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => abort.abort(), CONNECT_MS).unref();
      const events = {
        ...followCursor(newCursor()),
        event: ({ name, text }: { readonly name: string; readonly text: string | undefined }) => {
          if (name !== 'endpoint' || this.#stream !== undefined) return;
          clearTimeout(timer);
          const endpoint = endpointAt(url, text ?? '');
          if (endpoint === undefined) return abort.abort();
          this.#stream = { endpoint, abort };
          resolve(this.#stream);
        },
      };
      const reading = inbox.read(body, {
        take: (bytes) => this.#take(bytes),
        large: (how, id) => {
          if (how === 'complete' && id !== undefined) this.#parts.open.answered(id);
        },
        events,
      });
      void reading.then((fault) => {
        clearTimeout(timer);
        const text = `The MCP server \`${server}\` does not say where messages are sent to, or names another origin.`;
        resolve({ text });
        this.#lost(abort, ofCut(server, fault));
      });
    });
  }

  /** Answers to the requests of a lost connection never come. */
  #lost(abort: CallAbort, refusal: HttpRefusal): void {
    this.#handshake?.(false);
    if (this.#stream?.abort !== abort) return;
    this.#stream = undefined;
    if (this.#isClosed) return;
    const { open } = this.#parts;
    for (const request of open.all()) open.fail(request, refusal);
  }

  #take(bytes: Uint8Array): Uint8Array | undefined {
    if (this.#handshake !== undefined && this.#isHandshake(bytes)) return undefined;
    if (isAnswerToUs(bytes)) return undefined;
    noteAnswers(this.#parts.open, bytes);
    return bytes;
  }

  #isHandshake(bytes: Uint8Array): boolean {
    const [seen, asked] = [seenIn(bytes), this.#initialize && seenIn(this.#initialize)];
    if (seen.kind !== 'response' || asked?.kind !== 'request') return false;
    if (seen.id?.json !== asked.id.json) return false;
    this.#handshake?.(seen.failed === 'no');
    this.#handshake = undefined;
    return true;
  }
}

/** The address that an event names; only one of the same origin gets our messages and headers. */
function endpointAt(url: string, text: string): string | undefined {
  if (!URL.canParse(text, url)) return undefined;
  const endpoint = new URL(text, url);
  return endpoint.origin === new URL(url).origin ? endpoint.href : undefined;
}
