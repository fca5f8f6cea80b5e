// What routing knows: endpoints, pools, prices.
import type { TrustTier } from '@subluminal/contracts';

export type ProviderName =
  | 'anthropic'
  | 'openai'
  | 'openai_compat'
  | 'openrouter'
  | 'litellm'
  | 'azure_openai';

/** What an endpoint may be asked for. */
export const CAPABILITIES = [
  'streaming',
  'tools',
  'cache_control',
  'extended_thinking',
  'images',
  'responses',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** A place that turns may go to. Only registered ones are ever called. */
export interface Endpoint {
  readonly id: string;
  readonly provider: ProviderName;
  readonly url: string;
  /** `env://NAME`, `file:///path` or `vault://NAME`; none for an endpoint that wants no key. */
  readonly keyRef?: string;
  /** Keys of teams that bring their own, by team. */
  readonly teamKeyRefs: { readonly [teamId: string]: string };
  readonly dataResidency: string;
  readonly trustTier: TrustTier;
  readonly supports: ReadonlySet<Capability>;
  readonly deployments: readonly string[];
  readonly apiVersion?: string;
  readonly concurrencyMax: number;
}

export interface PoolMember {
  readonly endpointId: string;
  readonly model: string;
  readonly deployment?: string;
  readonly weight: number;
}

export interface Pool {
  readonly name: string;
  readonly members: readonly PoolMember[];
  readonly fallbackPool?: string;
  readonly attemptsMax: number;
  readonly timeoutMs: number;
  /** What a turn may answer at most when it does not say so itself: what is reserved for it. */
  readonly outputTokensMax: number;
}

/** Micro-dollars for a million tokens. */
export interface Price {
  readonly provider: string;
  readonly endpointId?: string;
  readonly model: string;
  readonly inputMicros: number;
  readonly outputMicros: number;
  readonly cacheWriteMicros: number;
  readonly cacheWriteHourMicros: number;
  readonly cacheReadMicros: number;
  readonly isEstimated: boolean;
}

/** Who calls, as the gateway knows it: by the key, never by what the client says. */
export interface Caller {
  readonly tenantId: string;
  readonly userId: string;
  readonly teamId: string;
  readonly role: 'developer' | 'team_admin' | 'platform_admin';
  readonly keyId: string;
}

export interface Repo {
  readonly id: string;
  readonly teamId?: string;
  readonly sensitivity: 'low' | 'medium' | 'high' | 'unknown';
  readonly tags: readonly string[];
  readonly storage: 'metadata_only' | 'disabled';
}

/** What the gateway itself makes of a turn. */
export interface ServerClass {
  readonly taskType: string;
  readonly complexity: string;
  readonly dataSensitivity: string;
  readonly isAgenticLoop: boolean;
  readonly hasSecretFinding: boolean;
  readonly hasPersonalDataFinding: boolean;
  readonly findings: readonly { readonly type: string; readonly confidence: string }[];
  readonly languages: readonly string[];
}

/** The state of the budgets that hold for a caller, what is reserved included. */
export interface BudgetSnapshot {
  readonly teamMonthlyUsedMicros: number;
  readonly teamMonthlyReservedMicros: number;
  readonly teamMonthlyCapMicros: number | null;
  readonly userDailyUsedMicros: number;
  readonly userDailyReservedMicros: number;
  readonly userDailyCapMicros: number | null;
  readonly isSoftHit: boolean;
  readonly isHardHit: boolean;
}
