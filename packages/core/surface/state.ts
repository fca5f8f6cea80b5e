// What the limits of a manifest remember: an immutable value, given to `enforceCall` and returned
// anew. Its size is that of the manifest, whatever names are called.
import { inWords, type Rate } from '../text/quantities.ts';
import type { Limits, Manifest } from './manifest/types.ts';

interface Counter {
  /** In calls times milliseconds, so that nothing is ever rounded. */
  readonly credit: number;
  readonly creditAtMs: number;
  /** When the last call passed; undefined when none has. */
  readonly passedAtMs: number | undefined;
}

export interface SurfaceState {
  readonly counters: ReadonlyMap<string, Counter>;
}

const EMPTY: SurfaceState = { counters: new Map() };

/** The state of a server before its first call. */
export function initialSurfaceState(): SurfaceState {
  return EMPTY;
}

/** Carries counters into a changed manifest: what is still written in it keeps its own. */
export function carrySurfaceState(state: SurfaceState, manifest: Manifest): SurfaceState {
  const entries = [...manifest.exact.values(), ...manifest.globs];
  const kept = new Set(entries.map(({ name }) => `tool ${name}`));
  const counters = [...state.counters].filter(([key]) => key.startsWith('tier ') || kept.has(key));
  return { counters: new Map(counters) };
}

/** A limit, and the key under which its counter is kept. */
export interface Keyed {
  readonly key: string;
  readonly limits: Pick<Limits, 'rate' | 'cooldownMs'>;
}

export type Waiting = {
  readonly kind: 'rate' | 'cooldown';
  readonly waitMs: number;
  readonly words: string;
};

/** What a call must wait for; undefined when every limit lets it pass now. */
export function waitOf(
  state: SurfaceState,
  keyed: readonly Keyed[],
  nowMs: number,
): Waiting | undefined {
  for (const { key, limits } of keyed) {
    const counter = state.counters.get(key);
    const { cooldownMs, rate } = limits;
    const passedAtMs = counter?.passedAtMs;
    if (cooldownMs !== undefined && passedAtMs !== undefined) {
      // A clock that went back must neither lock a tool for long nor free it.
      const waitMs = Math.min(cooldownMs, passedAtMs + cooldownMs - nowMs);
      if (waitMs > 0) return { kind: 'cooldown', waitMs, words: `once in ${inWords(cooldownMs)}` };
    }
    if (rate === undefined) continue;
    const credit = creditOf(counter, rate, nowMs);
    if (credit >= rate.periodMs) continue;
    const waitMs = Math.ceil((rate.periodMs - credit) / rate.calls);
    const calls = rate.calls === 1 ? 'call' : 'calls';
    return { kind: 'rate', waitMs, words: `${rate.calls} ${calls} in ${inWords(rate.periodMs)}` };
  }
  return undefined;
}

/** The credit now: `calls` per millisecond, one call costs the period, and the bucket is bounded. */
function creditOf(counter: Counter | undefined, rate: Rate, nowMs: number): number {
  const full = rate.calls * rate.periodMs;
  if (counter === undefined) return full;
  const passedMs = Math.max(0, nowMs - counter.creditAtMs);
  return Math.min(full, counter.credit + passedMs * rate.calls);
}

/** Whether a limit counts calls. */
export function isCounted({ limits: { rate, cooldownMs } }: Keyed): boolean {
  return rate !== undefined || cooldownMs !== undefined;
}

/** Counts a call that passes, or that a person is asked about. */
export function counted(state: SurfaceState, keyed: readonly Keyed[], nowMs: number): SurfaceState {
  const limited = keyed.filter(isCounted);
  if (limited.length === 0) return state;
  const counters = new Map(state.counters);
  for (const { key, limits } of limited) {
    const { rate } = limits;
    const credit =
      rate === undefined ? 0 : creditOf(state.counters.get(key), rate, nowMs) - rate.periodMs;
    counters.set(key, { credit, creditAtMs: nowMs, passedAtMs: nowMs });
  }
  return { counters };
}
