// The memory of a run: keys, and where each was first seen. Bounded, and never changed in place.
import type { RunFlag, Sighting, TaintSource, TaintState } from './types.ts';

/** Of each trust. Beyond it untrusted content makes the run blind, and trusted content is not noted. */
const KEYS_MAX = 50_000;

/** A run that has read nothing yet. */
export function newTaint(options: { readonly trustedClears?: 'earlier' | 'any' } = {}): TaintState {
  return {
    layers: [],
    trustedClears: options.trustedClears ?? 'earlier',
    untrustedCount: 0,
    trustedCount: 0,
    blind: undefined,
    sent: new Map<string, ReadonlySet<string>>(),
    flags: new Map<RunFlag, TaintSource>(),
    orders: [],
    ownPaths: new Set(),
  };
}

/** Where a key was seen, if it was. */
export function sightingOf(state: TaintState, key: string): Sighting | undefined {
  for (let index = state.layers.length - 1; index >= 0; index--) {
    const found = state.layers[index]?.get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The source of what the user has said: no server and no tool, so nothing else has it. */
export const USER: TaintSource = { server: '', tool: '', callId: '' };

/** Whether the user has named the value of this key. */
export function isSaid(state: TaintState, key: string): boolean {
  const { trust, source } = sightingOf(state, key) ?? {};
  return trust === 'trusted' && source?.server === USER.server && source.tool === USER.tool;
}

/** The state with these keys added; `isWhole`, called at the end, says whether these are all. */
export function remember(
  state: TaintState,
  keys: Iterable<string>,
  seen: { readonly sighting: Sighting; readonly isWhole: () => boolean },
): TaintState {
  const { sighting } = seen;
  const untrusted = sighting.trust === 'untrusted';
  let { untrustedCount, trustedCount } = state;
  let full = false;
  const layer = new Map<string, Sighting>();
  for (const key of keys) {
    if (layer.has(key)) continue;
    const before = sightingOf(state, key);
    const cleared = before?.trust === 'untrusted' && !untrusted && state.trustedClears === 'any';
    if (before?.trust === 'untrusted' && isStronger(sighting, before)) {
      layer.set(key, sighting);
      continue;
    }
    // Trusted content that repeats an untrusted value may only be an echo of it.
    if (before !== undefined && !cleared) continue;
    full = (untrusted ? untrustedCount : trustedCount) >= KEYS_MAX;
    if (full) break;
    layer.set(key, sighting);
    if (untrusted) untrustedCount++;
    else trustedCount++;
    if (cleared) untrustedCount--;
  }
  const lost = untrusted && (full || !seen.isWhole());
  const blind = state.blind ?? (lost ? sighting.source : undefined);
  return { ...state, layers: stacked(state.layers, layer), untrustedCount, trustedCount, blind };
}

/** Running text may order what a field only names. */
function isStronger(now: Sighting, before: Sighting): boolean {
  return now.trust === 'untrusted' && now.place === 'text' && before.place === 'field';
}

/** Layers of like size become one, so that there are few and each key is copied a few times. */
function stacked(
  layers: TaintState['layers'],
  layer: ReadonlyMap<string, Sighting>,
): TaintState['layers'] {
  if (layer.size === 0) return layers;
  const rest = [...layers];
  let top = layer;
  for (let below = rest.at(-1); below !== undefined; below = rest.at(-1)) {
    if (below.size > 2 * top.size) break;
    rest.pop();
    top = new Map([...below, ...top]);
  }
  return [...rest, top];
}
