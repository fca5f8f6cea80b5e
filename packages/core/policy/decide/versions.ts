// A map of which every version stays valid: setting a key gives a new version, and the old one
// still reads as before. All versions share one mutable map, which the newest owns; an older one
// remembers what to undo, and takes the map back when somebody reads it. The usual case, one
// caller that always goes on from the newest version, costs no more than a plain map.

export interface Versions<V> {
  /** The shared map, while this version owns it. */
  map: Map<string, V> | undefined;
  /** How this version differs from a newer one, while it does not. */
  difference: Difference<V> | undefined;
}
interface Difference<V> {
  readonly key: string;
  /** What this version has under the key; undefined for nothing. */
  readonly value: V | undefined;
  readonly from: Versions<V>;
}

export function emptyVersions<V>(): Versions<V> {
  return { map: new Map(), difference: undefined };
}

export function versionGet<V>(version: Versions<V>, key: string): V | undefined {
  return (version.map ?? claim(version)).get(key);
}

export function versionSize(version: Versions<unknown>): number {
  return (version.map ?? claim(version)).size;
}

export function versionSet<V>(version: Versions<V>, key: string, value: V): Versions<V> {
  const map = version.map ?? claim(version);
  const next: Versions<V> = { map, difference: undefined };
  version.map = undefined;
  version.difference = { key, value: map.get(key), from: next };
  map.set(key, value);
  return next;
}

/** Takes the map over from the version that owns it, turning the differences in between around. */
function claim<V>(wanted: Versions<V>): Map<string, V> {
  const path: Versions<V>[] = [];
  let owner = wanted;
  while (owner.map === undefined) {
    path.push(owner);
    if (owner.difference === undefined) throw new Error('a version has lost its map');
    owner = owner.difference.from;
  }
  const { map } = owner;
  for (const version of path.toReversed()) {
    const { difference } = version;
    if (difference === undefined) throw new Error('a version has lost its difference');
    const { key, value, from } = difference;
    from.difference = { key, value: map.get(key), from: version };
    from.map = undefined;
    if (value === undefined) map.delete(key);
    else map.set(key, value);
    version.map = map;
    version.difference = undefined;
  }
  return map;
}
