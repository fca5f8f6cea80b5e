import type { Reasoning } from './form.ts';
import type { DegradedFeature } from './wire.ts';

/** What a writer had to leave out: each feature once, in the order they were met. */
export class Degraded {
  readonly #features = new Set<DegradedFeature>();

  add(feature: DegradedFeature): void {
    this.#features.add(feature);
  }

  addAll(features: Iterable<DegradedFeature>): void {
    for (const feature of features) this.#features.add(feature);
  }

  get list(): readonly DegradedFeature[] {
    return [...this.#features];
  }
}

/** The effort on the OpenAI wires. Thinking that is given in tokens, or left to the model, has no word there. */
export function writtenEffort(
  reasoning: Reasoning | undefined,
  degraded: Degraded,
): string | undefined {
  if (reasoning === undefined) return undefined;
  if (reasoning.effort === 'max') {
    degraded.add('reasoning_effort');
    return 'xhigh';
  }
  if (reasoning.effort !== undefined) return reasoning.effort;
  if (reasoning.mode === 'budget' || reasoning.mode === 'adaptive') {
    degraded.add('extended_thinking');
  }
  return undefined;
}
