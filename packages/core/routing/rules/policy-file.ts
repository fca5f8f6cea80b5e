// `policies/main.yaml` as people write it, and the verbs that its rules may use.
import {
  type Infer,
  type Modifier,
  type PrimaryAction,
  type SideEffect,
  TRUST_TIER,
} from '@subluminal/contracts';
import { choice, closed, list, may, must } from '../../section-shape.ts';

const RULES_MAX = 1_000;
const CONDITION_LENGTH_MAX = 16_384;
const NAME_LENGTH_MAX = 256;
const WORDS_MAX = 64;

const PRIMARY_VERBS = [
  'allow',
  'block',
  'route',
  'route_to_private_model',
  'require_approval',
] as const satisfies readonly PrimaryAction[];
const MODIFIER_VERBS = [
  'redact',
  'escalate_to_strong_model',
] as const satisfies readonly Modifier[];
const SIDE_EFFECT_VERBS = ['shadow_eval', 'log_only'] as const satisfies readonly SideEffect[];

const text = (lengthMin: number, lengthMax: number) => {
  return { kind: 'string', lengthMin, lengthMax } as const;
};
const NAME = text(1, NAME_LENGTH_MAX);
const WORDS = list(text(1, 1_024), WORDS_MAX);
const CONDITION = text(1, CONDITION_LENGTH_MAX);

export const TURN_RULE = closed({
  id: must(NAME),
  description: may(text(0, 4_096)),
  /** Larger is looked at first. */
  priority: may({ kind: 'integer', min: -1_000_000, max: 1_000_000 }),
  when: must(CONDITION),
  action: may(choice(...PRIMARY_VERBS, ...MODIFIER_VERBS, ...SIDE_EFFECT_VERBS)),
  modifiers: may(list(choice(...MODIFIER_VERBS), WORDS_MAX)),
  side_effects: may(list(choice(...SIDE_EFFECT_VERBS), WORDS_MAX)),
  model_pool: may(NAME),
  shadow_pool: may(NAME),
  /** `required_data_residency = ["eu"]`: what an endpoint must have. */
  emit: may(list(CONDITION, WORDS_MAX)),
  /** For the person who is refused. */
  reasons: may(WORDS),
});
export type WrittenTurnRule = Infer<typeof TURN_RULE>;

const ON_NO_MATCH = closed({
  action: must(choice(...PRIMARY_VERBS)),
  model_pool: may(NAME),
  reasons: may(WORDS),
});

export const TURN_POLICY_FILE = closed({
  version: must({ kind: 'integer', min: 1, max: 1 }),
  defaults: may(closed({ on_no_match: may(ON_NO_MATCH) })),
  rules: must(list(TURN_RULE, RULES_MAX)),
  variables: may({ kind: 'record', values: { kind: 'json' }, keyLengthMax: NAME_LENGTH_MAX }),
});
export type TurnPolicyFile = Infer<typeof TURN_POLICY_FILE>;

/** What holds when no rule routes a turn. */
export const DEFAULT_ON_NO_MATCH = {
  action: 'route',
  model_pool: 'standard',
  reasons: ['default-fallthrough'],
} as const satisfies Infer<typeof ON_NO_MATCH>;

export const STRONG_POOL = 'strong';
export const PRIVATE_POOL = 'private_strong';
export const TRUST_TIERS = TRUST_TIER.values;

/** What the verbs of a rule come to. */
export interface RuleEffect {
  readonly primary?: PrimaryAction;
  readonly pool?: string;
  readonly modifiers: readonly Modifier[];
  readonly sideEffects: readonly SideEffect[];
  readonly shadowPool?: string;
}

/** `action:` may also name a modifier or a side effect: shorthand for a list of one. */
export function ruleEffect(rule: WrittenTurnRule): RuleEffect {
  const { action, model_pool } = rule;
  const primary = PRIMARY_VERBS.find((verb) => verb === action);
  const modifiers = [
    ...MODIFIER_VERBS.filter((verb) => verb === action),
    ...(rule.modifiers ?? []),
  ];
  const sideEffects = [
    ...SIDE_EFFECT_VERBS.filter((verb) => verb === action),
    ...(rule.side_effects ?? []),
  ];
  const pool = primary === 'route_to_private_model' ? PRIVATE_POOL : model_pool;
  const shadowPool = action === 'shadow_eval' ? (rule.shadow_pool ?? model_pool) : rule.shadow_pool;
  return {
    ...(primary !== undefined && { primary }),
    ...(primary !== undefined && pool !== undefined && { pool }),
    modifiers: [...new Set(modifiers)],
    sideEffects: [...new Set(sideEffects)],
    ...(shadowPool !== undefined && { shadowPool }),
  };
}
