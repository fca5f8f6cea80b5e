/** What bounds the writes of a gateway, on either engine. */
export const WRITE_LIMITS = {
  itemsMax: 256,
  waitingMax: 10_000,
  patienceMs: 30_000,
} as const;
