// What a replay remembers while it reads: counters per run, and calls that are still under way.
// Both are bounded; what is forgotten is counted.
import type { Snapshot } from '../compile/snapshot.ts';
import { initialState, type PolicyState } from '../decide/verdict.ts';
import type { Call, TraceStep } from '../model/call.ts';
import type {
  ReplayedCall,
  ReplayLimits,
  ReplayNotes,
  ReplaySummary,
  ReplayVerdict,
} from './types.ts';

export interface RunMemory {
  state: PolicyState;
  lastMs: number;
  /** The highest place of a call that was seen, and how many starts were. */
  seqMax: number;
  starts: number;
}

export type ReplayDraft = { -readonly [K in keyof ReplayedCall]: ReplayedCall[K] };

export interface OpenCall {
  readonly draft: ReplayDraft;
  readonly call: Call;
  readonly trace: readonly TraceStep[];
  /** Whether this policy lets the call pass, or may. */
  readonly passes: boolean;
  started: boolean;
  decided: boolean;
  ended: boolean;
}

type Notes = { -readonly [K in keyof ReplayNotes]: ReplayNotes[K] };

export interface Memory {
  readonly limits: ReplayLimits;
  readonly runs: Map<string, RunMemory>;
  readonly open: Map<string, OpenCall>;
  readonly notes: Notes;
  runsSeen: number;
}

const LIMITS: ReplayLimits = { callsMax: 100_000, runsMax: 1_000, openMax: 10_000 };

export function emptyMemory(limits: Partial<ReplayLimits>): Memory {
  return {
    limits: { ...LIMITS, ...limits },
    runs: new Map(),
    open: new Map(),
    notes: {
      decisions_without_start: 0,
      ends_without_start: 0,
      late_starts: 0,
      repeated_starts: 0,
      repeated_decisions: 0,
      out_of_order: 0,
      calls_missing: 0,
      bad_times: 0,
      calls_forgotten: 0,
      runs_forgotten: 0,
      calls_left_out: 0,
      rules_left_out: 0,
      beside_rules: 0,
    },
    runsSeen: 0,
  };
}

/** The memory of a run; it becomes the one used last. */
export function runOf(memory: Memory, runId: string, snapshot: Snapshot): RunMemory {
  const known = memory.runs.get(runId);
  if (known !== undefined) {
    memory.runs.delete(runId);
    memory.runs.set(runId, known);
    return known;
  }
  if (memory.runs.size >= memory.limits.runsMax) forgetRun(memory);
  memory.runsSeen += 1;
  const run = { state: initialState(snapshot), lastMs: 0, seqMax: 0, starts: 0 };
  memory.runs.set(runId, run);
  return run;
}

function forgetRun(memory: Memory): void {
  const [oldest] = memory.runs;
  if (oldest === undefined) return;
  const [runId, run] = oldest;
  memory.runs.delete(runId);
  memory.notes.runs_forgotten += 1;
  memory.notes.calls_missing += missingIn(run);
}

/** Calls are numbered from 1, so a number above the count of starts means that some are missing. */
function missingIn({ seqMax, starts }: RunMemory): number {
  return Math.max(0, seqMax - starts);
}

/** Ids may hold any character: the length says where the first ends. */
export function callKey(runId: string, callId: string): string {
  return `${runId.length} ${runId}\u0000${callId}`;
}

export function keepOpen(memory: Memory, key: string, call: OpenCall): void {
  if (memory.open.size >= memory.limits.openMax) {
    const [oldest] = memory.open;
    if (oldest !== undefined) {
      memory.open.delete(oldest[0]);
      const { decided, ended } = oldest[1];
      if (!decided || !ended) memory.notes.calls_forgotten += 1;
    }
  }
  memory.open.set(key, call);
}

/** The time of an event; one that can't be read happened with the one before it. */
export function timeOf(memory: Memory, ts: string, run: RunMemory): number {
  const readMs = Date.parse(ts);
  if (Number.isNaN(readMs)) {
    memory.notes.bad_times += 1;
    return run.lastMs;
  }
  run.lastMs = readMs;
  return readMs;
}

export function notesOf(memory: Memory): ReplayNotes {
  const missing = [...memory.runs.values()].map(missingIn).reduce((sum, one) => sum + one, 0);
  return { ...memory.notes, calls_missing: memory.notes.calls_missing + missing };
}

// The counts of a replay.

export interface ReplayTally {
  readonly verdicts: { [V in ReplayVerdict]: number };
  readonly rules: Map<string, { recorded: number; replayed: number }>;
}

/** A policy has at most 1,000 rules; a recording may name those of many policies. */
const RULES_MAX = 4_000;

export function emptyTally(): ReplayTally {
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

export function countVerdict(tally: ReplayTally, verdict: ReplayVerdict, by: 1 | -1): void {
  tally.verdicts[verdict] += by;
}

/** False when there is no room for another rule. */
export function countRule(
  tally: ReplayTally,
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

export function summaryOf({ verdicts, rules }: ReplayTally, runs: number): ReplaySummary {
  const calls = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  const named = [...rules].map(([rule_id, counts]) => ({ rule_id, ...counts }));
  return {
    calls,
    runs,
    verdicts: { ...verdicts },
    rules: named.toSorted((left, right) => (left.rule_id < right.rule_id ? -1 : 1)),
  };
}
