// Events of a shim about itself: its start, its health and its end.
import type { Snapshot } from '@subluminal/core/policy';
import { policyLoaded } from '../../stores/policy/follow-policy.ts';
import type { GovernedSession } from './governed-session.ts';

const HEALTH_EVERY_MS = 60_000;
const LOOK_EVERY_MS = 10_000;

export function recordStart(governed: GovernedSession): void {
  const { parts, recorder, snapshot } = governed;
  const { document, ref: policy } = snapshot;
  if (parts.membership.tellsStart) {
    const started_at = new Date().toISOString();
    recorder.record('run_start', { run: { started_at, mode: document.mode, policy } });
  }
  recordPolicy(governed, snapshot, false);
  for (const secret of parts.injected) recorder.record('secret_injection', { secret });
  parts.sink.push();
}

export function recordPolicy(
  { recorder, parts }: GovernedSession,
  snapshot: Snapshot,
  reload: boolean,
): void {
  const isWritten = parts.membership.hasWritten?.(snapshot.ref.policy_hash) ?? false;
  recorder.record('policy_loaded', policyLoaded(snapshot, reload, isWritten));
}

/**
 * Leaves the run, and records its end when no other shim is left in it. `hasFailed`: the server failed, so
 * the shim had to end; a client that ends its server is no failure.
 */
export function recordEnd(governed: GovernedSession, hasFailed: boolean): void {
  const { parts, recorder, session, terminated: isTerminated, now, startedAt } = governed;
  const endedMs = Date.now();
  const ownMs = Math.max(0, Math.round(now() - startedAt));
  const own = { startedMs: endedMs - ownMs, hasFailed, isTerminated, summary: session.summary() };
  const account = parts.membership.leave(own);
  if (account === undefined) return;
  recorder.record('run_end', {
    run: {
      ended_at: new Date(endedMs).toISOString(),
      status: account.isTerminated ? 'TERMINATED' : account.hasFailed ? 'FAILED' : 'SUCCEEDED',
      // The clock may have been set back since another shim started.
      summary: { ...account.summary, duration_ms: Math.max(ownMs, endedMs - account.startedMs) },
    },
  });
}

/** Records the health of the shim when it changes, and every minute while it has calls. */
export function watchHealth(governed: GovernedSession): { stop(): void } {
  let recorded: Status = 'ok';
  let recordedAtMs = governed.now();
  let callsRecorded = 0;
  let before = governed.parts.sink.stats();
  const look = (): void => {
    const status = statusOf(governed, before);
    before = governed.parts.sink.stats();
    const calls = governed.session.summary().calls_total;
    const isDue = calls > callsRecorded && governed.now() - recordedAtMs >= HEALTH_EVERY_MS;
    if (status === recorded && !isDue) return;
    [recorded, recordedAtMs, callsRecorded] = [status, governed.now(), calls];
    recordHealth(governed, status);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      // A shim that was never degraded ends without a record of it.
      if (recorded !== 'ok' || statusOf(governed, before) !== 'ok')
        recordHealth(governed, 'stopping');
    },
  };
}

type Status = 'ok' | 'degraded';
type Stats = ReturnType<GovernedSession['parts']['sink']['stats']>;

/** A shim that loses lines or previews, or that cannot reach its hub, is degraded. */
function statusOf({ parts }: GovernedSession, before: Stats): Status {
  const { previewsDropped, linesLost } = parts.sink.stats();
  const loses = previewsDropped > before.previewsDropped || linesLost > before.linesLost;
  return loses || parts.hub?.isThere === false ? 'degraded' : 'ok';
}

export function recordHealth(
  governed: GovernedSession,
  status: Status | 'stopping',
  reason?: string,
): void {
  const { queued, spooled, previewsDropped } = governed.parts.sink.stats();
  governed.recorder.record('shim_health', {
    health: {
      status,
      ...(reason !== undefined && { reason }),
      uptime_ms: Math.max(0, Math.round(governed.now() - governed.startedAt)),
      calls_in_flight: governed.session.openRequests('agent'),
      events_queued: queued,
      events_spooled: spooled,
      previews_dropped: previewsDropped,
    },
  });
  governed.parts.sink.push();
}
