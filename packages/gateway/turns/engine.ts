// The way of a turn: read, decide, call upstreams until one answers, put it on record, end the answer.
import type { OutgoingHttpHeaders } from 'node:http';
import { isFailure } from '@subluminal/contracts';
import {
  refusalAnswer,
  refusalStream,
  type UpstreamError,
  type WireName,
} from '@subluminal/core/wires';
import { callIds } from '@subluminal/plane/crypto';
import type { Upstream } from '@subluminal/plane/upstream';
import {
  type AttemptContext,
  type AttemptResult,
  bytesLeft,
  type Finish,
  mayTryNext,
  runAttempt,
  STREAM_HEADERS,
} from './attempt.ts';
import { type BodyPlace, BodyRoom } from './body-room.ts';
import { type AnswerStream, ClientAnswer } from './client-answer.ts';
import { TURN_LIMITS, type TurnLimits } from './limits.ts';
import { type BodySource, readRequestBody } from './read-body.ts';
import { clientSession } from './turn-facts.ts';
import type {
  Attempt,
  GovernedTurn,
  TurnGovernor,
  TurnOutcome,
  TurnPlan,
  TurnRefusal,
  TurnRequest,
  TurnTail,
} from './types.ts';
import { isStreamed } from './upstream-request.ts';
import type { TurnWires } from './wires.ts';

export interface TurnEngineOptions {
  readonly wires: TurnWires;
  readonly upstream: Upstream;
  readonly nowMs: () => number;
  readonly limits?: Partial<TurnLimits>;
  /** Where bodies are counted that are read elsewhere, too. */
  readonly room?: BodyRoom;
  /** What no client and no upstream may cause: a defect of ours. */
  readonly onDefect?: (traceId: string, cause: unknown) => void;
}

export interface TurnRoute {
  /** Knows who sends this turn. */
  readonly governor: TurnGovernor;
  readonly wire: WireName;
  readonly kind: TurnRequest['kind'];
  /** Behind the wire's prefix, with its query. */
  readonly path: string;
  /** What tells the conversation of this turn from others; else the client's name for its session. */
  readonly conversation?: string;
  /** When it was read already, as a part of something larger. */
  readonly body?: Buffer;
}

export interface TurnEngine {
  /** Answers the request. Never rejects. */
  handle(request: BodySource, response: AnswerStream, route: TurnRoute): Promise<void>;
}

export function createTurnEngine(options: TurnEngineOptions): TurnEngine {
  const { onDefect } = options;
  const newTraceId = callIds();
  const limits = { ...TURN_LIMITS, ...options.limits };
  const settings = { ...options, limits };
  const room = options.room ?? new BodyRoom(limits.bodiesBytesMax);
  let running = 0;
  return {
    handle: async (request, response, route) => {
      const client = new ClientAnswer(response, options.nowMs);
      const traceId = newTraceId();
      const place = room.open();
      const run = new TurnRun(settings, { client, traceId, route, place });
      running++;
      try {
        if (running > limits.turnsMax) run.refuse(BUSY);
        else await run.run(request);
      } catch (cause) {
        onDefect?.(traceId, cause);
        run.abandon();
      } finally {
        running--;
        place.leave();
      }
    },
  };
}

const NOTHING = { ruleIds: [], headers: {} } as const;
const BUSY: TurnRefusal = {
  ...NOTHING,
  kind: 'unavailable',
  message: 'Too many turns are running here. Try again in a moment.',
  retryAfterMs: 1_000,
};
const DEFECT: UpstreamError = {
  status: 500,
  type: 'api_error',
  message: 'This turn could not be handled. The log of the gateway says why.',
};
const NO_UPSTREAM: TurnRefusal = {
  ...NOTHING,
  kind: 'unavailable',
  message: 'No endpoint can take this turn now: all are busy or failing. Try again in a moment.',
};
const NOT_RECORDED: UpstreamError = {
  status: 503,
  type: 'api_error',
  message: 'The turn could not be put on record, so its answer is withheld.',
};
/** What a status is when the client went before it got one. */
const CLIENT_CLOSED = 499;

interface Tried {
  readonly attempt?: Attempt;
  readonly result?: AttemptResult;
}

const NOT_TRIED: Tried = {};

interface TurnRunOptions extends Omit<TurnEngineOptions, 'limits'> {
  readonly limits: TurnLimits;
}

interface TurnStart {
  readonly client: ClientAnswer;
  readonly traceId: string;
  readonly route: TurnRoute;
  readonly place: BodyPlace;
}

