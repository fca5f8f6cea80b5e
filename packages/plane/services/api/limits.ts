// How much of everything.
import type { ApiLimits } from './types.ts';

export const LIMITS: ApiLimits = {
  connectionsMax: 128,
  waitingMax: 64,
  streamsMax: 32,
  headerBytesMax: 131_072,
  requestMs: 10_000,
  keepAliveMs: 5_000,
  stallMs: 60_000,
  pingMs: 30_000,
  streamBytesMax: 1_048_576,
  closeMs: 1_000,
  summaryEventsMax: 500_000,
};
