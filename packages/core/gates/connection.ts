// The circuit breaker as a gate: it stops calls while the server is paused, and notes each change.
import type { CallEnd, GuardedCall } from '../session/guard.ts';
import {
  type CircuitState,
  callEnded,
  callPassed,
  mayPass,
  retryAdvice,
} from '../surface/circuit-breaker.ts';
import { inWords } from '../surface/manifest/quantities.ts';
import type { Memory } from './guard-memory.ts';
import type { Stop } from './verdicts.ts';

/** Stops a call while calls to the server are paused. */
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
  if (memory.circuit.pause === undefined) return;
  move(memory, nowMs, (circuit, moment) => callPassed(circuit, callId, moment));
}

export function breakerEnded(memory: Memory, call: CallEnd, nowMs: number): void {
  move(memory, nowMs, (circuit, moment) => callEnded(circuit, call, moment));
}

type Moment = Parameters<typeof callEnded>[2];

function move(
  memory: Memory,
  nowMs: number,
  change: (circuit: CircuitState, moment: Moment) => CircuitState,
): void {
  const { circuit, options, board } = memory;
  if (options.manifest === undefined) return;
  const next = change(circuit, { settings: options.manifest.breaker, nowMs });
  memory.circuit = next;
  const isPaused = next.pause !== undefined;
  if (isPaused === (circuit.pause !== undefined)) return;
  const { retryAfterMs } = retryAdvice(next, nowMs);
  board.tell({
    what: 'server_state',
    enforced: options.enforces.surface,
    reason_code: 'SERVER_UNAVAILABLE',
    detail: isPaused
      ? `Too many calls of the server have failed; calls to it are paused for ${inWords(retryAfterMs)}.`
      : 'The server answers again; calls to it pass.',
  });
}
