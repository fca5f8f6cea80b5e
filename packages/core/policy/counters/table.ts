// A bounded table of counters. It has two generations: entries that were not
// written for a lifetime go when the older one is dropped, without a walk over the entries.

export interface CounterTable<V> {
  readonly limits: TableLimits;
  readonly young: Versions<V>;
  readonly old: Versions<V>;
  /** When the younger generation began. */
  readonly turnedAtMs: number;
}

export interface TableLimits {
  /** An entry is kept at least this long after it was written; Infinity keeps it for the run. */
  readonly lifeMs: number;
  /**
   * What happens to a new key when the table is full. `share` counts it together with all other
   * late keys, so that inventing names never resets a limit; `evict` forgets the oldest entries.
   */
  readonly whenFull: 'share' | 'evict';
}

export const ENTRIES_MAX = 8_192;
/** Longer names are cut and marked by their hash, so that keys stay small. */
const NAME_LENGTH_MAX = 256;
const SHARED_KEY = '\u0000shared';

export function emptyTable<V>(limits: TableLimits): CounterTable<V> {
  const young = emptyVersions<V>();
  return { limits, young, old: emptyVersions(), turnedAtMs: Number.NEGATIVE_INFINITY };
}

/** The same entries under other limits: a policy was changed while its counters live on. */
export function withLimits<V>(table: CounterTable<V>, limits: TableLimits): CounterTable<V> {
  return { limits, young: table.young, old: table.old, turnedAtMs: table.turnedAtMs };
}

/** The key under which a name is counted right now; the shared one when the table is full. */
export function keyIn<V>(table: CounterTable<V>, key: string): string {
  if (table.limits.whenFull === 'evict' || tableSize(table) < ENTRIES_MAX) return key;
  return tableGet(table, key) === undefined ? SHARED_KEY : key;
}

export function tableGet<V>(table: CounterTable<V>, key: string): V | undefined {
  return versionGet(table.young, key) ?? versionGet(table.old, key);
}

/** Writes an entry, turning the generations over first when it is time. */
export function tableSet<V>(
  table: CounterTable<V>,
  key: string,
  entry: { readonly value: V; readonly nowMs: number },
): CounterTable<V> {
  const { limits, young, old, turnedAtMs } = turn(table, entry.nowMs);
  return { limits, young: versionSet(young, key, entry.value), old, turnedAtMs };
}

function turn<V>(table: CounterTable<V>, nowMs: number): CounterTable<V> {
  const { limits, young, old } = table;
  // A clock that went backwards starts the generation anew; nothing is forgotten early.
  if (nowMs < table.turnedAtMs || table.turnedAtMs === Number.NEGATIVE_INFINITY) {
    return { limits, young, old, turnedAtMs: nowMs };
  }
  const ageMs = nowMs - table.turnedAtMs;
  const crowded = limits.whenFull === 'evict' && versionSize(young) >= ENTRIES_MAX / 2;
  if (ageMs < limits.lifeMs && !crowded) return table;
  const stale = ageMs >= 2 * limits.lifeMs;
  const kept = stale ? emptyVersions<V>() : young;
  return { limits, young: emptyVersions(), old: kept, turnedAtMs: nowMs };
}

/** How many entries it holds, both generations together. */
export function tableSize(table: CounterTable<unknown>): number {
  return versionSize(table.young) + versionSize(table.old);
}

/** A name as it goes into keys. */
export function keyName(name: string): string {
  if (name.length <= NAME_LENGTH_MAX) return name;
  return `${name.slice(0, NAME_LENGTH_MAX)}\u0000${name.length}\u0000${hashOf(name)}`;
}

/** FNV-1a over UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

// A map of which every version stays valid: setting a key gives a new version, and the old one
// still reads as before. All versions share one mutable map, which the newest owns; an older one
// remembers what to undo, and takes the map back when it is read. The usual case, one
// caller that always goes on from the newest version, costs no more than a plain map.

export interface Versions<V> {
  /** The shared map, while this version owns it. */
  map: Map<string, V> | undefined;
  /** How this version differs from a newer one, while it does not. */
  difference: Difference<V> | undefined;
}
interface Difference<V> {
  readonly key: string;
  /** The value of this version; undefined if it has none. */
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
