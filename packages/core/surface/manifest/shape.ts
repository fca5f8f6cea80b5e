// The fields of a capability manifest, as a shape: what is not here is an unknown field.
import type { Infer, Shape } from '@subluminal/contracts';
import { choice, closed, list, may, must } from '../../section-shape.ts';

export const NAME_LENGTH_MAX = 1_024;
export const TOOLS_MAX = 2_000;
const PATTERNS_MAX = 500;

const text = (lengthMax: number) => ({ kind: 'string', lengthMin: 1, lengthMax }) as const;
const whole = (min: number, max: number) => ({ kind: 'integer', min, max }) as const;
const NUMBER = { kind: 'number' } as const;
const FLAG = { kind: 'boolean' } as const;
const SHORT = text(64);

function record<const S extends Shape>(values: S) {
  return { kind: 'record', values, keyLengthMax: NAME_LENGTH_MAX } as const;
}

const NAME = text(NAME_LENGTH_MAX);
export const TIERS = ['auto_execute', 'log_and_execute', 'human_approval', 'forbidden'] as const;
const TIER = choice(...TIERS);

const HOURS = closed({
  from: must(SHORT),
  to: must(SHORT),
  days: may(list(choice('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'), 7, 1)),
  utc_offset: may(SHORT),
});

const LIMITS = { rate_limit: may(SHORT), hours: may(HOURS), cooldown: may(SHORT) } as const;

const TOOL = closed({
  name: must(NAME),
  allowed: may(FLAG),
  requires_approval: may(FLAG),
  permission_tier: may(TIER),
  max_answer_bytes: may(whole(1, 1_073_741_824)),
  ...LIMITS,
});

const TIER_RULES = closed({
  description: may(text(1_000)),
  actions: may(list(NAME, TOOLS_MAX)),
  constraints: may(closed(LIMITS)),
  confirmation: may(
    closed({ channel: may(SHORT), show: may(list(SHORT, 20)), timeout: may(SHORT) }),
  ),
});

const CONSTRAINT = closed({
  maximum: may(NUMBER),
  minimum: may(NUMBER),
  max_length: may(whole(0, 1_073_741_824)),
  min_length: may(whole(0, 1_073_741_824)),
  max_items: may(whole(0, 1_000_000)),
  max_recipients: may(whole(0, 900)),
  max_size_bytes: may(whole(0, 1_073_741_824)),
  enum: may(list({ kind: 'scalar', lengthMax: 4_096 } as const, 1_000, 1)),
  pattern: may(text(1_000)),
});

const REWRITE = closed({
  strip_params: may(list(NAME, PATTERNS_MAX)),
  constrain_params: may(record(CONSTRAINT)),
});

const BREAKER = closed({
  error_threshold: may(whole(1, 1_000)),
  error_window: may(SHORT),
  latency_threshold: may(SHORT),
  recovery_timeout: may(SHORT),
  recovery_probes: may(whole(1, 100)),
  max_recovery_backoff: may(SHORT),
});

const ANSWERS = closed({
  max_size_bytes: may(whole(1, 1_073_741_824)),
  on_excess: may(choice('refuse', 'truncate')),
});

export const MANIFEST = closed({
  server: must(NAME),
  transport: may(choice('stdio', 'http', 'sse')),
  version: may(SHORT),
  description: may(text(1_000)),
  default: may(choice('deny', 'human_approval', 'log_and_execute', 'auto_execute')),
  tiers: may(
    closed({
      auto_execute: may(TIER_RULES),
      log_and_execute: may(TIER_RULES),
      human_approval: may(TIER_RULES),
      forbidden: may(TIER_RULES),
    }),
  ),
  allowed_tools: may(list(TOOL, TOOLS_MAX)),
  blocked_params: may(list(closed({ pattern: must(NAME) }), PATTERNS_MAX)),
  schema_rewrites: may(record(REWRITE)),
  allowed_prompts: may(list(closed({ name: must(NAME), allowed: may(FLAG) }), TOOLS_MAX)),
  allowed_resources: may(list(closed({ uri: must(NAME), allowed: may(FLAG) }), TOOLS_MAX)),
  circuit_breaker: may(BREAKER),
  answers: may(ANSWERS),
});

export type ManifestDocument = Infer<typeof MANIFEST>;
export type Tier = (typeof TIERS)[number];
export type ToolEntry = NonNullable<ManifestDocument['allowed_tools']>[number];
type TierRules = NonNullable<NonNullable<ManifestDocument['tiers']>[Tier]>;
export type LimitFields = NonNullable<TierRules['constraints']>;
type RewriteFields = NonNullable<ManifestDocument['schema_rewrites']>[string];
export type Constraint = NonNullable<RewriteFields['constrain_params']>[string];
export type BreakerFields = NonNullable<ManifestDocument['circuit_breaker']>;