class TurnRun {
  private readonly options: TurnRunOptions;
  private readonly place: BodyPlace;
  private readonly client: ClientAnswer;
  private readonly route: TurnRoute;
  private readonly traceId: string;
  private readonly headers: OutgoingHttpHeaders;
  private accept: string | undefined;
  private model = '';
  private receivedMs = 0;

  constructor(options: TurnRunOptions, { client, traceId, route, place }: TurnStart) {
    this.options = options;
    this.place = place;
    this.client = client;
    this.route = route;
    this.traceId = traceId;
    this.headers = { 'x-aicg-trace-id': traceId };
  }

  async run(request: BodySource): Promise<void> {
    this.accept = request.headers.accept;
    const turn = await this.read(request);
    if (turn === undefined) return;
    const plan = await this.decided(turn, await this.route.governor.begin(turn));
    if (plan.kind === 'refuse') return this.refuse(plan.refusal, plan.tail);
    Object.assign(this.headers, plan.turn.headers);
    await this.send(turn, plan.turn);
  }

  private async read(request: BodySource): Promise<TurnRequest | undefined> {
    const { wires, nowMs } = this.options;
    const { wire, kind, path, conversation = clientSession(request) } = this.route;
    const receivedMs = nowMs();
    this.receivedMs = receivedMs;
    const bytes = this.route.body ?? (await this.readBody(request));
    if (bytes === undefined) return undefined;
    const outline = wires.outline(wire, bytes, conversation);
    if (isFailure(outline)) {
      this.refuse({ ...NOTHING, kind: 'invalid', message: outline.message });
      return undefined;
    }
    this.model = outline.model;
    const { traceId, client } = this;
    const { headers } = request;
    const facts = { traceId, wire, kind, path, headers, body: bytes, outline, receivedMs };
    return new ReadTurn(facts, client);
  }

  private async readBody(request: BodySource): Promise<Buffer | undefined> {
    const { bodyBytesMax } = this.options.limits;
    const { place } = this;
    const body = await readRequestBody(request, { bytesMax: bodyBytesMax, place });
    if (body.kind === 'body') return body.bytes;
    if (body.kind === 'no_room') this.refuse(BUSY);
    if (body.kind === 'too_large') this.refuse(tooLarge(bodyBytesMax));
    if (body.kind === 'invalid') this.refuse({ ...NOTHING, kind: 'invalid', message: body.why });
    return undefined;
  }

  /** Waits while the turn is held. A stream is opened for that and kept alive, so that no client gives up. */
  private async decided(
    turn: TurnRequest,
    plan: TurnPlan,
  ): Promise<Exclude<TurnPlan, { kind: 'hold' }>> {
    if (plan.kind !== 'hold') return plan;
    const isStream = isStreamed(turn);
    if (isStream && !this.client.isOpen) this.client.open(200, this.headers, STREAM_HEADERS);
    const { keepAlive } = this.options.wires.wire(turn.wire);
    const stop = isStream
      ? this.client.keepAlive(keepAlive, this.options.limits.keepAliveMs)
      : undefined;
    try {
      return await this.decided(turn, await plan.outcome);
    } finally {
      stop?.();
    }
  }

  private async send(turn: TurnRequest, governed: GovernedTurn): Promise<void> {
    const { client, headers } = this;
    const { wires, upstream, limits, nowMs } = this.options;
    const onDefect = (cause: unknown): void => this.options.onDefect?.(this.traceId, cause);
    const context: AttemptContext = {
      wires,
      upstream,
      limits,
      nowMs,
      client,
      headers,
      onDefect,
      turn,
      governed,
    };
    let isDefect = false;
    const { attempt, result } = await this.attempts(context).catch((cause: unknown) => {
      isDefect = true;
      onDefect(cause);
      return NOT_TRIED;
    });
    const tail = await this.record(governed, this.outcomeOf(attempt, result));
    if (tail === undefined || isDefect) return this.fail(isDefect ? DEFECT : NOT_RECORDED);
    if (result === undefined) return this.refuse(NO_UPSTREAM, tail);
    this.finish(result.finish, tail);
  }

  abandon(): void {
    try {
      this.fail(DEFECT);
    } catch {
      this.client.destroy();
    }
  }

  private fail(error: UpstreamError): void {
    this.finish({ kind: 'error', error, headers: {} }, { events: '', headers: {} });
  }

