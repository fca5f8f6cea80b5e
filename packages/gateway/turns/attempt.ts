// One call of one upstream: the request out, its answer on the way to the client.
import type { OutgoingHttpHeaders } from 'node:http';
import { isFailure, isJsonObject, type JsonObject } from '@subluminal/contracts';
import type {
  AnswerObserver,
  DegradedFeature,
  SseEvent,
  UpstreamError,
} from '@subluminal/core/wires';
import {
  isFault,
  readAnswerBody,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamFault,
} from '@subluminal/plane/upstream';
import { answerHeaders } from './answer-headers.ts';
import type { ClientAnswer } from './client-answer.ts';
import { ESTIMATED_HEADERS, estimatedCount } from './count-tokens.ts';
import type { TurnLimits } from './limits.ts';
import { readErrorBody } from './read-error-body.ts';
import { relayStream, type StreamEnd } from './relay-stream.ts';
import type { Attempt, AttemptError, AttemptOutcome, GovernedTurn, TurnRequest } from './types.ts';
import {
  isStreamed,
  type UpstreamRequest,
  upstreamRequest,
  upstreamWire,
} from './upstream-request.ts';
import type { TurnWires } from './wires.ts';

/** The chunk of a chat stream that has only the usage in it. */
const USAGE_CHUNK = /"choices"\s*:\s*\[\s*\]/;

export interface AttemptContext {
  readonly turn: TurnRequest;
  readonly governed: GovernedTurn;
  readonly client: ClientAnswer;
  readonly wires: TurnWires;
  readonly upstream: Upstream;
  readonly limits: TurnLimits;
  readonly nowMs: () => number;
  /** The headers of the answer that are ours. */
  readonly headers: OutgoingHttpHeaders;
  readonly onDefect: (cause: unknown) => void;
}

/** How the answer to the client ends, once the turn is on record. */
export type Finish =
  /** The stream went out but for this. */
  | {
      readonly kind: 'last_event';
      readonly bytes: Uint8Array | string;
      readonly isPartial: boolean;
    }
  | {
      readonly kind: 'answer';
      readonly headers: OutgoingHttpHeaders;
      readonly body: Buffer | string;
    }
  /** Nothing of an answer went out. `body` is the error as the upstream wrote it in the client's wire. */
  | {
      readonly kind: 'error';
      readonly error: UpstreamError;
      readonly headers: OutgoingHttpHeaders;
      readonly body?: Buffer;
    }
  | { readonly kind: 'gone'; readonly isPartial: boolean };

export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  readonly finish: Finish;
}

const RETRIED: ReadonlySet<AttemptError['class']> = new Set([
  'upstream_429',
  'upstream_5xx',
  'upstream_timeout',
  'upstream_disconnect',
  'upstream_malformed',
]);

/** Whether the next attempt may be made: the client has nothing of this one, and it may go better elsewhere. */
export function mayTryNext({ outcome, finish }: AttemptResult): boolean {
  return finish.kind === 'error' && outcome.error !== undefined && RETRIED.has(outcome.error.class);
}

export async function runAttempt(
  attempt: Attempt,
  context: AttemptContext,
  isLast: boolean,
): Promise<AttemptResult> {
  return new AttemptRun(attempt, context, isLast).run();
}

class AttemptRun {
  private readonly attempt: Attempt;
  private readonly context: AttemptContext;
  private readonly isLast: boolean;
  private readonly startMs: number;
  private readonly bytesBefore: number;
  /** Watches the answer in the upstream's wire. */
  private observer: AnswerObserver;
  private degraded: readonly DegradedFeature[] = [];

  constructor(attempt: Attempt, context: AttemptContext, isLast: boolean) {
    this.attempt = attempt;
    this.context = context;
    this.isLast = isLast;
    this.startMs = context.nowMs();
    this.bytesBefore = context.client.bytesOut;
    this.observer = context.wires.wire(context.turn.wire).observer();
  }

