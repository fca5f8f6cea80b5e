// `breaker`: stops calls that keep failing, or that keep coming again.
import type { RuleOf } from '@subluminal/contracts';
import {
  conflictFinding,
  type Finding,
  missingFinding,
  type Path,
} from '../../../source/problem.ts';
import { type CallMoment, callKey, scopeKey } from '../../counters/scope.ts';
import { type CounterTable, keyIn, tableGet, tableSet, tableSize } from '../../counters/table.ts';
import type { Tally, Trip } from '../../model/trip.ts';
import type { RuleKind, RuleResult, TripReport } from '../../rule-kind/rule-kind.ts';

type BreakerRule = RuleOf<'breaker'>;
/** Times of counted events, oldest first; never more than a rule's threshold. */
type Times = readonly number[];
type BreakerSlot = { readonly errors: CounterTable<Times>; readonly repeats: CounterTable<Times> };

export const breaker: RuleKind<BreakerRule, BreakerSlot> = {
  role: 'counts',
  actionField: 'on_trip',
  examples: {
    breaker: '{ scope: run, error_threshold: 5, window_ms: 60000, on_trip: BLOCK }',
    scope: 'run',
    window_ms: '60000',
    on_trip: 'BLOCK',
  },
  check: (rule, path) => [...unpairedFields(rule, path), ...uselessCode(rule, path)],
  /** It has two reasons of its own, so it takes none by default. */
  normalize: (rule) => {
    const { breaker: section } = rule.effect;
    if (section.on_trip !== 'TERMINATE_RUN') return rule;
    const full = { terminate_code: 'BREAKER_TRIPPED', ...section };
    return { ...rule, effect: { ...rule.effect, breaker: full } };
  },
  tables: ({ effect: { breaker: section } }) => ({
    errors: { lifeMs: section.window_ms ?? 0, whenFull: 'share' },
    repeats: { lifeMs: section.repeat_window_ms ?? 0, whenFull: 'evict' },
  }),
  decide: countBreaker,
  failed: recordError,
  countsAcrossServers: ({ effect }) => {
    const { scope, error_threshold } = effect.breaker;
    return scope === 'tool' || (scope === 'run' && error_threshold !== undefined);
  },
  report: reportTrip,
};

const PAIRS = [
  ['error_threshold', 'window_ms'],
  ['repeat_threshold', 'repeat_window_ms'],
] as const;

function unpairedFields(
  { effect: { breaker: section } }: BreakerRule,
  path: Path,
): readonly Finding[] {
  const at = [...path, 'effect', 'breaker'];
  const given = PAIRS.flat().filter((field) => section[field] !== undefined);
  if (given.length === 0) {
    const message =
      'a breaker needs `error_threshold` with `window_ms`, or `repeat_threshold` with `repeat_window_ms`';
    return [missingFinding(at, message, 'Add `error_threshold: 5` and `window_ms: 60000`.')];
  }
  return PAIRS.flatMap(([threshold, window]) => {
    const hasThreshold = section[threshold] !== undefined;
    if (hasThreshold === (section[window] !== undefined)) return [];
    const [has, lacks] = hasThreshold ? [threshold, window] : [window, threshold];
    const example = hasThreshold ? 60_000 : 5;
    const message = `\`${has}\` needs \`${lacks}\``;
    const fix = `Add \`${lacks}: ${example}\`.`;
    return [conflictFinding([...at, has], message, fix)];
  });
}

function uselessCode({ effect }: BreakerRule, path: Path): readonly Finding[] {
  const { on_trip, terminate_code } = effect.breaker;
  if (terminate_code === undefined || on_trip === 'TERMINATE_RUN') return [];
  const message = `\`terminate_code\` has no meaning with \`on_trip: ${on_trip}\``;
  const fix = 'Remove it, or write `on_trip: TERMINATE_RUN`.';
  return [conflictFinding([...path, 'effect', 'breaker', 'terminate_code'], message, fix)];
}

/** Counts one attempt, and looks whether errors or repeats have opened the breaker. */
function countBreaker(
  rule: BreakerRule,
  at: CallMoment,
  slot: BreakerSlot,
): RuleResult<BreakerSlot> {
  const errors = errorTally(rule, at, slot);
  const repeats = countRepeat(rule, at, errors?.slot ?? slot);
  const next = repeats?.slot ?? errors?.slot ?? slot;
  if (errors !== undefined && errors.count >= errors.limit) {
    const summary = `The breaker is open: ${errors.count} errors in the last ${errors.windowMs} ms.`;
    return counted(next, errors, tripped(rule, 'BREAKER_ERRORS', summary));
  }
  if (repeats !== undefined && repeats.count >= repeats.limit) {
    const summary = `The same call came ${repeats.limit} times within ${repeats.windowMs} ms.`;
    return counted(next, repeats, tripped(rule, 'BREAKER_REPEATS', summary));
  }
  return counted(next, errors ?? repeats);
}

