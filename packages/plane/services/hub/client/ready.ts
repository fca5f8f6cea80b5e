// Waiting for a hub that is about to start.
import { parseHealthResponse } from '@subluminal/contracts';
import type { Line } from './line.ts';
import type { HubClientLimits, HubReadiness } from './types.ts';

interface WaitingForHub {
  readonly readiness: HubClientLimits['readiness'];
  readonly readyMs: number;
  /** How long one attempt may take. */
  readonly totalMs: number;
  readonly signal: AbortSignal;
}

/** Who is not admitted now will not be in a moment. */
const NEVER: ReadonlySet<number> = new Set([401, 403]);

/** Asks for its health with growing pauses, a bounded number of times. */
export async function waitForHub(
  line: Line,
  { readiness, readyMs, totalMs, signal }: WaitingForHub,
): Promise<HubReadiness> {
  const { attemptsMax, backoffFirstMs, backoffMaxMs } = readiness;
  const endMs = performance.now() + readyMs;
  let pauseMs = backoffFirstMs;
  let reason = '';
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const untilMs = performance.now() + totalMs;
    const read = await line.send({ to: 'health', untilMs, parse: parseHealthResponse });
    if (read.ok && read.value.status === 'ok') {
      const { judges = [], v: _version, status: _status, ...terms } = read.value;
      return { kind: 'ready', judges, terms };
    }
    reason = read.ok ? 'the hub is stopping' : read.reason;
    if (read.ok || NEVER.has(read.status) || signal.aborted) break;
    if (attempt === attemptsMax || performance.now() + pauseMs >= endMs) break;
    await pause(pauseMs, signal);
    pauseMs = Math.min(2 * pauseMs, backoffMaxMs);
  }
  return { kind: 'unavailable', code: 'SUB_HUB_DOWN', reason };
}

function pause(pauseMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, pauseMs);
    timer.unref();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
