// What the limits of manifests have counted in this run, by server. A server that is started anew, or
// twice, goes on with the same counters.
import type { EvaluateRequest, EvaluateResponse } from '@subluminal/contracts';
import {
  counted,
  initialSurfaceState,
  type Keyed,
  type SurfaceState,
  waitOf,
} from '@subluminal/core/surface';

type CallLimits = EvaluateRequest['limits'];
type LimitVerdict = Pick<EvaluateResponse, 'limits_counted' | 'limit_wait'>;

const SERVERS_MAX = 1_024;
const COUNTERS_MAX = 1_000;
/** Forgetting a counter would lift a limit, so what finds no room does not pass. */
const NO_ROOM: LimitVerdict = {
  limit_wait: { kind: 'rate', wait_ms: 60_000, words: 'less often: the hub has too many limits' },
};

export class ManifestLimits {
  readonly #states = new Map<string, SurfaceState>();

  /** Counts a call, or says what it must wait for; undefined without limits. */
  take(server: string, limits: CallLimits, nowMs: number): LimitVerdict | undefined {
    if (limits === undefined || limits.length === 0) return undefined;
    const keyed = limits.map(keyedOf);
    const state = this.#states.get(server) ?? initialSurfaceState();
    const wait = waitOf(state, keyed, nowMs);
    if (wait !== undefined) {
      const { kind, waitMs: wait_ms, words } = wait;
      return { limit_wait: { kind, wait_ms, words } };
    }
    const next = counted(state, keyed, nowMs);
    const isNew = !this.#states.has(server);
    if (next.counters.size > COUNTERS_MAX || (isNew && this.#states.size >= SERVERS_MAX)) {
      return NO_ROOM;
    }
    this.#states.set(server, next);
    return { limits_counted: true };
  }
}

function keyedOf(limit: NonNullable<CallLimits>[number]): Keyed {
  const { key, calls, period_ms: periodMs, cooldown_ms: cooldownMs } = limit;
  const rate = calls === undefined || periodMs === undefined ? undefined : { calls, periodMs };
  return { key, limits: { rate, cooldownMs } };
}