function counted(
  slot: BreakerSlot,
  tally: Tally | undefined,
  trip?: Trip,
): RuleResult<BreakerSlot> {
  const { count = 0, limit = 0 } = tally ?? {};
  return { kind: 'count', slot, tally: { count, limit }, trip };
}

/** Records that a call this breaker watches has failed. */
function recordError(rule: BreakerRule, at: CallMoment, slot: BreakerSlot): BreakerSlot {
  const { scope, error_threshold: threshold, window_ms: windowMs } = rule.effect.breaker;
  if (threshold === undefined || windowMs === undefined) return slot;
  const key = keyIn(slot.errors, scopeKey(scope, at));
  const value = pushed(tableGet(slot.errors, key) ?? [], threshold, { windowMs, at });
  const errors = tableSet(slot.errors, key, { value, nowMs: at.nowMs });
  return { errors, repeats: slot.repeats };
}

function errorTally(rule: BreakerRule, at: CallMoment, slot: BreakerSlot) {
  const { scope, error_threshold: limit, window_ms: windowMs } = rule.effect.breaker;
  if (limit === undefined || windowMs === undefined) return undefined;
  if (tableSize(slot.errors) === 0) return { slot, count: 0, limit, windowMs };
  const key = keyIn(slot.errors, scopeKey(scope, at));
  const times = tableGet(slot.errors, key);
  if (times === undefined) return { slot, count: 0, limit, windowMs };
  const value = within(times, windowMs, at.nowMs);
  const tally = { count: value.length, limit, windowMs };
  if ((times.at(-1) ?? at.nowMs) <= at.nowMs) return { slot, ...tally };
  // The clock went back: the window starts anew, or it could last until the old time returns.
  const errors = tableSet(slot.errors, key, { value, nowMs: at.nowMs });
  const next: BreakerSlot = { errors, repeats: slot.repeats };
  return { slot: next, ...tally };
}

function countRepeat(rule: BreakerRule, at: CallMoment, slot: BreakerSlot) {
  const { scope, repeat_threshold: limit, repeat_window_ms: windowMs } = rule.effect.breaker;
  if (limit === undefined || windowMs === undefined) return undefined;
  const key = callKey(scope, at);
  const known = tableGet(slot.repeats, key);
  const value = known === undefined ? [at.nowMs] : pushed(known, limit, { windowMs, at });
  const repeats = tableSet(slot.repeats, key, { value, nowMs: at.nowMs });
  const next: BreakerSlot = { errors: slot.errors, repeats };
  return { slot: next, count: value.length, limit, windowMs };
}

/** The times within the window and now, at most `countMax` of them: more would not matter. */
function pushed(
  times: Times,
  countMax: number,
  { windowMs, at }: { readonly windowMs: number; readonly at: CallMoment },
): Times {
  return [...within(times, windowMs, at.nowMs), at.nowMs].slice(-countMax);
}

/** The times within the window. A time from before the clock went back counts as now. */
function within(times: Times, windowMs: number, nowMs: number): Times {
  return times.map((time) => Math.min(time, nowMs)).filter((time) => nowMs - time < windowMs);
}

function tripped(rule: BreakerRule, reasonCode: string, summary: string): Trip {
  const { breaker: section, reason_code, message } = rule.effect;
  return {
    action: section.on_trip,
    reasonCode: reason_code ?? reasonCode,
    summary: message ?? summary,
    hintKind: 'SAFETY',
    ...(section.hint_text !== undefined && { hintText: section.hint_text }),
    retryAdvice: 'Do not repeat this call; find out why it keeps failing or repeating.',
    terminateCode: section.terminate_code ?? 'BREAKER_TRIPPED',
  };
}

/** A rule may bring its own reason code; then the limit that was reached gives the cause. */
function reportTrip({ effect }: BreakerRule, reasonCode: string, tally: Tally): TripReport {
  const { scope, error_threshold, window_ms, repeat_window_ms } = effect.breaker;
  const isErrors =
    reasonCode === 'BREAKER_ERRORS' ||
    (reasonCode !== 'BREAKER_REPEATS' && error_threshold === tally.limit);
  const windowMs = (isErrors ? window_ms : repeat_window_ms) ?? 1;
  return { scope, cause: isErrors ? 'errors' : 'repeats', windowMs };
}
