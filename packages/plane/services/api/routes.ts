// How an endpoint of the contract becomes a route: its parameters and its body are read, and what
// the work gives back is answered.
import type { HttpBindings } from '@hono/node-server';
import type { ApiInput, ApiQuery } from '@subluminal/contracts';
import type { Context, Hono } from 'hono';
import { type ApiAnswer, apiResponse, failureResponse, routePath } from './http-answer.ts';
import { type HttpFailure, isHttpFailure } from './http-failure.ts';
import { readInput, readParameters } from './read-request.ts';

type HonoEnv = { Bindings: HttpBindings };
export type ApiApp = Hono<HonoEnv>;
export type AppContext = Context<HonoEnv>;
/** The names in the path of an endpoint. */
type PathIds = Partial<Record<string, string>>;

export function get<T>(
  app: ApiApp,
  { path, query }: { readonly path: string; readonly query: ApiQuery<T> },
  work: (query: T, ids: PathIds, context: AppContext) => Promise<ApiAnswer>,
): void {
  app.get(routePath(path), async (context) => {
    const read = parametersOf(context, query);
    return apiResponse(
      context,
      isHttpFailure(read) ? read : await work(read, context.req.param(), context),
    );
  });
}

/** One JSON object comes as the body. */
export function post<T>(
  app: ApiApp,
  endpoint: {
    readonly path: string;
    readonly query: ApiQuery<unknown>;
    readonly input: ApiInput<T>;
  },
  work: (input: T, ids: PathIds, context: AppContext) => ApiAnswer | Promise<ApiAnswer>,
): void {
  app.post(routePath(endpoint.path), async (context) => {
    const input = await readInput(context.env.incoming, endpoint.input);
    if (isHttpFailure(input)) return failureResponse(context, input);
    const read = parametersOf(context, endpoint.query);
    return apiResponse(
      context,
      isHttpFailure(read) ? read : await work(input, context.req.param(), context),
    );
  });
}

export function parametersOf<T>(context: AppContext, query: ApiQuery<T>): T | HttpFailure {
  return readParameters(query, context.env.incoming.url ?? '');
}
