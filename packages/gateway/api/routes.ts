// How an endpoint of the contract becomes a route: who asks, whether they may, what they ask, and the answer.
import type { HttpBindings } from '@hono/node-server';
import {
  type ApiInput,
  type ApiQuery,
  type Failure,
  type GatewayEndpoint,
  isFailure,
} from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import { visible } from '@subluminal/core/visible';
import {
  type ApiAnswer,
  apiResponse,
  failureResponse,
  routePath,
} from '@subluminal/plane/api/http-answer';
import {
  type HttpFailure,
  httpFailure,
  isHttpFailure,
  NOT_FOUND,
} from '@subluminal/plane/api/http-failure';
import { bodyFailure, readInput, readParameters } from '@subluminal/plane/api/read-request';
import { type Context, Hono } from 'hono';
import { clientAddress, hasKeyHeader, hasPageToken, requestKey } from '../auth/index.ts';
import { hasRole, roleFailure } from './scope.ts';
import type { GatewayApiOptions } from './types.ts';

export type HonoEnv = { Bindings: HttpBindings; Variables: { traceId: string } };
export type ApiContext = Context<HonoEnv>;

/** One request, read. */
export interface Ask<Q> {
  readonly query: Q;
  /** The parts of the path. */
  readonly ids: Partial<Record<string, string>>;
  readonly traceId: string;
  readonly address: string;
  readonly context: ApiContext;
}

export interface CallerAsk<Q> extends Ask<Q> {
  readonly caller: Caller;
}

interface RouteEndpoint<Q> extends Omit<GatewayEndpoint, 'query'> {
  readonly query: ApiQuery<Q>;
}

interface InputEndpoint<I> extends GatewayEndpoint {
  readonly input: ApiInput<I>;
}

const WARNING_LENGTH_MAX = 500;
const SECOND_MS = 1_000;
const UNKNOWN: HttpFailure = {
  ...httpFailure(401, 'SUB_GATEWAY_KEY'),
  headers: { 'www-authenticate': 'Bearer realm="subluminal"' },
};

export class Routes {
  readonly app = new Hono<HonoEnv>();
  readonly #options: GatewayApiOptions;
  readonly #methods = new Map<string, string[]>();

  constructor(options: GatewayApiOptions) {
    this.#options = options;
    this.app.notFound((context) => refuse(context, NOT_FOUND));
    this.app.onError((cause, context) => refuse(context, this.#thrown(cause)));
  }

  /** An endpoint for whoever has a key of the endpoint's role. */
  add<Q>(
    endpoint: RouteEndpoint<Q>,
    work: (ask: CallerAsk<Q>) => Promise<ApiAnswer> | ApiAnswer,
  ): void {
    const { role } = endpoint;
    this.#add(endpoint, async (context, address) => {
      const caller = await this.authenticate(context, address);
      if (isHttpFailure(caller)) return caller;
      if (role !== 'anyone' && !hasRole(caller, role)) return roleFailure(`It needs ${role}.`);
      const ask = readAsk(context, endpoint, address);
      return isHttpFailure(ask) ? ask : work({ ...ask, caller });
    });
  }

  /** The same with a body. */
  addInput<I>(
    endpoint: InputEndpoint<I>,
    work: (ask: CallerAsk<unknown>, input: I) => Promise<ApiAnswer>,
  ): void {
    this.add(endpoint, async (ask) => {
      const input = await readInput(ask.context.env.incoming, endpoint.input);
      return isHttpFailure(input) ? input : work(ask, input);
    });
  }

