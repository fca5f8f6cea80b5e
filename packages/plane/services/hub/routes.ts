// Which request goes where, and what its body must look like.
import {
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
import type { CallLabel, RefusalStatus } from './metrics.ts';
import type { Hub, Reply } from './types.ts';

export type HubAnswerBody =
  | {
      readonly kind: 'json';
      readonly value: unknown;
      /** Of an evaluated call: what to count it as. */
      readonly call?: CallLabel;
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly status: RefusalStatus; readonly message: string };

export type Route =
  | { readonly method: 'GET'; readonly answer: () => HubAnswerBody }
  | {
      readonly method: 'POST';
      readonly answer: (body: unknown) => HubAnswerBody | Promise<HubAnswerBody>;
    };

const MESSAGE_LENGTH_MAX = 300;
const [TASK_PREFIX] = HUB_ENDPOINTS.task.path.split('{', 1);

/** Finds the route of a path. */
export function hubRoutes(
  hub: Hub,
  metricsText: () => string,
): (path: string) => Route | undefined {
  const { health, evaluate, observe, heartbeat, policy, result, terminate, metrics } =
    HUB_ENDPOINTS;
  const routes = new Map<string, Route>([
    [health.path, get(() => ({ kind: 'json', value: healthOf(hub) }))],
    [evaluate.path, post((body) => evaluated(hub, body))],
    [policy.path, post(async (body) => answered(await hub.policy(body)))],
    [observe.path, post(read(parseObserveRequest, (request) => hub.observe(request)))],
    [heartbeat.path, post(read(parseHeartbeatRequest, (request) => hub.heartbeat(request)))],
    [result.path, post(read(parseResultRequest, (request) => hub.result(request)))],
    [terminate.path, post(read(parseTerminateRequest, (request) => hub.terminate(request)))],
    [metrics.path, get(() => ({ kind: 'text', text: metricsText() }))],
  ]);
  // No call waits for a person here, so no task is known.
  const task = get(() => ({ kind: 'refused', status: 404, message: 'there is no such task' }));
  return (path) => routes.get(path) ?? (isTask(path) ? task : undefined);
}

function isTask(path: string): boolean {
  return TASK_PREFIX !== undefined && path.startsWith(TASK_PREFIX) && path !== TASK_PREFIX;
}

function healthOf(hub: Hub): HealthResponse {
  const judges = hub.judges.length === 0 ? {} : { judges: hub.judges };
  const status = hub.stopping ? 'stopping' : 'ok';
  return { status, v: PACK_VERSION, ...judges, ...hub.terms };
}

/**
 * The parameters are left out of the check: JSON.parse has made them, the bounds of the body hold,
 * and a call with very many parts must be decided like any other.
 */
function evaluated(hub: Hub, body: unknown): HubAnswerBody {
  if (!isObject(body)) return refused('the body must be an object');
  const { params, ...rest } = body;
  const parsed = parseEvaluateRequest(rest);
  if (!parsed.ok) return mismatched(parsed.mismatches);
  const reply = hub.evaluate(isJson(params) ? { ...parsed.value, params } : parsed.value);
  if (reply.kind === 'refused') return reply;
  const { decision, needs_policy } = reply.response;
  const label = decision === 'forward' ? 'forward' : 'deny';
  const call = needs_policy === true ? 'needs_policy' : label;
  return { kind: 'json', value: reply.response, call };
}

/** What JSON.parse has made is JSON, if it is there at all. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

function read<T>(
  parse: (value: unknown) => Parsed<T>,
  handle: (request: T) => Reply<unknown>,
): (body: unknown) => HubAnswerBody {
  return (body) => {
    const parsed = parse(body);
    return parsed.ok ? answered(handle(parsed.value)) : mismatched(parsed.mismatches);
  };
}

function answered(reply: Reply<unknown>): HubAnswerBody {
  return reply.kind === 'answer' ? { kind: 'json', value: reply.response } : reply;
}

function mismatched([first]: readonly Mismatch[]): HubAnswerBody {
  const where = first === undefined || first.path.length === 0 ? 'the top' : first.path.join('.');
  return refused(visible(`at ${where}: expected ${first?.expected}`, MESSAGE_LENGTH_MAX));
}

function refused(message: string): HubAnswerBody {
  return { kind: 'refused', status: 400, message };
}

function get(answer: () => HubAnswerBody): Route {
  return { method: 'GET', answer };
}

function post(answer: (body: unknown) => HubAnswerBody | Promise<HubAnswerBody>): Route {
  return { method: 'POST', answer };
}
