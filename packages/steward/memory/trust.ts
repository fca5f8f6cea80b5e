// How far a memory is believed. It follows from where the text is from and from the user's confirmation, and from
// nothing else: not from how often it was said or used, not from a model, not from its own words.
import type { Provenance } from './types.ts';

const TRUST: { readonly [provenance in Provenance]: number } = {
  user_instruction: 1,
  agent_observation: 0.7,
  tool_result: 0.5,
  external_content: 0.4,
};
const CONFIRMED_TRUST = 0.9;
const DAY_MS = 86_400_000;
/** Text from outside has half its influence after so long. */
const HALF_LIFE_MS = 30 * DAY_MS;

export interface TrustFacts {
  readonly provenance: Provenance;
  readonly createdMs: number;
  readonly confirmedMs: number | null;
}

export function trustOf({ provenance, confirmedMs }: TrustFacts): number {
  const own = TRUST[provenance];
  return confirmedMs === null ? own : Math.max(own, CONFIRMED_TRUST);
}

export function freshnessOf(facts: TrustFacts, nowMs: number): number {
  if (facts.confirmedMs !== null || !isFromOutside(facts.provenance)) return 1;
  const ageMs = Math.max(0, nowMs - facts.createdMs);
  return 0.5 ** (ageMs / HALF_LIFE_MS);
}

export function isFromOutside(provenance: Provenance): boolean {
  return provenance === 'external_content' || provenance === 'tool_result';
}

export function isProvenance(text: string): text is Provenance {
  return Object.hasOwn(TRUST, text);
}
