import type { CacheMark, Rest, WireName } from './form.ts';
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

/** Notes what an OpenAI wire has no place for: the mark of a cache, and members of another wire. */
export function noteForeign(
  { cache, rest }: { readonly cache?: CacheMark; readonly rest?: Rest },
  wire: WireName,
  degraded: Degraded,
): void {
  if (cache !== undefined) degraded.add('cache_control');
  if (rest !== undefined && rest.wire !== wire) degraded.add('unknown_fields');
}
