// A bounded table of counters. Two generations: what has not been touched for a lifetime is
// forgotten when the older one is dropped, without ever walking the entries.
import { emptyVersions, type Versions, versionGet, versionSet, versionSize } from './versions.ts';

export interface Table<V> {
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

export function emptyTable<V>(limits: TableLimits): Table<V> {
  const young = emptyVersions<V>();
  return { limits, young, old: emptyVersions(), turnedAtMs: Number.NEGATIVE_INFINITY };
}

/** The same entries under other limits: a policy was changed while its counters live on. */
export function withLimits<V>(table: Table<V>, limits: TableLimits): Table<V> {
  return { limits, young: table.young, old: table.old, turnedAtMs: table.turnedAtMs };
}

/** The key under which a name is counted right now; the shared one when the table is full. */
export function keyIn<V>(table: Table<V>, key: string): string {
  if (table.limits.whenFull === 'evict' || tableSize(table) < ENTRIES_MAX) return key;
  return tableGet(table, key) === undefined ? SHARED_KEY : key;
}

export function tableGet<V>(table: Table<V>, key: string): V | undefined {
  return versionGet(table.young, key) ?? versionGet(table.old, key);
}

/** Writes an entry, turning the generations over first when it is time. */
export function tableSet<V>(
  table: Table<V>,
  key: string,
  entry: { readonly value: V; readonly nowMs: number },
): Table<V> {
  const { limits, young, old, turnedAtMs } = turn(table, entry.nowMs);
  return { limits, young: versionSet(young, key, entry.value), old, turnedAtMs };
}

function turn<V>(table: Table<V>, nowMs: number): Table<V> {
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
export function tableSize(table: Table<unknown>): number {
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
