// Gives back what was reserved for turns that never ended: their gateway died, or lost them. Turns that still run are
// renewed by the gateway that runs them, however long they take.
import type { AuditRow, ExpiredReservation, GatewayStore } from '../store/types.ts';

const EVERY_MS_MAX = 60_000;
/** Between two renewals there must be time for one that failed. */
const RENEWALS = 4;
/** Longer than any turn may take. What is not settled then was lost, and expires. */
const RENEWED_MS_MAX = 2 * 3_600_000;

export interface SettlerOptions {
  readonly store: Pick<GatewayStore, 'budgets' | 'records'>;
  /** How long a reservation lasts that nobody renews. */
  readonly expiresMs: number;
  /** A reservation that expires is a leak: somebody should hear of it. */
  readonly expired: (reservation: ExpiredReservation) => void;
  /** The database did not answer; the next sweep tries again. */
  readonly failed: (cause: unknown) => void;
}

/** Knows the reservations of the turns that run here. */
export class Settler {
  readonly #options: SettlerOptions;
  /** When each was reserved. */
  readonly #running = new Map<string, number>();
  #last = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** Sweeps at once, too: the gateway may have died with turns under way. */
  start(): void {
    const sweep = () => {
      this.#last = this.#last.then(() => this.sweep(Date.now()).catch(this.#options.failed));
    };
    sweep();
    this.#timer = setInterval(sweep, Math.min(EVERY_MS_MAX, this.#options.expiresMs / RENEWALS));
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
  }

  reserved(id: string, nowMs: number): void {
    this.#running.set(id, nowMs);
  }

  /** The turn has ended, whether it could be put on record or not. */
  ended(id: string): void {
    this.#running.delete(id);
  }

  /** Every gateway sweeps; each reservation expires in one of them. */
  async sweep(nowMs: number): Promise<void> {
    const { store, expired, expiresMs } = this.#options;
    for (const [id, reservedMs] of this.#running) {
      if (nowMs - reservedMs > RENEWED_MS_MAX) this.#running.delete(id);
    }
    if (this.#running.size > 0) await store.budgets.renew([...this.#running.keys()], nowMs);
    const reservations = await store.budgets.expire(nowMs - expiresMs, nowMs);
    await Promise.all(
      reservations.map(async (reservation) => {
        expired(reservation);
        const audit = [expiryAudit(reservation, nowMs)];
        await store.records.write({ settlement: null, audit, costs: [], routing: [], raw: null });
      }),
    );
  }
}

function expiryAudit(reservation: ExpiredReservation, eventMs: number): AuditRow {
  const { id, traceId, tenantId, userId, teamId, estimateMicros } = reservation;
  return {
    eventMs,
    traceId,
    sessionId: null,
    tenantId,
    userId,
    teamId,
    repoId: null,
    eventType: 'reservation_expired',
    decision: null,
    ruleIds: [],
    detail: { reservation_id: id, estimated_micros: estimateMicros },
    requestSummary: null,
    routedTo: null,
    fallbackChain: null,
    errorCode: null,
  };
}
