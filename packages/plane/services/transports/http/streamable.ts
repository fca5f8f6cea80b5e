// Streamable HTTP, both eras: a message is a POST, an answer is a body or a stream of events. The legacy era has sessions,
// a stream for the server's own messages, and streams that are resumed; the modern era has headers that mirror the body.
import type { OutgoingHttpHeaders } from 'node:http';
import { isFailure } from '@subluminal/contracts';
import {
  CallAbort,
  isFault,
  readAnswerBody,
  type UpstreamAnswer,
  type UpstreamFault,
} from '../../../os/upstream/index.ts';
import { isRepeatable } from './http-client.ts';
import { LegacySessions } from './legacy-session.ts';
import { ModernHeaders } from './modern-headers.ts';
import type { OpenRequest, OutgoingMessage } from './open-requests.ts';
import { type HttpRefusal, ofCut, ofFailure, ofFault, ofStatus } from './refusal.ts';
import {
  followCursor,
  isEventStream,
  isJson,
  newCursor,
  noteAnswers,
  POST_HEADERS,
  type StreamCursor,
  type Wire,
  type WireParts,
} from './wire.ts';

const ERROR_BYTES_MAX = 64 * 1024;
const NO_SESSION = new Set([400, 404, 405]);
/** Errors that only a server of the modern era gives to a request that it does not take. */
const MODERN_CODES = new Set([-32601, -32602, -32020, -32021, -32022]);

type Posted = UpstreamAnswer | HttpRefusal;

export class StreamableHttp implements Wire {
  readonly #parts: WireParts;
  readonly #legacy: LegacySessions;
  readonly #modern: ModernHeaders;
  /** Whether the server has taken a message: then it is no old HTTP+SSE server. */
  #hasAnswered = false;
  /** The era of the latest request: notifications do not name theirs. */
  #isModern = false;
  /** Asked when the first answer shows that this may be no Streamable HTTP; true when another wire takes the message. */
  readonly #fallBack: (request: OpenRequest) => Promise<boolean>;

  constructor(parts: WireParts, fallBack: (request: OpenRequest) => Promise<boolean>) {
    this.#parts = parts;
    this.#fallBack = fallBack;
    this.#legacy = new LegacySessions(parts, (bytes) => this.#take(bytes));
    this.#modern = new ModernHeaders(parts);
  }

