export type { GatewayApi } from './gateway-api.ts';
export { createGatewayApi } from './gateway-api.ts';
export { openApiDocument } from './open-api-document.ts';
export type {
  ApiConfig,
  Explained,
  GatewayApiOptions,
  MetricsDesk,
  PolicyDesk,
  ReloadResult,
  WebhookDesk,
  WebhookTest,
} from './types.ts';
