// The circuit breaker of a server, driven by its own calls: the first call after a pause is the probe.

import type { CallEnd, GuardedCall } from '../session/guard.ts';
import {
  type ConnectionEvent,
  type Manifest,
  moveConnection,
  routeCall,
} from '../surface/index.ts';
import { inWords } from '../surface/manifest/quantities.ts';
import type { Memory } from './memory.ts';
import type { Stop } from './verdicts.ts';

/** Whether calls to the server are paused; undefined when this one may go. */
export function breakerStop(memory: Memory, call: GuardedCall, nowMs: number): Stop | undefined {
  const { connection, options } = memory;
  if (options.manifest === undefined || connection.phase === 'active') return undefined;
  if (mayProbe(memory, options.manifest, { call, nowMs })) return undefined;
  const route = routeCall(connection, nowMs);
  if (route.kind === 'route') return undefined;
  return {
    rule: 'gate:breaker',
    enforced: options.enforces.surface,
    reason_code: route.reason_code,
    summary: 'Calls to this server are paused, because too many of them have failed.',
    advice: route.hint,
    retryAfterMs: route.retryAfterMs,
  };
}

interface Asked {
  readonly call: GuardedCall;
  readonly nowMs: number;
}

/** One call at a time may try whether the server is well again. */
function mayProbe(memory: Memory, { breaker }: Manifest, { call, nowMs }: Asked): boolean {
  const { connection, probe } = memory;
  const { recovery } = connection;
  if (connection.phase !== 'circuit_broken' || recovery === undefined) return false;
  if (nowMs < recovery.probeAtMs) return false;
  // A probe that nobody has answered for so long has failed.
  const isOpen = probe !== undefined && nowMs - probe.sinceMs <= breaker.latencyThresholdMs;
  return !isOpen || probe.callId === call.callId;
}

/** The call goes out: it may be the probe. */
export function breakerPassed(memory: Memory, call: GuardedCall, nowMs: number): void {
  const { options, connection } = memory;
  if (options.manifest === undefined || connection.phase === 'active') return;
  if (!mayProbe(memory, options.manifest, { call, nowMs })) return;
  if (memory.probe !== undefined) move(memory, failedProbe(options.manifest), nowMs);
  if ((memory.connection.recovery?.probeAtMs ?? 0) > nowMs) return;
  memory.probe = { callId: call.callId, sinceMs: nowMs };
  move(memory, { kind: 'tick' }, nowMs);
}

function failedProbe({ breaker }: Manifest): ConnectionEvent {
  return { kind: 'probe_ended', ok: false, latencyMs: breaker.latencyThresholdMs };
}

export function breakerEnded(memory: Memory, end: CallEnd, nowMs: number): void {
  if (memory.options.manifest === undefined) return;
  const isProbe = memory.probe?.callId === end.callId;
  if (isProbe) memory.probe = undefined;
  const kind = isProbe ? 'probe_ended' : 'call_ended';
  move(memory, { kind, ok: !end.isError, latencyMs: end.tookMs }, nowMs);
}

function move(memory: Memory, event: ConnectionEvent, nowMs: number): void {
  const { manifest, enforces } = memory.options;
  if (manifest === undefined) return;
  const at = { settings: manifest.breaker, nowMs };
  const before = memory.connection.phase;
  memory.connection = moveConnection(memory.connection, event, at).state;
  if (memory.connection.phase === 'introspecting') {
    // Lists are filtered whenever they pass, so there is nothing to wait for.
    const again = { kind: 'introspected', missing: [], extra: [] } as const;
    memory.connection = moveConnection(memory.connection, again, at).state;
  }
  const { phase, recovery } = memory.connection;
  if (phase === before) return;
  const isBack = phase === 'active';
  const waitMs = Math.max(0, (recovery?.probeAtMs ?? nowMs) - nowMs);
  memory.board.tell({
    what: 'server_state',
    enforced: enforces.surface,
    reason_code: 'SERVER_UNAVAILABLE',
    detail: isBack
      ? 'The server answers again; calls to it pass.'
      : `Too many calls of the server have failed; calls to it are paused for ${inWords(waitMs)}.`,
  });
}
