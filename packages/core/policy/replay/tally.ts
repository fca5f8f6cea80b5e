// The counts of a replay.
import type { ReplaySummary, Verdict } from './types.ts';

export interface Tally {
  readonly verdicts: { [V in Verdict]: number };
  readonly rules: Map<string, { recorded: number; replayed: number }>;
}

/** A policy has at most 1,000 rules; a recording may name those of many policies. */
const RULES_MAX = 4_000;

export function emptyTally(): Tally {
  return {
    verdicts: {
      same: 0,
      stricter: 0,
      looser: 0,
      different_rule: 0,
      undetermined: 0,
      unrecorded: 0,
    },
    rules: new Map(),
  };
}

export function countVerdict(tally: Tally, verdict: Verdict, by: 1 | -1): void {
  tally.verdicts[verdict] += by;
}

/** False when there is no room for another rule. */
export function countRule(
  tally: Tally,
  ruleId: string | null,
  side: 'recorded' | 'replayed',
): boolean {
  if (ruleId === null) return true;
  const known = tally.rules.get(ruleId);
  if (known !== undefined) {
    known[side] += 1;
    return true;
  }
  if (tally.rules.size >= RULES_MAX) return false;
  tally.rules.set(ruleId, { recorded: 0, replayed: 0, [side]: 1 });
  return true;
}

export function summaryOf({ verdicts, rules }: Tally, runs: number): ReplaySummary {
  const calls = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  const named = [...rules].map(([rule_id, counts]) => ({ rule_id, ...counts }));
  return {
    calls,
    runs,
    verdicts: { ...verdicts },
    rules: named.toSorted((left, right) => (left.rule_id < right.rule_id ? -1 : 1)),
  };
}