  async run(): Promise<AttemptResult> {
    try {
      return await this.call();
    } catch (cause) {
      this.context.onDefect(cause);
      return this.broken({ class: 'internal' }, INTERNAL);
    }
  }

  private async call(): Promise<AttemptResult> {
    const { turn, governed, wires, upstream, client } = this.context;
    if (turn.kind === 'count_tokens' && !countsTokens(this.attempt, turn)) return this.estimated();
    const request = upstreamRequest(this.attempt, { turn, governed, wires });
    if (isFailure(request)) {
      const error = { status: 400, type: 'invalid_request_error', message: request.message };
      return this.failed({ class: 'internal', failure: request, upstream: error }, error);
    }
    if (request.wire !== turn.wire) this.observer = wires.wire(request.wire).observer();
    this.degraded = request.translation?.degraded ?? [];
    const answer = await upstream.call({
      method: 'POST',
      url: request.url,
      headers: request.headers,
      body: request.body,
      timeoutMs: this.attempt.timeoutMs,
      signal: client.gone,
    });
    if (isFault(answer)) return this.faulted(answer);
    if (answer.status >= 400) return this.upstreamError(answer, request);
    if (answer.status !== 200)
      return this.unexpected(answer, `The upstream answered with ${answer.status}.`);
    return isStreamed(turn) ? this.streamed(answer, request) : this.whole(answer, request);
  }

  /** What the engine itself knows of the answer before its first byte. */
  private ownHeaders(
    { headers }: UpstreamAnswer,
    { translation }: UpstreamRequest,
  ): OutgoingHttpHeaders {
    const { endpoint, model, gateway } = this.attempt;
    if (gateway !== undefined) return gateway.answerHeaders(headers);
    const routed = { 'x-aicg-routed-to': `${endpoint.id}:${model}`.replaceAll(/[^ -~]/g, '?') };
    if (translation === undefined || translation.degraded.length === 0) return routed;
    return { ...routed, 'x-aicg-degraded-features': translation.degraded.join(',') };
  }

  private async streamed(answer: UpstreamAnswer, request: UpstreamRequest): Promise<AttemptResult> {
    if (!isType(answer, 'text/event-stream')) return this.notStreamed(answer, request);
    const { client, limits, nowMs, headers } = this.context;
    const translation = request.translation?.stream({ createdSec: Math.floor(nowMs() / 1_000) });
    const passed = answerHeaders(answer.headers, this.attempt);
    const own = this.ownHeaders(answer, request);
    const end = await relayStream(answer.body, {
      client,
      open: () => client.open(200, passed, headers, own, STREAM_HEADERS),
      observer: this.observer,
      translation,
      mayLackLast: request.wire === 'openai_chat_completions',
      holdUntilMs: this.isLast ? 0 : nowMs() + limits.headHoldMs,
      nowMs,
      eventBytesMax: limits.eventBytesMax,
      streamMsMax: limits.streamMsMax,
      takesEvent: this.takesEvent(),
      isHidden: request.hasAddedUsage ? (data) => USAGE_CHUNK.test(data) : undefined,
    });
    if (translation !== undefined) this.addDegraded(translation.degraded);
    return this.streamEnded(end, answer);
  }

  private addDegraded(more: readonly DegradedFeature[]): void {
    this.degraded = [...new Set([...this.degraded, ...more])];
  }

  private takesEvent(): ((event: SseEvent) => boolean) | undefined {
    const { gateway } = this.attempt;
    return gateway && ((event) => gateway.takesEvent(event));
  }

  private streamEnded(end: StreamEnd, answer: UpstreamAnswer): AttemptResult {
    switch (end.kind) {
      case 'complete':
        return this.ended({ kind: 'last_event', bytes: end.last, isPartial: false });
      case 'error': {
        const { error, last } = end;
        const problem = { class: errorClass(error.status), upstream: error };
        if (!this.hasSent())
          return this.failed(problem, error, answerHeaders(answer.headers, this.attempt));
        return this.ended({ kind: 'last_event', bytes: last, isPartial: true }, problem);
      }
      case 'fault':
        return this.faulted(end.fault);
    }
  }

