// One HTTP request at a hub: admitted, read, answered.
import type { IncomingMessage, ServerResponse } from 'node:http';
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
import { visible } from '@subluminal/core/visible';
import type { ConnectionGate } from '../../os/index.ts';
import { type BodyLimits, bodyReader } from './body.ts';
import { type Hub, type HubRefusal, refused } from './hub.ts';
import { type CallLabel, Metrics } from './metrics.ts';

interface ServeOptions {
  readonly hub: Hub;
  /** Why a request is refused; undefined when it may be answered. */
  readonly guard: (request: IncomingMessage) => HubRefusal | undefined;
  readonly gate: ConnectionGate;
  readonly limits: BodyLimits & { readonly requestsMax: number };
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** Makes a value that is sent as JSON, or a text that is sent as it is. */
  readonly answer: (body: unknown) => object | string | Promise<object>;
}

const MESSAGE_LENGTH_MAX = 300;
const BROKEN = refused(500, 'the hub has failed');
const BUSY = refused(503, 'the hub has too much to do');
const [TASK_PREFIX = ''] = HUB_ENDPOINTS.task.path.split('{', 1);

export class HubServing {
  readonly metrics = new Metrics();
  readonly #options: ServeOptions;
  /** By their paths. */
  readonly #routes = new Map<string, Route>();
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

  /** From now on each connection ends with its answer. */
  stop(): void {
    this.#isStopping = true;
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
    if (isEvaluated(answer)) {
      this.metrics.evaluated(labelOf(answer), (performance.now() - startedMs) / 1_000);
    }
    return answer;
  }
}

function isRefusal(answer: object | string): answer is HubRefusal {
  return typeof answer === 'object' && 'kind' in answer && answer.kind === 'refused';
}

function isEvaluated(answer: object | string): answer is EvaluateResponse {
  return typeof answer === 'object' && 'decision' in answer;
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
function evaluate(hub: Hub, body: unknown): EvaluateResponse | HubRefusal {
  if (!isObject(body)) return refused(400, 'the body must be an object');
  const { params, ...rest } = body;
  const parsed = parseEvaluateRequest(rest);
  if (!parsed.ok) return mismatched(parsed.mismatches);
  return hub.evaluate(isJson(params) ? { ...parsed.value, params } : parsed.value);
}

/** A value that JSON.parse has made is JSON, if it is there at all. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

function reading<T>(
  parse: (value: unknown) => Parsed<T>,
  handle: (request: T) => object,
): (body: unknown) => object {
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

export function errorText({ status, message }: HubRefusal): string {
  return JSON.stringify({ error: { status, message } });
}