  /** An endpoint that needs no key. */
  addOpen<Q>(
    endpoint: RouteEndpoint<Q>,
    work: (ask: Ask<Q>) => Promise<ApiAnswer> | ApiAnswer,
  ): void {
    this.#add(endpoint, async (context, address) => {
      const ask = readAsk(context, endpoint, address);
      return isHttpFailure(ask) ? ask : work(ask);
    });
  }

  /** Exchanges a token for something: wrong ones are counted as wrong keys are. */
  addExchange<I>(
    endpoint: InputEndpoint<I>,
    work: (ask: Ask<unknown>, input: I) => Promise<object | Failure>,
  ): void {
    const { authenticator } = this.#options;
    this.addOpen(endpoint, async (ask) => {
      const waitMs = authenticator.exchangeWaitMs(ask.address);
      if (waitMs > 0) return limited(waitMs);
      const input = await readInput(ask.context.env.incoming, endpoint.input);
      if (isHttpFailure(input)) return input;
      const done = await work(ask, input);
      if (!isFailure(done)) return done;
      authenticator.countWrongExchange(ask.address);
      return { ...done, status: 403 };
    });
  }

  /** After all others: a known path with another method is told which it takes. */
  addMethodRefusals(): void {
    for (const [path, methods] of this.#methods) {
      const allow = methods.join(', ');
      const failure = httpFailure(405, 'SUB_API_REQUEST', `This address takes ${allow}.`);
      this.app.all(path, (context) => refuse(context, { ...failure, headers: { allow } }));
    }
  }

  /** Who asks, by a key in a header or by the session of a page. Whoever shows a key is known by that alone. */
  async authenticate(context: ApiContext, address: string): Promise<Caller | HttpFailure> {
    const { incoming } = context.env;
    const { pageKeys } = this.#options;
    if (hasKeyHeader(incoming)) return this.callerOf(requestKey(incoming), address);
    // A page that is opened asks before it has a session: no key was tried.
    if (!hasPageToken(incoming)) return UNKNOWN;
    return this.callerOf(pageKeys.read(incoming)?.apiKey, address);
  }

  /** Whose key it is. Wrong ones are counted. */
  async callerOf(key: string | undefined, address: string): Promise<Caller | HttpFailure> {
    const found = await this.#options.authenticator.authenticateKey(key, address);
    if (found.kind === 'caller') return found.caller;
    return found.kind === 'limited' ? limited(found.retryAfterMs) : UNKNOWN;
  }

  #add(
    endpoint: Pick<GatewayEndpoint, 'method' | 'path'>,
    work: (context: ApiContext, address: string) => Promise<ApiAnswer>,
  ): void {
    const path = routePath(endpoint.path);
    this.#methods.set(path, [...(this.#methods.get(path) ?? []), endpoint.method]);
    const name = `${endpoint.method} ${endpoint.path}`;
    this.app.on(endpoint.method, path, async (context, next) => {
      // The router takes HEAD for GET; a stream would be opened that nobody reads.
      if (context.req.method !== endpoint.method) return next();
      const address = clientAddress(context.env.incoming, this.#options.addresses);
      const answer = await work(context, address).catch((cause: unknown) => this.#thrown(cause));
      const response = apiResponse(context, isHttpFailure(answer) ? inOurWords(answer) : answer);
      this.#options.metrics?.answered(name, response.status);
      return response;
    });
  }

  /** The words of a store may name hosts and files, so only its code travels. */
  #thrown(cause: unknown): HttpFailure {
    const text = visible(String(cause), WARNING_LENGTH_MAX);
    this.#options.onWarning?.(`The API could not answer: ${text}`);
    return isFailure(cause) ? httpFailure(503, cause.code) : httpFailure(500, 'SUB_INTERNAL');
  }
}

function limited(retryAfterMs: number): HttpFailure {
  const headers = { 'retry-after': String(Math.ceil(retryAfterMs / SECOND_MS)) };
  return { ...httpFailure(429, 'SUB_GATEWAY_LIMIT', 'There are too many requests.'), headers };
}

function readAsk<Q>(
  context: ApiContext,
  endpoint: RouteEndpoint<Q>,
  address: string,
): Ask<Q> | HttpFailure {
  const { incoming } = context.env;
  const { input } = endpoint;
  const expected = input && { bytesMax: input.bytesMax, type: 'application/json' };
  const wrong = bodyFailure(incoming.headers, expected);
  if (wrong !== undefined) return wrong;
  const query = readParameters(endpoint.query, incoming.url ?? '');
  if (isHttpFailure(query)) return query;
  return { query, ids: context.req.param(), traceId: context.get('traceId'), address, context };
}

function refuse(context: ApiContext, failure: HttpFailure): Response {
  return failureResponse(context, inOurWords(failure));
}

/** The fixes of the table speak of the ledger's API. */
export function inOurWords(failure: HttpFailure): HttpFailure {
  if (failure.code === 'SUB_API_REQUEST') {
    const fix =
      'Correct what the message names; docs/reference/gateway-api.md lists the parameters.';
    return { ...failure, fix };
  }
  if (failure.code !== 'SUB_API_HOST') return failure;
  return {
    ...failure,
    fix: 'Use the address of the gateway itself, from no page of another site.',
  };
}