  /** A stream was asked for, and something else came: an error that says 200, or what is no answer at all. */
  private async notStreamed(
    answer: UpstreamAnswer,
    request: UpstreamRequest,
  ): Promise<AttemptResult> {
    const body = await readErrorBody(answer.body, this.attempt, this.context.limits.errorBytesMax);
    if (isFault(body)) return this.faulted(body);
    const value = parsed(body);
    if (value !== undefined) this.observer.whole(value);
    const { error } = this.observer.seen;
    if (error !== undefined)
      return this.failed({ class: errorClass(error.status), upstream: error }, asError(error));
    return this.malformed(`The upstream did not stream its answer (${request.wire}).`);
  }

  private async whole(answer: UpstreamAnswer, request: UpstreamRequest): Promise<AttemptResult> {
    const body = await readAnswerBody(answer.body, this.context.limits.answerBytesMax);
    if (isFault(body)) return this.faulted(body);
    const value = isType(answer, 'application/json') ? parsed(body) : undefined;
    if (value === undefined) return this.malformed('The answer of the upstream is not JSON.');
    if (this.context.turn.kind === 'answer') this.observer.whole(value);
    const { error } = this.observer.seen;
    if (error !== undefined)
      return this.failed({ class: errorClass(error.status), upstream: error }, asError(error));
    const headers = {
      ...answerHeaders(answer.headers, this.attempt),
      ...this.ownHeaders(answer, request),
    };
    if (request.translation === undefined) return this.ended({ kind: 'answer', headers, body });
    const createdSec = Math.floor(this.context.nowMs() / 1_000);
    const written = request.translation.answer(value, { createdSec });
    if (isFailure(written)) return this.malformed(written.message);
    this.addDegraded(written.degraded);
    return this.ended({ kind: 'answer', headers, body: JSON.stringify(written.value) });
  }

  private async upstreamError(
    answer: UpstreamAnswer,
    request: UpstreamRequest,
  ): Promise<AttemptResult> {
    const { wires, turn, limits } = this.context;
    const { status } = answer;
    const body = await readErrorBody(answer.body, this.attempt, limits.errorBytesMax);
    if (isFault(body)) return this.faulted(body);
    if (turn.kind === 'count_tokens' && NOT_THERE.has(status)) return this.estimated();
    const upstream = wires.wire(request.wire).readError(status, body.toString('utf8'));
    const problem = { class: errorClass(status), upstream };
    const { credentials, gateway } = this.attempt;
    const ours = gateway?.answerHeaders(answer.headers);
    if (credentials.kind !== 'own' && (status === 401 || status === 403)) {
      const error = gateway?.refused(upstream) ?? refusedCredentials(this.attempt, status);
      return this.failed(problem, error, ours);
    }
    const headers = { ...answerHeaders(answer.headers, this.attempt), ...ours };
    const isSame = request.wire === turn.wire && isType(answer, 'application/json');
    if (!isSame || parsed(body) === undefined) return this.failed(problem, upstream, headers);
    return this.ended({ kind: 'error', error: upstream, headers, body }, problem);
  }

  private estimated(): AttemptResult {
    const { turn } = this.context;
    const body = estimatedCount(turn.body, turn.outline);
    return this.ended({ kind: 'answer', headers: ESTIMATED_HEADERS, body });
  }

  private unexpected(answer: UpstreamAnswer, why: string): AttemptResult {
    answer.body.destroy();
    const isRedirect = answer.status >= 300 && answer.status < 400;
    return this.malformed(isRedirect ? `${why} Redirects are not followed.` : why);
  }

