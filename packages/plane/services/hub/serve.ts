// One request at a hub, over HTTP or as a frame: admitted, read, answered.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type EvaluateResponse,
  type HealthResponse,
  HUB_ENDPOINTS,
  isObject,
  type JsonValue,
  type Mismatch,
  PACK_VERSION,
  type Parsed,
  parseEvaluateRequest,
  parseHeartbeatRequest,
  parseObserveRequest,
  parseResultRequest,
  parseTerminateRequest,
} from '@subluminal/contracts';
import {
  HUB_CONNECTION,
  parseLeaseRequest,
  parseReturnRequest,
} from '@subluminal/contracts/hub-frames';
import { visible } from '@subluminal/core/visible';
import type { ConnectionGate } from '../../os/index.ts';
import { type BodyLimits, bodyReader } from './body.ts';
import { type FrameAnswer, FrameConnection, type FrameLimits } from './frame-connection.ts';
import type { Hub } from './hub.ts';
import { type HubRefusal, refused } from './hub-options.ts';
import { type CallLabel, Metrics } from './metrics.ts';

interface ServeOptions {
  readonly hub: Hub;
  /** Why a request is refused; undefined when it may be answered. */
  readonly guard: (request: IncomingMessage) => HubRefusal | undefined;
  readonly gate: ConnectionGate;
  readonly limits: BodyLimits & FrameLimits & { readonly requestsMax: number };
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** Makes a value that is sent as JSON, or a text that is sent as it is. */
  readonly answer: (body: unknown) => object | string | Promise<object>;
}

