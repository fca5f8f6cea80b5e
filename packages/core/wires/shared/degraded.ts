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
