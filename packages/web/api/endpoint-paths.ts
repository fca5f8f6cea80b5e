// The paths of all endpoints. The build evaluates this file and keeps nothing but the paths (vite.config.ts): the shapes
// of questions and answers, with all their descriptions, stay out of the page.
import {
  API_ENDPOINTS,
  type ApiEndpointName,
  GATEWAY_ENDPOINTS,
  type GatewayEndpointName,
} from '@subluminal/contracts';

type Paths<N extends string> = Readonly<Record<N, { readonly path: string }>>;

export const LEDGER_PATHS: Paths<ApiEndpointName> = API_ENDPOINTS;
export const GATEWAY_PATHS: Paths<GatewayEndpointName> = GATEWAY_ENDPOINTS;