const MESSAGE_LENGTH_MAX = 300;
const BROKEN = refused(500, 'the hub has failed');
const BUSY = refused(503, 'the hub has too much to do');
/** So many frames of a connection are answered however much others ask for. */
const FRAMES_FREE = 4;
const NO_UPGRADE = refused(400, 'this connection cannot be upgraded');
const SWITCHING = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${HUB_CONNECTION.protocol}\r\n\r\n`;
const [TASK_PREFIX = ''] = HUB_ENDPOINTS.task.path.split('{', 1);

export class HubServing {
  readonly metrics = new Metrics();
  readonly #options: ServeOptions;
  /** By their paths, and by their names for frames. */
  readonly #routes = new Map<string, Route>();
  readonly #frames = new Set<FrameConnection>();
  #frameBytes = 0;
  readonly #readBody: ReturnType<typeof bodyReader>;
  #requests = 0;
  #isStopping = false;

  constructor(options: ServeOptions) {
    const { hub, limits } = options;
    this.#options = options;
    this.#readBody = bodyReader(limits);
    const route = (name: keyof typeof HUB_ENDPOINTS, answer: Route['answer']): void => {
      const { method, path } = HUB_ENDPOINTS[name];
      this.#routes.set(path, { method, answer });
      this.#routes.set(name, { method, answer });
    };
    route('health', () => healthOf(hub));
    route('evaluate', (body) => evaluate(hub, body));
    route('policy', (body) => hub.policy(body));
    route(
      'observe',
      reading(parseObserveRequest, (request) => hub.observe(request)),
    );
    route(
      'heartbeat',
      reading(parseHeartbeatRequest, (request) => hub.heartbeat(request)),
    );
    route(
      'result',
      reading(parseResultRequest, (request) => hub.result(request)),
    );
    route(
      'terminate',
      reading(parseTerminateRequest, (request) => hub.terminate(request)),
    );
    // No call waits for a person here, so no task is known.
    route('task', () => refused(404, 'there is no such task'));
    route('metrics', () => this.metrics.text(hub));
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#requests++;
    response.once('close', () => {
      this.#requests--;
    });
    void this.#answer(request)
      .catch(() => BROKEN)
      .then((answer) => {
        if (answer === undefined) return response.destroy();
        if (isRefusal(answer)) this.metrics.refused(answer.status);
        // A connection with an unread rest on it is of no more use.
        return write(response, answer, this.#isStopping || !request.complete);
      });
  }

  /** Makes a connection one of frames. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    // Node no longer listens to this socket: a client that resets it would end the process.
    stream.on('error', () => {});
    const refusal = this.#upgradeRefusal(request);
    if (refusal !== undefined || !(stream instanceof Socket)) {
      this.metrics.refused(refusal?.status ?? 400);
      stream.end(refusalText(refusal ?? NO_UPGRADE), () => stream.destroy());
      return;
    }
    const { hub, gate, limits } = this.#options;
    if (!gate.admit(stream)) return;
    const connection = new FrameConnection({
      socket: stream,
      limits,
      answer: (frame, holder) => this.#answerFrame(frame, holder),
      holds: (change) => {
        this.#frameBytes += change;
        return this.#frameBytes <= limits.bodiesBytesMax;
      },
    });
    this.#frames.add(connection);
    hub.join(connection);
    stream.once('close', () => {
      this.#frames.delete(connection);
      hub.leave(connection);
    });
    stream.write(SWITCHING);
    if (hub.isStopping) connection.stop();
    if (head.length > 0) connection.read(head);
  }

  /** From now on each connection ends with its answer. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#frames) connection.end();
  }

  /** Ends the connections that have not ended by themselves. */
  cut(): void {
    for (const connection of this.#frames) connection.cut();
  }

  #upgradeRefusal(request: IncomingMessage): HubRefusal | undefined {
    const refusal = this.#options.guard(request);
    if (refusal !== undefined) return refusal;
    if (request.url !== HUB_CONNECTION.path) return refused(404, 'no such endpoint');
    const isOurs = request.headers.upgrade?.toLowerCase() === HUB_CONNECTION.protocol;
    return isOurs && !this.#isStopping ? undefined : NO_UPGRADE;
  }

  async #answerFrame(
    { to, body }: { readonly to: string; readonly body: unknown },
    connection: FrameConnection,
  ): Promise<FrameAnswer | undefined> {
    if (to === 'return') {
      const returned = parseReturnRequest(body);
      if (returned.ok) this.#options.hub.giveBack(returned.value, connection);
      return undefined;
    }
    const isFull = this.#requests > this.#options.limits.requestsMax;
    // Those who ask for much must not keep out those who ask for little.
    if (isFull && connection.openFrames > FRAMES_FREE) return this.#frameOf(BUSY);
    this.#requests++;
    try {
      return this.#frameOf(await this.#frameAnswer(to, body, connection));
    } catch {
      return this.#frameOf(BROKEN);
    } finally {
      this.#requests--;
    }
  }

  #frameAnswer(to: string, body: unknown, holder: FrameConnection): object | Promise<object> {
    if (to === 'lease') {
      return reading(parseLeaseRequest, (request) => this.#options.hub.lease(request, holder))(
        body,
      );
    }
    const route = to.startsWith('/') ? undefined : this.#routes.get(to);
    if (route === undefined) return refused(404, 'no such endpoint');
    const startedMs = performance.now();
    const answered = route.answer(body);
    return answered instanceof Promise
      ? answered.then((answer) => this.#measured(answer, startedMs))
      : this.#measured(textless(answered), startedMs);
  }

  #measured<A extends object>(answer: A, startedMs: number): A {
    if (isEvaluated(answer)) {
      this.metrics.evaluated(labelOf(answer), (performance.now() - startedMs) / 1_000);
    }
    return answer;
  }

  #frameOf(answer: object): FrameAnswer {
    if (!isRefusal(answer)) return { status: 200, body: answer };
    this.metrics.refused(answer.status);
    return { status: answer.status, body: errorOf(answer) };
  }

  async #answer(request: IncomingMessage): Promise<object | string | undefined> {
    const { guard, gate, limits } = this.#options;
    const refusal = guard(request);
    if (refusal !== undefined) return refusal;
    if (!gate.admit(request.socket)) return undefined;
    if (this.#requests > limits.requestsMax) return BUSY;
    const [path = ''] = (request.url ?? '').split('?', 1);
    const isTask = path.startsWith(TASK_PREFIX) && path !== TASK_PREFIX;
    const route = this.#routes.get(isTask ? HUB_ENDPOINTS.task.path : path);
    if (route === undefined) return refused(404, 'no such endpoint');
    if (request.method !== route.method) return refused(405, `use ${route.method}`);
    if (route.method === 'GET') return route.answer(undefined);
    const startedMs = performance.now();
    const body = await this.#readBody(request);
    if (body.kind === 'aborted') return undefined;
    if (body.kind === 'busy') return BUSY;
    if (body.kind === 'refused') return body;
    const answer = await route.answer(body.value);
    return typeof answer === 'string' ? answer : this.#measured(answer, startedMs);
  }
}

function isRefusal(answer: object | string): answer is HubRefusal {
  return typeof answer === 'object' && 'kind' in answer && answer.kind === 'refused';
}

function isEvaluated(answer: object): answer is EvaluateResponse {
  return 'decision' in answer;
}

/** A text is for HTTP alone. */
function textless(answer: object | string): object {
  return typeof answer === 'string' ? refused(404, 'no such endpoint') : answer;
}

function labelOf({ decision, needs_policy }: EvaluateResponse): CallLabel {
  if (needs_policy === true) return 'needs_policy';
  return decision === 'forward' ? 'forward' : 'deny';
}

function healthOf(hub: Hub): HealthResponse {
  const judges = hub.judges.length === 0 ? {} : { judges: hub.judges };
  const status = hub.isStopping ? 'stopping' : 'ok';
  return { status, v: PACK_VERSION, ...judges, ...hub.terms };
}

/**
 * The parameters are left out of the check: JSON.parse has made them, the bounds of the body hold,
 * and a call with very many parts must be decided like any other.
 */
function evaluate(hub: Hub, body: unknown): object | Promise<object> {
  if (!isObject(body)) return refused(400, 'the body must be an object');
  const { params, ...rest } = body;
  const parsed = parseEvaluateRequest(rest);
  if (!parsed.ok) return mismatched(parsed.mismatches);
  return hub.evaluateRequest(isJson(params) ? { ...parsed.value, params } : parsed.value);
}

/** A value that JSON.parse has made is JSON, if it is there at all. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

function reading<T>(
  parse: (value: unknown) => Parsed<T>,
  handle: (request: T) => object | Promise<object>,
): (body: unknown) => object | Promise<object> {
  return (body) => {
    const parsed = parse(body);
    return parsed.ok ? handle(parsed.value) : mismatched(parsed.mismatches);
  };
}

function mismatched([first]: readonly Mismatch[]): HubRefusal {
  const where = first === undefined || first.path.length === 0 ? 'the top' : first.path.join('.');
  return refused(400, visible(`at ${where}: expected ${first?.expected}`, MESSAGE_LENGTH_MAX));
}

function write(response: ServerResponse, answer: object | string, isLast: boolean): void {
  const refusal = isRefusal(answer) ? answer : undefined;
  const status = refusal?.status ?? 200;
  const isText = typeof answer === 'string';
  const text = isText ? answer : refusal ? errorText(refusal) : JSON.stringify(answer);
  response.sendDate = false;
  response.writeHead(status, {
    'content-type': isText ? 'text/plain; version=0.0.4; charset=utf-8' : 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(status === 405 && { allow: text.includes('POST') ? 'POST' : 'GET' }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(isLast && { connection: 'close' }),
  });
  response.end(text);
}

function errorText(refusal: HubRefusal): string {
  return JSON.stringify(errorOf(refusal));
}

function errorOf({ status, message }: HubRefusal): object {
  return { error: { status, message } };
}

/** A whole answer that ends its connection. */
export function refusalText(refusal: HubRefusal): string {
  const { status } = refusal;
  const text = errorText(refusal);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  const fields = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}`;
  return `${head}\r\nConnection: close\r\n${fields}\r\n\r\n${text}`;
}
