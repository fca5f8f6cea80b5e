// Prunes old runs by the retention of the configuration, once a day.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import type { Config } from '../../stores/config/index.ts';
import type { Ledger, PruneRequest } from '../../stores/ledger/index.ts';

export const DAY_MS = 86_400_000;
/** How long ended requests stay in the queue of approvals; the ledger keeps them for longer. */
const APPROVALS_DAYS = 30;
/** Many daemons a day may start; one of them looks. */
export const RETENTION_AT = 'retention_at';

/** Whole runs first: a removed run has no previews left to remove. */
export function retentionRequests(config: Config, nowMs: number): readonly PruneRequest[] {
  const before = (days: number) => ({ olderThanMs: nowMs - days * DAY_MS });
  return [
    before(config['ledger.retention_days']),
    { ...before(config['ledger.retention_previews_days']), what: 'previews' },
  ];
}

/** Prunes when the last time is a day ago; returns how many runs were touched. */
export async function keepRetention(
  ledger: Ledger,
  config: Config,
  nowMs: number,
): Promise<number> {
  const { store } = ledger;
  const last = await store.transaction((transaction) => transaction.meta(RETENTION_AT));
  const sinceMs = nowMs - Number(last ?? Number.NEGATIVE_INFINITY);
  if (sinceMs >= 0 && sinceMs < DAY_MS) return 0;
  let runs = 0;
  for (const request of retentionRequests(config, nowMs)) {
    runs += (await ledger.prune({ ...request, by: 'retention' })).runs;
  }
  await store.transaction((transaction) => transaction.setMeta(RETENTION_AT, String(nowMs)));
  return runs;
}

/** Ends requests whose time is up, and removes those that ended long ago. */
export async function sweepApprovals(
  home: string,
  nowMs: number,
  keepDays = APPROVALS_DAYS,
): Promise<number> {
  if (!['approvals', 'grants'].some((folder) => existsSync(join(home, folder)))) return 0;
  const { openDesk } = await import('../../stores/approvals/index.ts');
  const desk = openDesk({ home, ports: { nowMs: () => nowMs, uuid: uuidv7 } });
  if (isFailure(desk)) throw new Error(desk.message);
  const { queue, grants } = desk;
  queue.expireDue(nowMs);
  const olderThanMs = nowMs - keepDays * DAY_MS;
  // Grants first: one that was never given is known by its request.
  return grants.sweep(olderThanMs) + queue.sweep(olderThanMs);
}