  async request(request: OpenRequest): Promise<void> {
    const { open } = this.#parts;
    const refusal = request.facts.version && this.#modern.refusalOf(request);
    if (refusal) return open.fail(request, refusal);
    const posted = await this.#legacy.inTurn(request, () => this.#post(request, request.abort));
    open.sent(request);
    if (request.state !== 'open') {
      if (isAnswer(posted)) posted.body.destroy();
      return;
    }
    if (!isAnswer(posted)) return this.#refused(request, posted);
    this.#hasAnswered = true;
    this.#legacy.answered(request, posted.headers);
    const { headers, body, status } = posted;
    const type = headers['content-type'];
    if (isEventStream(type)) return this.#follow(request, posted);
    if (!isJson(type)) {
      body.destroy();
      const what = status === 202 ? 'accepts the request and answers nothing' : 'answers no MCP';
      const text = `The MCP server \`${this.#parts.serverName}\` ${what} (HTTP ${status}): its user must check the URL.`;
      return open.fail(request, { text, status });
    }
    const fault = await this.#readInto(request, body, undefined);
    open.fail(request, fault === undefined ? this.#noAnswer(status) : this.#cut(fault));
  }

  async tell(message: OutgoingMessage): Promise<void> {
    const { warn } = this.#parts;
    const abort = new CallAbort();
    const posted = await this.#legacy.inTurn(message, () => this.#post(message, abort));
    if (!isAnswer(posted)) {
      const { text: reason } = posted;
      return warn('the server did not take a message', { method: message.facts.method, reason });
    }
    this.#hasAnswered = true;
    this.#legacy.told(message);
    const { body, headers } = posted;
    // The body is empty, or events of a server that answers everything with a stream.
    if (!isEventStream(headers['content-type'])) return body.destroy();
    await this.#parts.inbox.read(body, {
      take: (bytes) => this.#take(bytes),
      events: followCursor(newCursor()),
    });
  }

  async close(): Promise<void> {
    await this.#legacy.close();
  }

  /** The modern era cancels by the end of the stream; the legacy era by a message. */
  cancels(message: OutgoingMessage): boolean {
    const { cancels } = message.facts;
    if (cancels === undefined) return false;
    const { open } = this.#parts;
    const request = open.get(cancels);
    if (request === undefined) return this.#isModern;
    open.giveUp(request);
    if (request.facts.version === undefined) return false;
    request.abort.abort();
    return true;
  }

  async #refused(request: OpenRequest, refusal: HttpRefusal): Promise<void> {
    const { open } = this.#parts;
    if (this.#mayBeOld(refusal) && (await this.#fallBack(request))) return;
    open.fail(request, refusal);
  }

  #mayBeOld({ status, code }: HttpRefusal): boolean {
    if (this.#hasAnswered || status === undefined || !NO_SESSION.has(status)) return false;
    return code === undefined || !MODERN_CODES.has(code);
  }

  /** Sends a message, once more only when the server has refused it without executing it. */
  async #post(message: OutgoingMessage, abort: CallAbort): Promise<Posted> {
    for (let isAgain = false; ; isAgain = true) {
      const session = this.#legacy.session;
      const outcome = await this.#parts.client.send({
        method: 'POST',
        url: this.#parts.url,
        headers: this.#headersFor(message),
        body: message.body,
        timeoutMs: this.#parts.requestMs,
        idleMs: message.facts.method === LISTEN ? 0 : undefined,
        signal: abort,
      });
      if (isFailure(outcome)) return ofFailure(outcome);
      if (isFault(outcome)) return ofFault(this.#parts.serverName, outcome);
      if (outcome.status >= 200 && outcome.status < 300) return outcome;
      const refusal = await this.#refusal(outcome);
      if (isAgain || !isRepeatable(message)) return refusal;
      const isMended =
        message.facts.version === undefined
          ? await this.#legacy.renew({ message, refusal, session })
          : await this.#modern.relearn(message, refusal);
      if (!isMended) return refusal;
    }
  }

  async #refusal({ status, headers, body }: UpstreamAnswer): Promise<HttpRefusal> {
    const read = await readAnswerBody(body, ERROR_BYTES_MAX);
    const { location } = headers;
    const { client, serverName: server } = this.#parts;
    const { hasToken } = client;
    const text = isFault(read) ? new Uint8Array(0) : read;
    return ofStatus({ server, status, body: text, hasToken, location });
  }

  #headersFor(message: OutgoingMessage): OutgoingHttpHeaders {
    const { facts } = message;
    if (facts.kind === 'request') this.#isModern = facts.version !== undefined;
    const isModern = this.#isModern && facts.kind !== 'response';
    return {
      ...POST_HEADERS,
      ...(isModern ? this.#modern.headersFor(message) : this.#legacy.headersFor(facts.method)),
    };
  }

  /** Reads the stream that answers a request, and resumes it where it was cut, as often as it may be. */
  async #follow(request: OpenRequest, answer: UpstreamAnswer): Promise<void> {
    const cursor = newCursor();
    request.hasStream = true;
    let { body } = answer;
    for (;;) {
      const fault = await this.#readInto(request, body, cursor);
      if (request.state !== 'open') return;
      const isResumable = request.facts.version === undefined && cursor.lastEventId !== undefined;
      if (!isResumable) return this.#parts.open.fail(request, this.#cut(fault));
      const resumed = await this.#legacy.resume(cursor, request.abort);
      if (request.state !== 'open') return isAnswer(resumed) ? resumed.body.destroy() : undefined;
      if (!isAnswer(resumed)) return this.#parts.open.fail(request, this.#cut(fault));
      body = resumed.body;
    }
  }

  #readInto(
    request: OpenRequest,
    body: UpstreamAnswer['body'],
    cursor: StreamCursor | undefined,
  ): Promise<UpstreamFault | undefined> {
    const { inbox, open } = this.#parts;
    const [about] = request.facts.kind === 'batch' ? [] : request.facts.ids();
    return inbox.read(body, {
      about,
      take: (bytes) => this.#take(bytes, about),
      large: (how) => {
        if (how === 'complete') open.answeredLarge(request);
        else if (how === 'too_large') this.#tooLarge(request);
      },
      ...(cursor !== undefined && { events: followCursor(cursor) }),
    });
  }

  /** Looks at a message of the server before it is passed on. */
  #take(bytes: Uint8Array, about?: string): Uint8Array {
    let passed = bytes;
    for (const { facts } of noteAnswers(this.#parts.open, bytes, about)) {
      if (facts.method === 'initialize') this.#legacy.negotiated(bytes);
      if (facts.method === 'tools/list' && facts.version !== undefined) {
        passed = this.#modern.learn(passed);
      }
    }
    return passed;
  }

  /** The session has said so where it knew the id, which may stand at the end of what is skipped. */
  #tooLarge(request: OpenRequest): void {
    const text = `The answer of the MCP server \`${this.#parts.serverName}\` is larger than the limit (limits.max_message_bytes).`;
    queueMicrotask(() => {
      this.#parts.open.fail(request, { text });
      request.abort.abort();
    });
  }

  #cut(fault: UpstreamFault | undefined): HttpRefusal {
    return ofCut(this.#parts.serverName, fault);
  }

  #noAnswer(status: number): HttpRefusal {
    const text = `The MCP server \`${this.#parts.serverName}\` answers with something that is no answer to the request (HTTP ${status}).`;
    return { text, status };
  }
}

const LISTEN = 'subscriptions/listen';

function isAnswer(posted: Posted | undefined): posted is UpstreamAnswer {
  return posted !== undefined && 'headers' in posted;
}
