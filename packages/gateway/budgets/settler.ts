// Gives back what was reserved for turns that never ended: their gateway died, or lost them.
import type { AuditRow, ExpiredReservation, GatewayStore } from '../store/types.ts';

/** Longer than any turn may take. */
const RESERVATION_MS = 10 * 60_000;
const EVERY_MS = 60_000;

export interface SettlerOptions {
  readonly store: Pick<GatewayStore, 'budgets' | 'records'>;
  /** A reservation that expires is a leak: somebody should hear of it. */
  readonly expired: (reservation: ExpiredReservation) => void;
  /** The database did not answer; the next sweep tries again. */
  readonly failed: (cause: unknown) => void;
}

/** Sweeps every minute, and at once: the gateway may have died with turns under way. Returns what ends it. */
export function startSettler(options: SettlerOptions): () => Promise<void> {
  let last = Promise.resolve();
  const sweep = () => {
    last = last.then(() => sweepReservations(options, Date.now()).catch(options.failed));
  };
  sweep();
  const timer = setInterval(sweep, EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await last;
  };
}

/** Every gateway sweeps; each reservation expires in one of them. */
export async function sweepReservations(options: SettlerOptions, nowMs: number): Promise<void> {
  const { store, expired } = options;
  const reservations = await store.budgets.expire(nowMs - RESERVATION_MS, nowMs);
  await Promise.all(
    reservations.map(async (reservation) => {
      expired(reservation);
      const audit = [expiryAudit(reservation, nowMs)];
      await store.records.write({ settlement: null, audit, costs: [], routing: [], raw: null });
    }),
  );
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
