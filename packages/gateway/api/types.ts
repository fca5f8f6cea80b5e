// What the API needs of the gateway around it.
import type { ExplainRequest, Failure, JsonValue, WebhookEvent } from '@subluminal/contracts';
import type { Caller, Endpoint, Pool } from '@subluminal/core/routing';
import type { Pages } from '@subluminal/plane/api/pages';
import type {
  AddressRules,
  Authenticator,
  Onboarding,
  PageKeys,
  RepoBindings,
} from '../auth/index.ts';
import type { BudgetLimit, GatewayStore, WebhookRow } from '../store/types.ts';

export interface GatewayApiOptions {
  readonly tenantId: string;
  readonly store: GatewayStore;
  readonly authenticator: Authenticator;
  readonly onboarding: Onboarding;
  readonly bindings: RepoBindings;
  readonly pageKeys: PageKeys;
  /** The files of the page; without them there is none. */
  readonly pages?: Pages;
  readonly addresses: AddressRules;
  /** Asked for each request: a reload counts for the next one. */
  readonly config: () => ApiConfig;
  readonly policy: PolicyDesk;
  readonly webhooks: WebhookDesk;
  /** The text of `/metrics`; without it there is none. */
  readonly metrics?: MetricsDesk;
  /** Of the gateway. */
  readonly version: string;
  readonly nowMs: () => number;
  /** UUIDs that sort by time: ids of traces and keys. */
  readonly newId: () => string;
  /** Called when the setup token was used. */
  readonly onSetup?: () => void;
  /** For what goes wrong without stopping anything. It never holds a secret. */
  readonly onWarning?: (message: string) => void;
  readonly limits?: Partial<ApiLimits>;
}

/** The part of the configuration that the API shows or needs. */
export interface ApiConfig {
  readonly pools: readonly Pool[];
  readonly endpoints: readonly Endpoint[];
  readonly teamOf: (userId: string) => string | undefined;
  readonly emailOf: (userId: string) => string | null;
  /** The teams that the configuration has. */
  readonly teams: readonly string[];
  /** What people call a team. */
  readonly teamName: (teamId: string) => string | null;
  /** The limits that hold for a user, without those of a run. */
  readonly limitsFor: (user: {
    readonly userId: string;
    readonly teamId: string;
    readonly nowMs: number;
  }) => readonly BudgetLimit[];
  /** The oldest proxy that is served; null serves all. */
  readonly minimumVersion: string | null;
  /** The version that older proxies are told of. */
  readonly latestVersion: string | null;
}

export interface PolicyDesk {
  version(): string;
  /** The policy as it was read. */
  current(): JsonValue;
  reload(): Promise<ReloadResult>;
  explain(request: ExplainRequest, caller: Caller): Promise<Explained | Failure>;
  /** The rules that can apply to a user. */
  rulesFor(caller: Caller): readonly JsonValue[];
}

export interface ReloadResult {
  readonly changed: boolean;
  readonly problems: readonly {
    readonly file: string;
    readonly line: number;
    readonly message: string;
    readonly fix: string;
  }[];
}

export interface Explained {
  readonly decision: JsonValue;
  readonly rules: readonly JsonValue[];
}

/** Webhooks: those of the configuration and those that the API added. */
export interface WebhookDesk {
  configured(): readonly WebhookRow[];
  /** Why a webhook can not be used. */
  check(webhook: {
    readonly url: string;
    readonly secretRef: string;
  }): Promise<Failure | undefined>;
  /** Sends one message now, and tells what came of it. */
  test(webhook: WebhookRow): Promise<WebhookTest>;
  /** Queues a message for every webhook that wants the event. */
  emit(event: WebhookEvent, data: { readonly [name: string]: JsonValue }): Promise<void>;
}

export interface WebhookTest {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

export interface MetricsDesk {
  readonly contentType: string;
  text(): Promise<string>;
  /** Whether this token may read them; platform admins always may. */
  isScraper(token: string): boolean;
  /** One request of the API has been answered. */
  answered(endpoint: string, status: number): void;
}

export const API_LIMITS = {
  streamsMax: 256,
  /** Of one user: nobody may take all of them. */
  userStreamsMax: 8,
  /** How often a stream says that it lives, and asks whether its key does. */
  keepAliveMs: 15_000,
};
export type ApiLimits = { readonly [K in keyof typeof API_LIMITS]: number };
