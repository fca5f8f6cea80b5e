// The circuit breaker as a gate: it stops calls while the server is paused, and tells of each change.
import type { CallEnd, GuardedCall } from '../session/guard.ts';
import {
  type CircuitState,
  callEnded,
  callPassed,
  mayPass,
  retryAdvice,
} from '../surface/circuit-breaker.ts';
import { inWords } from '../surface/manifest/quantities.ts';
import type { Memory } from './memory.ts';
import type { Stop } from './verdicts.ts';

/** Whether calls to the server are paused; undefined when this one may go. */
export function breakerStop(memory: Memory, call: GuardedCall, nowMs: number): Stop | undefined {
  const { circuit, options } = memory;
  if (options.manifest === undefined || circuit.pause === undefined) return undefined;
  const moment = { settings: options.manifest.breaker, nowMs };
  if (mayPass(circuit, call.callId, moment)) return undefined;
  const { hint, retryAfterMs } = retryAdvice(circuit, nowMs);
  return {
    rule: 'gate:breaker',
    enforced: options.enforces.surface,
    reason_code: 'SERVER_UNAVAILABLE',
    summary: 'Calls to this server are paused, because too many of them have failed.',
    advice: hint,
    retryAfterMs,
  };
}

/** The call goes out: it may be the probe. */
export function breakerPassed(memory: Memory, { callId }: GuardedCall, nowMs: number): void {
  const { circuit, options } = memory;
  if (options.manifest === undefined || circuit.pause === undefined) return;
  move(memory, callPassed(circuit, callId, { settings: options.manifest.breaker, nowMs }), nowMs);
}

export function breakerEnded(memory: Memory, call: CallEnd, nowMs: number): void {
  const { circuit, options } = memory;
  if (options.manifest === undefined) return;
  move(memory, callEnded(circuit, call, { settings: options.manifest.breaker, nowMs }), nowMs);
}

function move(memory: Memory, next: CircuitState, nowMs: number): void {
  const wasPaused = memory.circuit.pause !== undefined;
  memory.circuit = next;
  const isPaused = next.pause !== undefined;
  if (isPaused === wasPaused) return;
  const { retryAfterMs } = retryAdvice(next, nowMs);
  memory.board.tell({
    what: 'server_state',
    enforced: memory.options.enforces.surface,
    reason_code: 'SERVER_UNAVAILABLE',
    detail: isPaused
      ? `Too many calls of the server have failed; calls to it are paused for ${inWords(retryAfterMs)}.`
      : 'The server answers again; calls to it pass.',
  });
}
