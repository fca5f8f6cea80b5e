// The questions of the page to a gateway, typed by its table of endpoints.
import type {
  GatewayAnswerOf,
  GatewayBodyOf,
  GatewayEndpointName,
  GatewayQueryOf,
} from '@subluminal/contracts';
import { GATEWAY_PATHS } from './endpoint-paths.ts';
import type { Ids } from './ledger.ts';
import { send, targetOf } from './request.ts';

interface GatewayQuestion<N extends GatewayEndpointName> {
  readonly query?: GatewayQueryOf<N>;
  readonly ids?: Ids;
}

/** Asks once. */
export async function askGateway<N extends GatewayEndpointName>(
  name: N,
  { query, ids = {} }: GatewayQuestion<N> = {},
  signal?: AbortSignal,
): Promise<GatewayAnswerOf<N>> {
  const target = targetOf(GATEWAY_PATHS[name].path, ids, Object.entries(query ?? {}));
  const response = await send(target, { signal });
  return response.json();
}

/** For `useQuery`: `useQuery(askedGateway('budgets'))`. */
export function askedGateway<N extends GatewayEndpointName>(
  name: N,
  question: GatewayQuestion<N> = {},
) {
  return {
    queryKey: ['gateway', name, question.ids ?? {}, question.query ?? {}],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => askGateway(name, question, signal),
  };
}

/** Sends a body, which may change something. */
export async function postGateway<N extends GatewayEndpointName>(
  name: N,
  body: GatewayBodyOf<N>,
  ids: Ids = {},
): Promise<GatewayAnswerOf<N>> {
  const target = targetOf(GATEWAY_PATHS[name].path, ids, []);
  const response = await send(target, { method: 'POST', body });
  return response.json();
}

/** Takes something back or away. */
export async function deleteGateway<N extends GatewayEndpointName>(
  name: N,
  ids: Ids,
): Promise<GatewayAnswerOf<N>> {
  const response = await send(targetOf(GATEWAY_PATHS[name].path, ids, []), {
    method: 'DELETE',
  });
  return response.json();
}
