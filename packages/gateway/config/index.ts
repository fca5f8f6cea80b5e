export { reportPlainSecrets, withoutSecrets } from './check-secrets.ts';
export { databaseAddress } from './database-address.ts';
export type {
  ConfigChange,
  LiveConfigOptions,
  LiveGatewayConfig,
  ReloadResult,
} from './live-config.ts';
export { openLiveConfig } from './live-config.ts';
export type { LoadConfigOptions, LoadedGatewayConfig } from './load-config.ts';
export { loadGatewayConfig } from './load-config.ts';
export { repoByRemote } from './repo-by-remote.ts';
export type { SecretPlaces } from './secret-refs.ts';
export { parseSecretRef, resolveSecretRef } from './secret-refs.ts';
export type {
  BudgetRule,
  BudgetSettings,
  ConfigSecrets,
  ConfiguredRepo,
  ConfiguredTeam,
  ConfiguredUser,
  ConfiguredWebhook,
  DatabaseSettings,
  GatewayConfig,
  GatewaySettings,
  IdentitySettings,
  LimitSettings,
  RetentionSettings,
  TelemetrySettings,
  TlsSettings,
  WebhookSettings,
} from './types.ts';