  /** The last attempt that was made. All of them leave their places, those that were not made too. */
  private async attempts(context: AttemptContext): Promise<Tried> {
    const { governed, client } = context;
    const left = [...governed.attempts];
    let last = {};
    try {
      for (let attempt = left.shift(); attempt !== undefined; attempt = left.shift()) {
        const isAdmitted = !client.isGone && (await (attempt.admit?.() ?? true));
        const result = isAdmitted
          ? await runAttempt(attempt, context, left.length === 0)
          : undefined;
        attempt.release();
        if (result === undefined) continue;
        governed.attemptEnded(attempt, result.outcome);
        last = { attempt, result };
        if (!mayTryNext(result)) break;
      }
      return last;
    } finally {
      for (const attempt of left) attempt.release();
    }
  }

  private outcomeOf(attempt: Attempt | undefined, result: AttemptResult | undefined): TurnOutcome {
    const { client, receivedMs } = this;
    const { firstByteMs } = client;
    const { finish, outcome } = result ?? {};
    const isAnswered = finish?.kind === 'answer' || finish?.kind === 'last_event';
    const isPartial =
      (finish?.kind === 'last_event' || finish?.kind === 'gone') && finish.isPartial;
    return {
      attempt: isAnswered || isPartial ? attempt : undefined,
      last: outcome,
      isPartial,
      status: client.status ?? this.statusOf(result),
      bytesOut: client.bytesOut + bytesLeft(result),
      firstByteMs: firstByteMs === undefined ? undefined : firstByteMs - receivedMs,
    };
  }

  private statusOf(result: AttemptResult | undefined): number {
    if (this.client.isGone) return CLIENT_CLOSED;
    if (result === undefined) return 503;
    return result.finish.kind === 'error' ? result.finish.error.status : 200;
  }

  /** Undefined when it could not be put on record. */
  private async record(
    governed: GovernedTurn,
    outcome: TurnOutcome,
  ): Promise<TurnTail | undefined> {
    try {
      return await governed.end(outcome);
    } catch (cause) {
      this.options.onDefect?.(this.traceId, cause);
      return undefined;
    }
  }

  private finish(finish: Finish, tail: TurnTail): void {
    const { client } = this;
    const wire = this.options.wires.wire(this.route.wire);
    switch (finish.kind) {
      case 'gone':
        return;
      case 'last_event':
        if (tail.events !== '') client.write(tail.events);
        return client.end(finish.bytes);
      case 'answer':
        return client.answer(
          finish.body,
          200,
          finish.headers,
          this.headers,
          tail.headers,
          JSON_HEADERS,
        );
      case 'error': {
        if (client.isOpen) return client.end(tail.events + wire.writeErrorEvent(finish.error));
        const { error, headers, body } = finish;
        const said = body ?? JSON.stringify(wire.writeError(error));
        return client.answer(said, error.status, headers, this.headers, tail.headers, JSON_HEADERS);
      }
    }
  }

  refuse(refusal: TurnRefusal, tail?: TurnTail): void {
    const { client, traceId, accept, model } = this;
    const wire = this.options.wires.wire(this.route.wire);
    const nowMs = this.options.nowMs();
    if (client.isOpen) {
      const createdSec = Math.floor(nowMs / 1_000);
      const said = refusalStream(wire, refusal, { id: `refused_${traceId}`, model, createdSec });
      return client.end((tail?.events ?? '') + said);
    }
    const { status, headers, body } = refusalAnswer(wire, refusal, { accept, nowMs });
    client.answer(JSON.stringify(body), status, this.headers, tail?.headers ?? {}, headers);
  }
}

/** A class, because an object with a getter of its own has a shape of its own, which only a full collection frees. */
class ReadTurn implements TurnRequest {
  readonly traceId: string;
  readonly wire: WireName;
  readonly kind: TurnRequest['kind'];
  readonly path: string;
  readonly headers: TurnRequest['headers'];
  readonly body: Buffer;
  readonly outline: TurnRequest['outline'];
  readonly receivedMs: number;
  private readonly client: ClientAnswer;

  constructor(facts: Omit<TurnRequest, 'signal'>, client: ClientAnswer) {
    this.traceId = facts.traceId;
    this.wire = facts.wire;
    this.kind = facts.kind;
    this.path = facts.path;
    this.headers = facts.headers;
    this.body = facts.body;
    this.outline = facts.outline;
    this.receivedMs = facts.receivedMs;
    this.client = client;
  }

  /** Few ask for it, and it costs more than most of what a turn needs. */
  get signal(): AbortSignal {
    return this.client.gone.signal;
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' };

function tooLarge(bytesMax: number): TurnRefusal {
  const message = `The request is larger than ${bytesMax} bytes. Start a new session, or compact this one.`;
  return { ...NOTHING, kind: 'too_large', message };
}
