// The questions of the page to the ledger daemon, typed by its table of endpoints.
import type { ApiAnswerOf, ApiBodyOf, ApiEndpointName, ApiQueryOf } from '@subluminal/contracts';
import { LEDGER_PATHS } from './endpoint-paths.ts';
import { send, targetOf } from './request.ts';

/** What stands in the braces of a path. */
export type Ids = Readonly<Record<string, string>>;

interface ApiQuestion<N extends ApiEndpointName> {
  readonly query?: ApiQueryOf<N>;
  readonly ids?: Ids;
}

/** Asks once. */
export async function ask<N extends ApiEndpointName>(
  name: N,
  { query, ids = {} }: ApiQuestion<N> = {},
  signal?: AbortSignal,
): Promise<ApiAnswerOf<N>> {
  const target = targetOf(LEDGER_PATHS[name].path, ids, Object.entries(query ?? {}));
  const response = await send(target, { signal });
  return response.json();
}

interface QuestionOptions<N extends ApiEndpointName> {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<ApiAnswerOf<N>>;
}

/** The same for `useQuery`: `useQuery(asked('runs', { query: { limit: 50 } }))`. */
export function asked<N extends ApiEndpointName>(
  name: N,
  question: ApiQuestion<N> = {},
): QuestionOptions<N> {
  return {
    queryKey: [name, question.ids ?? {}, question.query ?? {}],
    queryFn: ({ signal }) => ask(name, question, signal),
  };
}

/** Sends a body, which may change something. */
export async function post<N extends ApiEndpointName>(
  name: N,
  body: ApiBodyOf<N>,
  ids: Ids = {},
): Promise<ApiAnswerOf<N>> {
  const target = targetOf(LEDGER_PATHS[name].path, ids, []);
  const response = await send(target, { method: 'POST', body });
  return response.json();
}
