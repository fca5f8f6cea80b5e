// `dedupe`: stops a call that has passed a moment ago.
import type { RuleOf } from '@subluminal/contracts';
import { type CallMoment, callKey } from '../../counters/scope.ts';
import { type CounterTable, tableGet, tableSet } from '../../counters/table.ts';
import type { Trip } from '../../model/trip.ts';
import { type RuleKind, type RuleResult, withReason } from '../../rule-kind/rule-kind.ts';

type DedupeRule = RuleOf<'dedupe'>;
type DedupeSlot = { readonly seen: CounterTable<number> };

export const dedupe: RuleKind<DedupeRule, DedupeSlot> = {
  role: 'counts',
  actionField: 'on_duplicate',
  examples: {
    dedupe: '{ scope: run, window_ms: 60000, key: args_hash, on_duplicate: BLOCK }',
    scope: 'run',
    window_ms: '60000',
    key: 'args_hash',
    on_duplicate: 'BLOCK',
  },
  normalize: (rule) => ({ ...rule, effect: withReason(rule.effect, 'DUPLICATE_CALL') }),
  /** A call is remembered for the window, and the oldest are forgotten when there are too many. */
  tables: ({ effect }) => ({ seen: { lifeMs: effect.dedupe.window_ms, whenFull: 'evict' } }),
  decide: checkDuplicate,
  /** Remembers a call that passes. A refused call did nothing, so its retry is no duplicate. */
  passed: ({ effect }, at, { seen }) => {
    const entry = { value: at.nowMs, nowMs: at.nowMs };
    return { seen: tableSet(seen, callKey(effect.dedupe.scope, at), entry) };
  },
  countsAcrossServers: ({ effect }) => effect.dedupe.scope === 'tool',
};

/** Looks whether the same call passed within the window. `passed` remembers it. */
function checkDuplicate(
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

function duplicate(rule: DedupeRule, leftMs: number): Trip {
  const { dedupe: section, reason_code, message } = rule.effect;
  return {
    action: section.on_duplicate,
    reasonCode: reason_code ?? 'DUPLICATE_CALL',
    summary: message ?? `The same call passed less than ${section.window_ms} ms ago.`,
    hintKind: 'OTHER',
    ...(section.hint_text !== undefined && { hintText: section.hint_text }),
    retryAdvice: `It was done already. If it must be done again, wait ${leftMs} ms.`,
  };
}
