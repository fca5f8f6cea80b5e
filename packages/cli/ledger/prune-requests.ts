// What a person wants to be pruned; without a word about which runs, what the configuration says.
import { definedFields } from '@subluminal/contracts';
import type { Config } from '@subluminal/plane/config';
import { retentionRequests } from '@subluminal/plane/daemon';
import type { PruneFilter } from '@subluminal/plane/ingest';

interface PruneWish {
  readonly olderThanMs: number | undefined;
  readonly keepRuns: number | undefined;
  readonly isPreviewsOnly: boolean;
}

export function pruneRequests(
  { olderThanMs, keepRuns, isPreviewsOnly }: PruneWish,
  config: Config,
  nowMs: number,
): readonly PruneFilter[] {
  const what = isPreviewsOnly ? ('previews' as const) : undefined;
  if (olderThanMs === undefined && keepRuns === undefined) {
    const all = retentionRequests(config, nowMs);
    return isPreviewsOnly ? all.filter((request) => request.what === what) : all;
  }
  return [definedFields({ olderThanMs, keepRuns, what })];
}
