// What the policy of the gateway decides about a turn: one primary action, modifiers, side effects.
import { array, type Infer, oneOf, open, optional, required, string } from '../shape/shape.ts';

export const PRIMARY_ACTION = oneOf(
  'allow',
  'block',
  'route',
  'route_to_private_model',
  'require_approval',
);
export const MODIFIER = oneOf('redact', 'escalate_to_strong_model');
export const SIDE_EFFECT = oneOf('shadow_eval', 'log_only');
export const TRUST_TIER = oneOf('vendor', 'partner', 'private');
export const POOL_NAMES = ['cheap', 'standard', 'strong', 'private_strong'] as const;

const names = array(string({ lengthMax: 256 }), { itemsMax: 256 });

export const MODEL_DECISION = open({
  primary_action: required(PRIMARY_ACTION, 'What happens to the turn.'),
  modifiers: required(array(MODIFIER), 'What is changed on the way.'),
  side_effects: required(array(SIDE_EFFECT), 'What happens beside it.'),
  model_pool: optional(string({ lengthMax: 256 }), 'The pool that is routed to.'),
  shadow_pool: optional(string({ lengthMax: 256 }), 'The pool of the shadow evaluation.'),
  reasons: required(names, 'The rules that contributed.'),
  required_trust_tier: optional(TRUST_TIER, 'The least trust that an endpoint needs.'),
  required_data_residency: optional(names, 'Where the data may go.'),
  required_capabilities: optional(names, 'What an endpoint must support.'),
  degraded_features: optional(names, 'What the route can not carry.'),
  approval_id: optional(string({ lengthMax: 64 }), 'The approval that is waited for.'),
});
export type ModelDecision = Infer<typeof MODEL_DECISION>;
export type PrimaryAction = Infer<typeof PRIMARY_ACTION>;
export type Modifier = Infer<typeof MODIFIER>;
export type SideEffect = Infer<typeof SIDE_EFFECT>;
export type TrustTier = Infer<typeof TRUST_TIER>;
