// A policy that came into force.
import { MODE, POLICY_REF } from '../decision/decision.ts';
import { boolean, json, optional, record, required } from '../shape/shape.ts';

export const POLICY_LOADED = {
  policy: required(POLICY_REF, 'The policy now in force.'),
  mode: required(MODE, 'How far it goes.'),
  reload: optional(boolean(), 'Whether it replaced another one while running.'),
  document: optional(
    record(json()),
    'Since 0.2.0: the compiled policy itself, as its hash covers it; left out when it is large.',
  ),
} as const;