  private malformed(message: string): AttemptResult {
    const error = { status: 502, type: 'api_error', message };
    return this.failed({ class: 'upstream_malformed', upstream: error }, error);
  }

  private faulted(why: UpstreamFault): AttemptResult {
    if (this.context.client.isGone) {
      return this.ended({ kind: 'gone', isPartial: this.hasSent() }, { class: 'client_gone' });
    }
    const { gateway } = this.attempt;
    const error: UpstreamError =
      why.class === 'timeout'
        ? { status: 504, type: 'timeout_error', message: why.message }
        : (gateway?.unreachable ?? { status: 502, type: 'api_error', message: why.message });
    return this.broken({ class: FAULT_CLASSES[why.class], upstream: error }, error);
  }

  /** A stream that has begun can only end with an error. */
  private broken(problem: AttemptError, error: UpstreamError): AttemptResult {
    if (!this.hasSent()) return this.failed(problem, error);
    const { wires, turn } = this.context;
    const bytes = wires.wire(turn.wire).writeErrorEvent(error);
    return this.ended({ kind: 'last_event', bytes, isPartial: true }, problem);
  }

  private failed(
    problem: AttemptError,
    error: UpstreamError,
    headers: OutgoingHttpHeaders = {},
  ): AttemptResult {
    return this.ended({ kind: 'error', error, headers }, problem);
  }

  private ended(finish: Finish, error?: AttemptError): AttemptResult {
    const latencyMs = this.context.nowMs() - this.startMs;
    const { degraded } = this;
    const observed = this.observer.seen;
    const outcome =
      error === undefined
        ? { latencyMs, observed, degraded }
        : { latencyMs, observed, degraded, error };
    return { outcome, finish };
  }

  private hasSent(): boolean {
    return this.context.client.bytesOut > this.bytesBefore;
  }
}

/** How a server says that it has no such path. */
const NOT_THERE: ReadonlySet<number> = new Set([404, 405, 501]);

/** Whether the tokens are counted there, and not estimated here. */
export function countsTokens(attempt: Attempt, { wire }: TurnRequest): boolean {
  return attempt.provider.hasCountTokens && upstreamWire(attempt, wire) === wire;
}

const INTERNAL: UpstreamError = {
  status: 500,
  type: 'api_error',
  message: 'This turn could not be handled. The log of the gateway says why.',
};

const FAULT_CLASSES = {
  timeout: 'upstream_timeout',
  disconnect: 'upstream_disconnect',
  malformed: 'upstream_malformed',
  aborted: 'upstream_disconnect',
} as const;

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // A reverse proxy in between must not wait for the end.
  'x-accel-buffering': 'no',
};

function errorClass(status: number): AttemptError['class'] {
  if (status === 429) return 'upstream_429';
  return status >= 400 && status < 500 ? 'upstream_4xx' : 'upstream_5xx';
}

/** An error in an answer that says 200 has no status of its own that a client could take. */
function asError(error: UpstreamError): UpstreamError {
  return error.status >= 400 ? error : { ...error, status: 502 };
}

/** The client's own credentials are fine: it must not be told to log in again. */
function refusedCredentials({ endpoint }: Attempt, status: number): UpstreamError {
  return {
    status: 400,
    type: 'invalid_request_error',
    message: `The provider refused the key of the endpoint ${endpoint.id} (${status}). Whoever runs this gateway has to renew it.`,
  };
}

function isType({ headers }: UpstreamAnswer, type: string): boolean {
  const given = headers['content-type'];
  return given === undefined || given.toLowerCase().startsWith(type);
}

function parsed(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What of the answer has not gone out yet. */
export function bytesLeft(result: AttemptResult | undefined): number {
  switch (result?.finish.kind) {
    case 'last_event':
      return Buffer.byteLength(result.finish.bytes);
    case 'answer':
      return Buffer.byteLength(result.finish.body);
    default:
      return 0;
  }
}
