// One HTTP request at a hub: admitted, read, answered.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConnectionGate } from '../../os/index.ts';
import { bodyReader } from './body.ts';
import type { HubGuard } from './listen.ts';
import { Metrics, type RefusalStatus } from './metrics.ts';
import { type HubAnswerBody, hubRoutes, type Route } from './routes.ts';
import type { Hub, ServerLimits } from './types.ts';

interface ServeOptions {
  readonly hub: Hub;
  readonly guard: HubGuard;
  readonly gate: ConnectionGate;
  readonly limits: ServerLimits;
}

export interface Serving {
  readonly metrics: Metrics;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** From now on each connection ends with its answer. */
  stop(): void;
}

const BROKEN: HubAnswerBody = { kind: 'refused', status: 500, message: 'the hub has failed' };
const BUSY: HubAnswerBody = { kind: 'refused', status: 503, message: 'the hub has too much to do' };

export function serving({ hub, guard, gate, limits }: ServeOptions): Serving {
  const metrics = new Metrics();
  const routeOf = hubRoutes(hub, () => metrics.text(hub));
  const readBody = bodyReader(limits);
  let requests = 0;
  let isStopping = false;

  const answerTo = async (request: IncomingMessage): Promise<HubAnswerBody | undefined> => {
    const refusal = guard(request);
    if (refusal !== undefined) return { kind: 'refused', ...refusal };
    if (!gate.admit(request.socket)) return undefined;
    if (requests > limits.requestsMax) return BUSY;
    const found = findRoute(request);
    if ('kind' in found) return found;
    if (found.method === 'GET') return found.answer();
    const startedMs = performance.now();
    const body = await readBody(request);
    if (body.kind === 'aborted') return undefined;
    if (body.kind === 'busy') return BUSY;
    if (body.kind === 'too_large') return tooLarge(limits.bodyBytesMax);
    if (body.kind === 'malformed') return { ...body, kind: 'refused', status: 400 };
    const answer = await found.answer(body.value);
    if (answer.kind === 'json' && answer.call !== undefined) {
      metrics.evaluated(answer.call, (performance.now() - startedMs) / 1_000);
    }
    return answer;
  };

  const findRoute = (request: IncomingMessage): Route | HubAnswerBody => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const route = routeOf(path);
    if (route === undefined) return { kind: 'refused', status: 404, message: 'no such endpoint' };
    if (request.method === route.method) return route;
    return { kind: 'refused', status: 405, message: `use ${route.method}` };
  };

  return {
    metrics,
    handle(request, response) {
      requests++;
      response.once('close', () => {
        requests--;
      });
      void answerTo(request)
        .catch(() => BROKEN)
        .then((answer) => {
          if (answer === undefined) return response.destroy();
          if (answer.kind === 'refused') metrics.refused(answer.status);
          return write(response, answer, isStopping || !request.complete);
        });
    },
    stop() {
      isStopping = true;
    },
  };
}

function tooLarge(bytesMax: number): HubAnswerBody {
  return { kind: 'refused', status: 413, message: `a body has at most ${bytesMax} bytes` };
}

/** A connection with an unread rest on it is of no more use. */
function write(response: ServerResponse, answer: HubAnswerBody, isLast: boolean): void {
  const { status, type, text } = rendered(answer);
  response.sendDate = false;
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    ...(status === 405 && { allow: text.includes('POST') ? 'POST' : 'GET' }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(isLast && { connection: 'close' }),
  });
  response.end(text);
}

function rendered(answer: HubAnswerBody): {
  readonly status: number;
  readonly type: string;
  readonly text: string;
} {
  switch (answer.kind) {
    case 'json':
      return { status: 200, type: 'application/json', text: JSON.stringify(answer.value) };
    case 'text':
      return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: answer.text };
    case 'refused':
      return {
        status: answer.status,
        type: 'application/json',
        text: errorText(answer.status, answer.message),
      };
  }
}

export function errorText(status: RefusalStatus, message: string): string {
  return JSON.stringify({ error: { status, message } });
}
