// The configuration of a gateway as it is used: all files read, checked against each other and frozen. A reload
// makes a new one; a turn keeps the one that it began with.
import type { WebhookEvent } from '@subluminal/contracts';
import type { Endpoint, Pool, Price, Repo } from '@subluminal/core/routing';
import type { TurnPolicy } from '@subluminal/core/turn-policy';

export interface GatewayConfig {
  /** The hash of all files: two gateways with the same version decide alike. */
  readonly version: string;
  readonly settings: GatewaySettings;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly prices: readonly Price[];
  readonly budgets: BudgetSettings;
  readonly webhooks: WebhookSettings;
  readonly identity: IdentitySettings;
  readonly policy: TurnPolicy;
  /** `policies/main.yaml` as written. */
  readonly policySource: { readonly file: string; readonly text: string };
  readonly secrets: ConfigSecrets;
}

/** What the references of the configuration lead to. Nothing prints or serializes the values. */
export interface ConfigSecrets {
  /** Undefined when the reference could not be resolved, or is not in the configuration. */
  get(ref: string): string | undefined;
}

/** `gateway.yaml`: what the server itself needs. */
export interface GatewaySettings {
  readonly tenantId: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** Null: plain HTTP, for loopback or behind a proxy that ends TLS. */
  readonly tls: TlsSettings | null;
  /** Addresses or CIDR ranges; empty lets every address in. */
  readonly ipAllowlist: readonly string[];
  /** Proxies whose `X-Forwarded-For` is believed; addresses or CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly limits: LimitSettings;
  /** Null: SQLite in the home of Subluminal. */
  readonly database: DatabaseSettings | null;
  readonly retention: RetentionSettings;
  readonly telemetry: TelemetrySettings;
  readonly approvals: { readonly expiresMs: number };
  readonly bindings: { readonly autoBind: boolean; readonly lifetimeDays: number };
  /** Versions of the local proxy; null asks for none. */
  readonly clients: { readonly versionMin: string | null; readonly versionLatest: string | null };
}

/** Paths of PEM files. With `clientCaFile`, a client must show a certificate of that authority. */
export interface TlsSettings {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | null;
}

export interface LimitSettings {
  readonly bodyBytesMax: number;
  /** The bodies of all turns under way together, in one process. */
  readonly bodiesBytesMax: number;
  /** Turns under way at the same time, in one process. */
  readonly turnsMax: number;
  readonly requestsPerMinute: number;
  readonly keyRequestsPerMinute: number;
  readonly failedLoginsPerMinute: number;
}

/** `url` holds no password; one with a password comes by reference. */
export type DatabaseSettings = { readonly url: string } | { readonly urlRef: string };

export interface RetentionSettings {
  readonly auditDays: number;
  readonly costDays: number;
  readonly routingDays: number;
  readonly rawDays: number;
}

export interface TelemetrySettings {
  readonly metrics: boolean;
  /** A reference to the token that may read `/metrics`, beside the keys of platform admins. */
  readonly metricsTokenRef: string | null;
  readonly otlpEndpoint: string | null;
  /** A reference to the value of `Authorization` for the collector. */
  readonly otlpAuthorizationRef: string | null;
}

/** One limit in money. */
export interface BudgetRule {
  readonly capMicros: number;
  readonly softMicros: number;
  readonly onExceeded: 'refuse' | 'require_approval' | 'warn';
}

/** `budgets.yaml`: the limit of a team or user is its own, else the default; null is no limit. */
export interface BudgetSettings {
  readonly teamMonth: BudgetRule | null;
  readonly userDay: BudgetRule | null;
  readonly run: BudgetRule | null;
  readonly teams: ReadonlyMap<string, BudgetRule>;
  readonly users: ReadonlyMap<string, BudgetRule>;
  readonly reservationExpiresMs: number;
}

export interface WebhookSettings {
  /** Hosts that webhooks may be sent to, also those that the API adds; `*.example.com` is every host below. */
  readonly allowedHosts: readonly string[];
  readonly allowPrivateAddresses: boolean;
  readonly hooks: readonly ConfiguredWebhook[];
}

export interface ConfiguredWebhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly secretRef: string;
}

export interface IdentitySettings {
  readonly users: ReadonlyMap<string, ConfiguredUser>;
  readonly teams: ReadonlyMap<string, ConfiguredTeam>;
  readonly repos: ReadonlyMap<string, ConfiguredRepo>;
}

export interface ConfiguredUser {
  readonly userId: string;
  readonly teamId: string;
  readonly email: string | null;
}

export interface ConfiguredTeam {
  readonly teamId: string;
  readonly name: string;
}

export interface ConfiguredRepo extends Repo {
  /** Remotes of the repository in one spelling, as `repoAddress` writes them. */
  readonly remotes: readonly string[];
  /** Users who answer for it. */
  readonly owners: readonly string[];
}
