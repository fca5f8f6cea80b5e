// A manifest as compiled: ready to filter lists and to decide calls.
import type { NameTest } from '../../patterns/glob.ts';
import type { Hours, Rate } from '../../text/quantities.ts';
import type { ParamPattern } from '../names/param-paths.ts';
import type { BreakerFields, ManifestDocument, Tier } from './shape.ts';

export interface Limits {
  readonly rate: Rate | undefined;
  readonly hours: Hours | undefined;
  readonly cooldownMs: number | undefined;
}

export interface CompiledTool {
  /** As written; its counters are kept under it. */
  readonly name: string;
  readonly test: NameTest;
  /** Undefined when only the tiers' own lists say it. */
  readonly tier: Tier | undefined;
  readonly limits: Limits;
  readonly answerBytesMax: number | undefined;
}

/** How a person is asked. */
export interface Confirmation {
  readonly channel: string | undefined;
  readonly show: readonly string[];
  readonly timeoutMs: number | undefined;
}

export interface CompiledTier {
  readonly actions: readonly NameTest[];
  readonly limits: Limits;
  readonly confirmation: Confirmation;
}

export interface ParamLimit {
  readonly maximum?: number;
  readonly minimum?: number;
  readonly lengthMax?: number;
  readonly lengthMin?: number;
  readonly itemsMax?: number;
  readonly recipientsMax?: number;
  readonly bytesMax?: number;
  readonly values?: readonly (string | number | boolean)[];
  readonly pattern?: { readonly source: string; readonly test: NameTest };
}

export interface Constrained {
  readonly pattern: ParamPattern;
  readonly limit: ParamLimit;
}

export interface CompiledRewrite {
  readonly test: NameTest;
  readonly strips: readonly ParamPattern[];
  readonly constrained: readonly Constrained[];
}

export interface AllowEntry {
  readonly source: string;
  readonly test: NameTest;
  readonly exact: boolean;
  readonly allowed: boolean;
}

export interface BreakerSettings {
  readonly errorThreshold: number;
  readonly errorWindowMs: number;
  readonly latencyThresholdMs: number;
  readonly recoveryTimeoutMs: number;
  readonly recoveryProbes: number;
  readonly maxRecoveryBackoffMs: number;
}

export interface Manifest {
  readonly document: ManifestDocument;
  /** SHA-256 of the canonical document, its defaults written out. */
  readonly manifest_hash: string;
  readonly server: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  /** For tools that are not listed; `forbidden` unless the manifest says otherwise. */
  readonly defaultTier: Tier;
  readonly exact: ReadonlyMap<string, CompiledTool>;
  readonly globs: readonly CompiledTool[];
  /** The names that stand in it as they are, by their variant without case and separators. */
  readonly variants: ReadonlyMap<string, readonly string[]>;
  readonly tiers: { readonly [T in Tier]: CompiledTier };
  readonly blocked: readonly ParamPattern[];
  readonly rewrites: readonly CompiledRewrite[];
  readonly prompts: readonly AllowEntry[];
  readonly resources: readonly AllowEntry[];
  readonly breaker: BreakerSettings;
  readonly answers: { readonly bytesMax: number; readonly onExcess: 'refuse' | 'truncate' };
}

// The defaults of a manifest, written out, so that one meaning has one hash.

/** The figures of a breaker that the manifest does not set. */
const BREAKER_DEFAULTS = {
  error_threshold: 5,
  error_window: '60s',
  latency_threshold: '30s',
  recovery_timeout: '120s',
  recovery_probes: 3,
  max_recovery_backoff: '15m',
} as const satisfies BreakerFields;

/** Room for a long page of text, and far less than what floods a context. */
const ANSWER_BYTES_MAX = 1_048_576;

type Shown<E> = E & { readonly allowed: boolean };
type EntriesOf<F extends keyof ManifestDocument> = NonNullable<ManifestDocument[F]>;

export interface FullDocument extends ManifestDocument {
  readonly transport: EntriesOf<'transport'>;
  readonly default: EntriesOf<'default'>;
  readonly tiers: EntriesOf<'tiers'>;
  readonly allowed_tools: readonly Shown<EntriesOf<'allowed_tools'>[number]>[];
  readonly blocked_params: EntriesOf<'blocked_params'>;
  readonly schema_rewrites: EntriesOf<'schema_rewrites'>;
  readonly allowed_prompts: readonly Shown<EntriesOf<'allowed_prompts'>[number]>[];
  readonly allowed_resources: readonly Shown<EntriesOf<'allowed_resources'>[number]>[];
  readonly circuit_breaker: Required<BreakerFields>;
  readonly answers: Required<EntriesOf<'answers'>>;
}

export function withDefaults(document: ManifestDocument): FullDocument {
  return {
    ...document,
    transport: document.transport ?? 'stdio',
    default: document.default ?? 'deny',
    tiers: document.tiers ?? {},
    allowed_tools: (document.allowed_tools ?? []).map((tool) => ({
      ...tool,
      allowed: tool.allowed ?? tool.permission_tier !== 'forbidden',
    })),
    blocked_params: document.blocked_params ?? [],
    schema_rewrites: document.schema_rewrites ?? {},
    allowed_prompts: shown(document.allowed_prompts),
    allowed_resources: shown(document.allowed_resources),
    circuit_breaker: { ...BREAKER_DEFAULTS, ...document.circuit_breaker },
    answers: { max_size_bytes: ANSWER_BYTES_MAX, on_excess: 'refuse', ...document.answers },
  };
}

/** An entry of a list is allowed unless its `allowed` is false. */
function shown<E extends { readonly allowed?: boolean }>(
  entries: readonly E[] | undefined,
): readonly Shown<E>[] {
  return (entries ?? []).map((entry) => ({ ...entry, allowed: entry.allowed ?? true }));
}
