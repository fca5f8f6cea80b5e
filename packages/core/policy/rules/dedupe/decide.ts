import type { RuleOf } from '@subluminal/contracts';
import { type CallMoment, callKey } from '../../counters/scope.ts';
import { type Table, type TableLimits, tableGet, tableSet } from '../../counters/table.ts';
import type { Trip } from '../../model/trip.ts';
import type { RuleResult } from '../../rule-kind/rule-kind.ts';

type DedupeRule = RuleOf<'dedupe'>;
export type DedupeSlot = { readonly seen: Table<number> };

/** Looks whether the same call passed within the window. It is remembered by `markPassed`. */
export function checkDuplicate(
  rule: DedupeRule,
  at: CallMoment,
  slot: DedupeSlot,
): RuleResult<DedupeSlot> {
  const kind = 'count';
  const { scope, window_ms: windowMs } = rule.effect.dedupe;
  const key = callKey(scope, at);
  const seenAtMs = tableGet(slot.seen, key);
  const tally = { count: seenAtMs === undefined ? 0 : 1, limit: 1 };
  if (seenAtMs === undefined) return { kind, slot, tally, trip: undefined };
  if (at.nowMs < seenAtMs) {
    // The clock went back: the window starts anew, or it could last until the old time returns.
    const seen = tableSet(slot.seen, key, { value: at.nowMs, nowMs: at.nowMs });
    return { kind, slot: { seen }, tally, trip: duplicate(rule, windowMs) };
  }
  const leftMs = seenAtMs + windowMs - at.nowMs;
  if (leftMs > 0) return { kind, slot, tally, trip: duplicate(rule, leftMs) };
  return { kind, slot, tally: { count: 0, limit: 1 }, trip: undefined };
}

/** Remembers a call that passes. One that is refused did nothing, so its retry is no duplicate. */
export function markPassed(rule: DedupeRule, at: CallMoment, slot: DedupeSlot): DedupeSlot {
  const key = callKey(rule.effect.dedupe.scope, at);
  const entry = { value: at.nowMs, nowMs: at.nowMs };
  return { seen: tableSet(slot.seen, key, entry) };
}

/** A call is remembered for the window, and the oldest are forgotten when there are too many. */
export function dedupeLimits(rule: DedupeRule): TableLimits {
  return { lifeMs: rule.effect.dedupe.window_ms, whenFull: 'evict' };
}

function duplicate(rule: DedupeRule, leftMs: number): Trip {
  const { dedupe, reason_code, message } = rule.effect;
  return {
    action: dedupe.on_duplicate,
    reasonCode: reason_code ?? 'DUPLICATE_CALL',
    summary: message ?? `The same call passed less than ${dedupe.window_ms} ms ago.`,
    hintKind: 'OTHER',
    ...(dedupe.hint_text !== undefined && { hintText: dedupe.hint_text }),
    retryAdvice: `It was done already. If it must be done again, wait ${leftMs} ms.`,
  };
}
