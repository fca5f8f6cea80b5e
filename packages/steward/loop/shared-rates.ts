// Rates and cooldowns over all conversations, their sub-agents and restarts: the policy of a run counts what this run
// does, and another run would begin anew.
import type { Rate } from '@subluminal/core/quantities';
import type { Judgement } from '@subluminal/plane/agent-run';
import type { Journal } from '../journal/index.ts';
import { type Permissions, ratesOf } from '../permissions/index.ts';
import { channelOf } from './channel-of.ts';
import type { Proposal } from './types.ts';

interface RateParts {
  readonly journal: Journal;
  readonly permissions: Permissions;
  readonly nowMs: number;
}

/** Refuses an action that was taken too often; undefined for all others. */
export function judgeRates(
  { journal, permissions, nowMs }: RateParts,
  { server, tool, key: exceptKey, conversation: { channel } }: Proposal,
): Judgement | undefined {
  for (const rate of ratesOf(permissions, { server, tool, channel: channelOf(channel) })) {
    // A bucket that nobody uses is full again after one period.
    const period = { server, tool, exceptKey, sinceMs: nowMs - 2 * rate.periodMs };
    const only = rate.isOfChannel ? { channel } : {};
    const waitMs = waitAfter(journal.history.timesForwarded({ ...period, ...only }), rate, nowMs);
    if (waitMs <= 0) continue;
    const seconds = Math.ceil(waitMs / 1_000);
    const reason = `It was done as often as it may be, in all conversations. It may be done again in ${seconds} s.`;
    return { by: 'rates', verdict: 'BLOCK', reason };
  }
  return undefined;
}

/** How long the next call must wait, in a bucket that these calls were taken from. */
function waitAfter(times: readonly number[], { calls, periodMs }: Rate, nowMs: number): number {
  let left = calls;
  let lastMs = times[0] ?? nowMs;
  const refill = (atMs: number) => {
    left = Math.min(calls, left + ((atMs - lastMs) * calls) / periodMs);
    lastMs = atMs;
  };
  for (const atMs of times) {
    refill(atMs);
    left = Math.max(0, left - 1);
  }
  refill(nowMs);
  return ((1 - left) * periodMs) / calls;
}
