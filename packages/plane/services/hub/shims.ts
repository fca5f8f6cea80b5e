// Which shims the run has, as far as their heartbeats tell.
import { setTimeout as delay } from 'node:timers/promises';
import {
  type HeartbeatRequest,
  NO_CALLS,
  SHIM_COUNTERS,
  type ShimCounts,
  type ShimSummary,
} from '@subluminal/contracts';
import { type ServerState, ServerTotals } from './server-totals.ts';

/** A shim that is looser than its run, in words. */
export interface UnlikeShim {
  readonly serverId: string;
  readonly reason: string;
  /** False: for that reason its server was not started. */
  readonly hasStarted: boolean;
}

export interface ShimStatus {
  readonly shimId: string;
  readonly serverId: string;
  readonly lastSeenMs: number;
  readonly summary: ShimSummary | null;
  /** `silent`: no heartbeat for too long, and no goodbye. */
  readonly state: 'live' | 'silent' | 'left';
  readonly unlike?: UnlikeShim;
}

interface ShimsOptions {
  readonly nowMs: () => number;
  readonly shimsMax: number;
  readonly silentMs: number;
  readonly onUnlike?: ((unlike: UnlikeShim) => void) | undefined;
}

interface Shim {
  readonly shimId: string;
  readonly serverId: string;
  lastSeenMs: number;
  summary: ShimSummary | null;
  counts: ShimCounts | null;
  hasLeft: boolean;
  /** It has counted more after its goodbye, so its last counts are not all. */
  isDoubtful: boolean;
  unlike: UnlikeShim | null;
}

const NOTHING: ShimSummary = { ...NO_CALLS, calls_spared: 0, answers_held_back: 0 };

const LOOK_EVERY_MS = 10;

export class Shims {
  readonly #options: ShimsOptions;
  readonly #shims = new Map<string, Shim>();
  /** What those had counted that are no longer in the list. */
  #forgotten: ShimSummary = NOTHING;
  readonly #forgottenTotals = new ServerTotals();

  constructor(options: ShimsOptions) {
    this.#options = options;
  }

  /** False when there are too many shims to take one more. */
  heard(request: HeartbeatRequest): boolean {
    const shim = this.#find(request);
    if (shim === undefined) return false;
    // A late heartbeat must not bring back a shim that has left.
    if (shim.hasLeft) {
      // A shim that has counted more meanwhile has not left: another process said goodbye in its name.
      shim.isDoubtful ||= hasMore(request.summary, shim.summary);
      return true;
    }
    shim.lastSeenMs = this.#options.nowMs();
    if (request.summary !== undefined) shim.summary = request.summary;
    if (request.counts !== undefined) shim.counts = request.counts;
    if (request.leaving === true) shim.hasLeft = true;
    this.#noteUnlike(shim, request);
    return true;
  }

  list(): readonly ShimStatus[] {
    return [...this.#shims.values()].map((shim) => ({
      shimId: shim.shimId,
      serverId: shim.serverId,
      lastSeenMs: shim.lastSeenMs,
      summary: shim.summary,
      state: this.#stateOf(shim),
      ...(shim.unlike !== null && { unlike: shim.unlike }),
    }));
  }

  /** The first heartbeat counts: a shim whose first one is its goodbye never started its server. */
  #noteUnlike(shim: Shim, { unlike_run: reason, leaving = false }: HeartbeatRequest): void {
    if (reason === undefined || shim.unlike !== null) return;
    const hasStarted = !leaving || shim.summary !== null;
    shim.unlike = { serverId: shim.serverId, reason, hasStarted };
    this.#options.onUnlike?.(shim.unlike);
  }

  /** The counts of all shims together, those that have left included. */
  summary(): ShimSummary {
    let total = this.#forgotten;
    for (const { summary } of this.#shims.values()) total = add(total, summary);
    return total;
  }

  /** What all shims have counted, by server. */
  totals(): ServerTotals {
    const totals = this.#forgottenTotals.copy();
    for (const shim of this.#shims.values()) {
      totals.addState(shim.serverId, this.#serverStateOf(shim));
      if (shim.counts !== null) totals.add(shim.serverId, shim.counts);
    }
    return totals;
  }

  #serverStateOf(shim: Shim): ServerState {
    const state = this.#stateOf(shim);
    if (state === 'left') return 'stopped';
    return state === 'silent' ? 'lost' : (shim.counts?.server_state ?? 'running');
  }

  /** True when no shim is left (at once when there never was one), false when time is up. */
  async whenLeft(timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    while (!this.#allLeft()) {
      if (performance.now() >= deadlineMs) return false;
      await delay(LOOK_EVERY_MS);
    }
    return true;
  }

  #allLeft(): boolean {
    for (const shim of this.#shims.values()) if (this.#stateOf(shim) === 'live') return false;
    return true;
  }

  #stateOf(shim: Shim): ShimStatus['state'] {
    if (shim.hasLeft) return shim.isDoubtful ? 'silent' : 'left';
    const silentMs = this.#options.nowMs() - shim.lastSeenMs;
    return silentMs > this.#options.silentMs ? 'silent' : 'live';
  }

  #find({ shim_id, server_id }: HeartbeatRequest): Shim | undefined {
    // A shim that gives no id is known by its server; one that starts again is another shim.
    const key = shim_id === undefined ? `server ${server_id}` : `shim ${shim_id}`;
    const known = this.#shims.get(key);
    if (known !== undefined && !(known.hasLeft && shim_id === undefined)) return known;
    if (known !== undefined) this.#forget(key, known);
    if (this.#shims.size >= this.#options.shimsMax && !this.#makeRoom()) return undefined;
    const fresh: Shim = {
      shimId: shim_id ?? server_id,
      serverId: server_id,
      lastSeenMs: this.#options.nowMs(),
      summary: null,
      counts: null,
      hasLeft: false,
      isDoubtful: false,
      unlike: null,
    };
    this.#shims.set(key, fresh);
    return fresh;
  }

  #makeRoom(): boolean {
    for (const [key, shim] of this.#shims) {
      if (this.#stateOf(shim) === 'live') continue;
      this.#forget(key, shim);
      return true;
    }
    return false;
  }

  #forget(key: string, shim: Shim): void {
    this.#shims.delete(key);
    this.#forgotten = add(this.#forgotten, shim.summary);
    if (shim.counts !== null) this.#forgottenTotals.add(shim.serverId, shim.counts);
  }
}

function hasMore(now: ShimSummary | undefined, before: ShimSummary | null): boolean {
  return SHIM_COUNTERS.some((name) => (now?.[name] ?? 0) > (before?.[name] ?? 0));
}

function add(one: ShimSummary, other: ShimSummary | null): ShimSummary {
  const sum = { ...one };
  for (const name of SHIM_COUNTERS) sum[name] = (one[name] ?? 0) + (other?.[name] ?? 0);
  return sum;
}
