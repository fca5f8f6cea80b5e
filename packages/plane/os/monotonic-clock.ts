/** Milliseconds that never go back, starting at wall-clock time. */
export function monotonicClock(): () => number {
  const offset = Date.now() - performance.now();
  return () => Math.floor(offset + performance.now());
}
