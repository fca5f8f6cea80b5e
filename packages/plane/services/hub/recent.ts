// The last things of a kind: a map that forgets its oldest entries first.

export interface Recent<V> {
  get(key: string): V | undefined;
  /** The value, and no longer in it. */
  take(key: string): V | undefined;
  /** `weight` is what it costs to keep; 1 when only their number matters. */
  add(key: string, value: V, weight?: number): void;
  readonly size: number;
}

interface RecentLimits {
  readonly entriesMax: number;
  readonly weightMax?: number;
}

export function recent<V>({ entriesMax, weightMax = entriesMax }: RecentLimits): Recent<V> {
  const entries = new Map<string, { readonly value: V; readonly weight: number }>();
  let total = 0;
  const remove = (key: string): V | undefined => {
    const known = entries.get(key);
    if (known === undefined) return undefined;
    entries.delete(key);
    total -= known.weight;
    return known.value;
  };
  return {
    get: (key) => entries.get(key)?.value,
    take: remove,
    add(key, value, weight = 1) {
      remove(key);
      entries.set(key, { value, weight });
      total += weight;
      // The newest stays, whatever it weighs: it is the one that will be asked for.
      for (const oldest of entries.keys()) {
        if (entries.size === 1 || (entries.size <= entriesMax && total <= weightMax)) break;
        remove(oldest);
      }
    },
    get size() {
      return entries.size;
    },
  };
}
