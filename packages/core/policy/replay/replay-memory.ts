// What a replay remembers while it reads: counters per run, calls that are still under way, and its
// counts. All are bounded; the notes count runs and calls that were given up.
import type { Snapshot } from '../compile/snapshot.ts';
import { initialState, type PolicyState } from '../decide/verdict.ts';
import type { Call, TraceStep } from '../model/call.ts';
import {
  NO_NOTES,
  NO_VERDICTS,
  type ReplayedCall,
  type ReplayLimits,
  type ReplayResult,
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

const LIMITS: ReplayLimits = { callsMax: 100_000, runsMax: 1_000, openMax: 10_000 };
/** A policy has at most 1,000 rules; a recording may name those of many policies. */
const RULES_MAX = 4_000;

export class ReplayMemory {
  readonly notes = { ...NO_NOTES };
  readonly verdicts = { ...NO_VERDICTS };
  readonly calls: ReplayedCall[] = [];
  readonly #limits: ReplayLimits;
  readonly #snapshot: Snapshot;
  readonly #runs = new Map<string, RunMemory>();
  readonly #open = new Map<string, OpenCall>();
  readonly #rules = new Map<string, { recorded: number; replayed: number }>();
  #runsSeen = 0;

  constructor(snapshot: Snapshot, limits: Partial<ReplayLimits> = {}) {
    this.#snapshot = snapshot;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** The memory of a run; it becomes the one used last. */
  run(runId: string): RunMemory {
    let run = this.#runs.get(runId);
    if (run === undefined) {
      if (this.#runs.size >= this.#limits.runsMax) this.#forgetRun();
      this.#runsSeen += 1;
      run = { state: initialState(this.#snapshot), lastMs: 0, seqMax: 0, starts: 0 };
    }
    this.#runs.delete(runId);
    this.#runs.set(runId, run);
    return run;
  }

  #forgetRun(): void {
    const [oldest] = this.#runs;
    if (oldest === undefined) return;
    this.#runs.delete(oldest[0]);
    this.notes.runs_forgotten += 1;
    this.notes.calls_missing += missingIn(oldest[1]);
  }

  openCall(runId: string, callId: string): OpenCall | undefined {
    return this.#open.get(callKey(runId, callId));
  }

  /** Lists a call, and keeps it until its decision and its end have come. */
  addCall(open: OpenCall): void {
    const { draft } = open;
    this.verdicts[draft.verdict] += 1;
    this.countRule(draft.replayed?.rule_id ?? null, 'replayed');
    if (this.calls.length < this.#limits.callsMax) this.calls.push(draft);
    else this.notes.calls_left_out += 1;
    const [oldest] = this.#open;
    if (this.#open.size >= this.#limits.openMax && oldest !== undefined) {
      this.#open.delete(oldest[0]);
      if (!oldest[1].decided || !oldest[1].ended) this.notes.calls_forgotten += 1;
    }
    this.#open.set(callKey(draft.run_id, draft.call_id), open);
  }

  countRule(ruleId: string | null, side: 'recorded' | 'replayed'): void {
    if (ruleId === null) return;
    const known = this.#rules.get(ruleId);
    if (known !== undefined) known[side] += 1;
    else if (this.#rules.size >= RULES_MAX) this.notes.rules_left_out += 1;
    else this.#rules.set(ruleId, { recorded: 0, replayed: 0, [side]: 1 });
  }

  /** The time of an event; one that can't be read happened with the one before it. */
  timeOf(ts: string, run: RunMemory): number {
    const readMs = Date.parse(ts);
    if (Number.isNaN(readMs)) this.notes.bad_times += 1;
    else run.lastMs = readMs;
    return run.lastMs;
  }

  result(): Pick<ReplayResult, 'calls' | 'summary' | 'notes'> {
    const { calls, notes, verdicts } = this;
    const rules = [...this.#rules].map(([rule_id, counts]) => ({ rule_id, ...counts }));
    const missing = [...this.#runs.values()].reduce((sum, run) => sum + missingIn(run), 0);
    return {
      calls,
      summary: {
        calls: Object.values(verdicts).reduce((sum, count) => sum + count, 0),
        runs: this.#runsSeen,
        verdicts,
        rules: rules.toSorted((left, right) => (left.rule_id < right.rule_id ? -1 : 1)),
      },
      notes: { ...notes, calls_missing: notes.calls_missing + missing },
    };
  }
}

/** Calls are numbered from 1, so a number above the count of starts means that some are missing. */
function missingIn({ seqMax, starts }: RunMemory): number {
  return Math.max(0, seqMax - starts);
}

/** Ids may hold any character, so the key begins with the length of the first id. */
function callKey(runId: string, callId: string): string {
  return `${runId.length} ${runId}\u0000${callId}`;
}
