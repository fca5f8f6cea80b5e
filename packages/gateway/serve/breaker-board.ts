// The breakers of all endpoints and models. What one gateway finds broken is broken for all that share its store.
import {
  type BreakerPhase,
  type BreakerState,
  breakerAdmits,
  breakerEnded,
  breakerPhase,
  CLOSED_BREAKER,
} from '@subluminal/core/routing';
import type { BreakerStore } from '../store/types.ts';

export interface BreakerBoardOptions {
  readonly store: BreakerStore;
  readonly nowMs: () => number;
  /** The store could not be told or asked: each gateway then goes by what it sees itself. */
  readonly storeFailed: (cause: unknown) => void;
}

export interface BreakerTarget {
  readonly endpointId: string;
  readonly model: string;
}

export class BreakerBoard {
  readonly #options: BreakerBoardOptions;
  readonly #states = new Map<string, BreakerState>();
  /** Changes on their way to the store, in their order. */
  #writes: Promise<void> = Promise.resolve();

  constructor(options: BreakerBoardOptions) {
    this.#options = options;
  }

  phase(target: BreakerTarget): BreakerPhase {
    const state = this.#states.get(keyOf(target));
    return state === undefined ? 'closed' : breakerPhase(state, this.#options.nowMs());
  }

  /** Whether a turn may go there now. Behind a pause it may once, whichever gateway it came to. */
  async admit(target: BreakerTarget): Promise<boolean> {
    const key = keyOf(target);
    const state = this.#states.get(key) ?? CLOSED_BREAKER;
    if (state.kind === 'closed') return true;
    const nowMs = this.#options.nowMs();
    const admitted = breakerAdmits(state, nowMs);
    if (admitted === undefined) return false;
    this.#states.set(key, admitted);
    await this.#writes;
    try {
      return await this.#options.store.takeProbe(key, nowMs);
    } catch (cause) {
      this.#options.storeFailed(cause);
      return true;
    }
  }

  ended(target: BreakerTarget, outcome: 'success' | 'failure'): void {
    const key = keyOf(target);
    const before = this.#states.get(key) ?? CLOSED_BREAKER;
    const after = breakerEnded(before, outcome, this.#options.nowMs());
    this.#states.set(key, after);
    const { store } = this.#options;
    if (after.kind === 'open' && !isSameOpening(before, after)) {
      const { openedMs } = after;
      this.#write(() => store.set({ key, openedMs, probeMs: null }));
    } else if (after.kind === 'closed' && before.kind === 'open')
      this.#write(() => store.clear(key));
  }

  /** Takes over what other gateways have opened and closed. */
  async refresh(): Promise<void> {
    await this.#writes;
    try {
      const rows = await this.#options.store.open();
      const open = new Set(rows.map(({ key }) => key));
      for (const { key, openedMs, probeMs } of rows) {
        this.#states.set(key, {
          kind: 'open',
          openedMs,
          ...(probeMs === null ? {} : { probeMs }),
        });
      }
      for (const [key, state] of this.#states) {
        if (state.kind === 'open' && !open.has(key)) this.#states.set(key, CLOSED_BREAKER);
      }
    } catch (cause) {
      this.#options.storeFailed(cause);
    }
  }

  #write(write: () => Promise<void>): void {
    this.#writes = this.#writes.then(write).catch(this.#options.storeFailed);
  }
}

function keyOf({ endpointId, model }: BreakerTarget): string {
  return `${endpointId}:${model}`;
}

function isSameOpening(before: BreakerState, after: BreakerState): boolean {
  return before.kind === 'open' && after.kind === 'open' && before.openedMs === after.openedMs;
}
