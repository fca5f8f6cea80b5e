// The files of the configuration as what the gateway works with.
import type {
  BudgetsFile,
  GatewayFile,
  PoolsFile,
  ReposFile,
  WebhooksFile,
} from '@subluminal/contracts';
import { definedFields } from '@subluminal/contracts';
import { CAPABILITIES, type Endpoint, type Pool } from '@subluminal/core/routing';
import { repoAddress } from '../auth/repo-address.ts';
import type {
  BudgetRule,
  BudgetSettings,
  ConfiguredRepo,
  DatabaseSettings,
  GatewaySettings,
  WebhookSettings,
} from './types.ts';

const MICROS_PER_DOLLAR = 1_000_000;

export function endpointsOf({ provider_endpoints }: PoolsFile): ReadonlyMap<string, Endpoint> {
  const entries = Object.entries(provider_endpoints).map(([id, one]): [string, Endpoint] => [
    id,
    {
      id,
      provider: one.provider,
      url: one.url.replace(/\/+$/, ''),
      teamKeyRefs: one.team_key_refs ?? {},
      dataResidency: one.data_residency,
      trustTier: one.trust_tier,
      supports: new Set(CAPABILITIES.filter((capability) => one.supports[capability])),
      deployments: one.deployments,
      concurrencyMax: one.concurrency_max,
      ...definedFields({ keyRef: one.key_ref, apiVersion: one.api_version }),
    },
  ]);
  return new Map(entries);
}

export function poolsOf({ pools }: PoolsFile): ReadonlyMap<string, Pool> {
  const entries = Object.entries(pools).map(([name, pool]): [string, Pool] => [
    name,
    {
      name,
      members: pool.members.map(({ endpoint_id, model, deployment, weight }) => ({
        endpointId: endpoint_id,
        model,
        weight,
        ...definedFields({ deployment }),
      })),
      attemptsMax: pool.max_attempts,
      timeoutMs: pool.timeout_ms,
      outputTokensMax: pool.max_output_tokens,
      ...definedFields({ fallbackPool: pool.fallback_pool ?? undefined }),
    },
  ]);
  return new Map(entries);
}

export function budgetsOf(file: BudgetsFile): BudgetSettings {
  const { defaults, teams, users, reservation_expires_ms } = file;
  const rule = (limit: BudgetLimitEntry | undefined) =>
    limit === undefined ? null : budgetRule(limit);
  return {
    teamMonth: rule(defaults.team_monthly),
    userDay: rule(defaults.user_daily),
    run: rule(defaults.run),
    teams: new Map(Object.entries(teams).map(([team, { monthly }]) => [team, budgetRule(monthly)])),
    users: new Map(Object.entries(users).map(([user, { daily }]) => [user, budgetRule(daily)])),
    reservationExpiresMs: reservation_expires_ms,
  };
}

type BudgetLimitEntry = BudgetsFile['teams'][string]['monthly'];

function budgetRule({ cap_usd, soft_percent, on_exceeded }: BudgetLimitEntry): BudgetRule {
  const capMicros = Math.round(cap_usd * MICROS_PER_DOLLAR);
  const softMicros = Math.floor((capMicros * soft_percent) / 100);
  return { capMicros, softMicros, onExceeded: on_exceeded };
}

export function webhooksOf(file: WebhooksFile): WebhookSettings {
  return {
    allowedHosts: file.allowed_hosts.map((host) => host.toLowerCase()),
    allowPrivateAddresses: file.allow_private_addresses,
    hooks: file.webhooks.map(({ id, url, events, secret_ref }) => {
      return { id, url, events, secretRef: secret_ref };
    }),
  };
}

export function reposOf({ repos }: ReposFile): ReadonlyMap<string, ConfiguredRepo> {
  const entries = repos.map((repo): [string, ConfiguredRepo] => [
    repo.repo_id,
    {
      id: repo.repo_id,
      sensitivity: repo.sensitivity,
      tags: repo.tags,
      storage: repo.storage,
      owners: repo.owners,
      remotes: repo.remotes.flatMap((remote) => repoAddress(remote) ?? []),
      ...definedFields({ teamId: repo.team_id }),
    },
  ]);
  return new Map(entries);
}

export function settingsOf(file: GatewayFile): GatewaySettings {
  const { limits, retention, telemetry, tls } = file;
  return {
    tenantId: file.tenant_id,
    listen: file.listen,
    tls:
      (tls && {
        certFile: tls.cert_file,
        keyFile: tls.key_file,
        clientCaFile: tls.client_ca_file ?? null,
      }) ||
      null,
    ipAllowlist: file.ip_allowlist,
    trustedProxies: file.trusted_proxies,
    limits: {
      bodyBytesMax: limits.body_bytes_max,
      bodiesBytesMax: limits.bodies_bytes_max,
      turnsMax: limits.turns_max,
      requestsPerMinute: limits.requests_per_minute,
      keyRequestsPerMinute: limits.key_requests_per_minute,
      failedLoginsPerMinute: limits.failed_logins_per_minute,
    },
    database: databaseOf(file),
    retention: {
      auditDays: retention.audit_days,
      costDays: retention.cost_days,
      routingDays: retention.routing_days,
      rawDays: retention.raw_days,
    },
    telemetry: {
      metrics: telemetry.metrics,
      metricsTokenRef: telemetry.metrics_token_ref ?? null,
      otlpEndpoint: telemetry.otlp_endpoint ?? null,
      otlpAuthorizationRef: telemetry.otlp_authorization_ref ?? null,
    },
    approvals: { expiresMs: file.approvals.expires_ms },
    bindings: { autoBind: file.bindings.auto_bind, lifetimeDays: file.bindings.lifetime_days },
    clients: {
      versionMin: file.clients.version_min ?? null,
      versionLatest: file.clients.version_latest ?? null,
    },
  };
}

function databaseOf({ database }: GatewayFile): DatabaseSettings | null {
  if (database?.url_ref !== undefined) return { urlRef: database.url_ref };
  return database?.url === undefined ? null : { url: database.url };
}
