// Turns that wait for a person. Whichever gateway takes the answer, the one that holds the turn hears of it.
import type { Caller } from '@subluminal/core/routing';
import type { TurnApprovalRow, TurnApprovalStore } from '../store/types.ts';

export interface HeldTurnsOptions {
  readonly store: TurnApprovalStore;
  readonly nowMs: () => number;
  readonly storeFailed: (cause: unknown) => void;
}

export interface HeldAnswer {
  readonly answer: 'approved' | 'rejected' | 'expired' | 'cancelled';
  /** As it was resolved: who, and what they said. */
  readonly row: TurnApprovalRow;
}

interface WaitingTurn {
  readonly row: TurnApprovalRow;
  readonly resolve: (said: HeldAnswer) => void;
}

/** A notice may be lost while a database restarts: everything that waits is looked at this often. */
const LOOK_EVERY_MS = 5_000;

/** Turns of one user that wait for a person. */
export const USER_HELD_MAX = 32;

export class HeldTurns {
  readonly #options: HeldTurnsOptions;
  readonly #waiting = new Map<string, WaitingTurn>();
  #unwatch: (() => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HeldTurnsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#unwatch = await this.#options.store.watch(() => void this.#look());
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Those who approve see the newest: no user may fill their list. */
  async hasTooMany({ tenantId, userId }: Pick<Caller, 'tenantId' | 'userId'>): Promise<boolean> {
    const { store, nowMs } = this.#options;
    const pending = await store.list(tenantId, 'pending');
    const own = pending.filter((row) => row.requestor === userId && row.expiresMs > nowMs());
    return own.length >= USER_HELD_MAX;
  }

  /** For an approval that is in the store. `expired` when nobody gave an answer, `cancelled` when the client has gone. */
  async wait(row: TurnApprovalRow, signal: AbortSignal): Promise<HeldAnswer> {
    let stopWaiting = () => {};
    const said = await new Promise<HeldAnswer>((resolve) => {
      stopWaiting = this.#listen(row, signal, resolve);
    });
    stopWaiting();
    if (said.answer === 'cancelled') await this.#close(row, 'The client has gone.');
    return said;
  }

  #listen(
    row: TurnApprovalRow,
    signal: AbortSignal,
    resolve: (said: HeldAnswer) => void,
  ): () => void {
    const cancel = () => resolve({ answer: 'cancelled', row });
    const waitMs = Math.max(0, row.expiresMs - this.#options.nowMs());
    const expire = setTimeout(() => void this.#expire(row), waitMs);
    this.#waiting.set(row.id, { row, resolve });
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    // The answer may have come before anybody listened.
    void this.#look();
    return () => {
      clearTimeout(expire);
      signal.removeEventListener('abort', cancel);
      this.#waiting.delete(row.id);
    };
  }

  /** What still waits gets no answer any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#unwatch?.();
    for (const { row, resolve } of this.#waiting.values()) resolve({ answer: 'cancelled', row });
  }

  async #look(): Promise<void> {
    const { store, storeFailed } = this.#options;
    await Promise.all(
      [...this.#waiting.values()].map(async ({ row, resolve }) => {
        try {
          const now = await store.get(row.tenantId, row.id);
          if (now !== undefined && now.state !== 'pending') {
            resolve({ answer: now.state, row: now });
          }
        } catch (cause) {
          storeFailed(cause);
        }
      }),
    );
  }

  async #expire(row: TurnApprovalRow): Promise<void> {
    await this.#close(row, 'Nobody has answered in time.');
    await this.#look();
    // Without the store, time is over all the same.
    this.#waiting.get(row.id)?.resolve({ answer: 'expired', row });
  }

  async #close({ id, tenantId }: TurnApprovalRow, note: string): Promise<void> {
    const { store, nowMs, storeFailed } = this.#options;
    try {
      await store.resolve(id, { tenantId, state: 'expired', resolver: null, note, nowMs: nowMs() });
    } catch (cause) {
      storeFailed(cause);
    }
  }
}
