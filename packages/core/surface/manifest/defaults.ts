// What a manifest means where it is silent, written out: one hash for one meaning.
import type { BreakerFields, ManifestDocument } from './shape.ts';

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

/** Who stands in a list of what is allowed is allowed, unless it says otherwise. */
function shown<E extends { readonly allowed?: boolean }>(
  entries: readonly E[] | undefined,
): readonly Shown<E>[] {
  return (entries ?? []).map((entry) => ({ ...entry, allowed: entry.allowed ?? true }));
}
