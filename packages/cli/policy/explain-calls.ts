// Calls decided in a row. Those that repeat and come out the same are folded into one.
import type { JsonObject } from '@subluminal/contracts';
import {
  type Call,
  decide,
  type ExplainedRule,
  type Explanation,
  explain,
  initialState,
  type Outcome,
  type PolicyState,
  recordResult,
  type Snapshot,
} from '@subluminal/core/policy';
import type { PlannedCall } from './call-file.ts';
import type { CedarGate, CedarSaid } from './explain-cedar.ts';

/** One call, or calls in a row that came out the same. */
export interface Explained {
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
  readonly args: JsonObject;
  readonly argsText: string;
  /** Of the first call; its tallies are those of the last one, and their words name both. */
  readonly explanation: Explanation;
  /** Of the last call alone. */
  readonly last: Explanation;
  /** The answer of the Cedar policies, if there are any; the decision is that of both together. */
  readonly cedar: CedarSaid['answer'] | undefined;
}

interface ExplainOptions {
  readonly startMs: number;
  readonly cedar?: CedarGate | undefined;
}

interface Question {
  readonly call: Call;
  readonly state: PolicyState;
  readonly nowMs: number;
}

/** A row of equal calls that may still grow. */
interface Fold {
  readonly key: string;
  readonly from: number;
  to: number;
  readonly argsText: string;
  readonly first: Explanation;
  readonly said: CedarSaid | undefined;
  /** Asked only when the row has ended: nobody looks at the calls in between. */
  lastQuestion: Question;
}

export function explainCalls(
  snapshot: Snapshot,
  calls: readonly PlannedCall[],
  { startMs, cedar }: ExplainOptions,
): readonly Explained[] {
  const all: Explained[] = [];
  let state = initialState(snapshot);
  let nowMs = startMs;
  let number = 0;
  for (const { call, argsText, atMs, repeat, result } of calls) {
    nowMs = atMs ?? nowMs;
    let fold: Fold | undefined;
    for (let left = repeat; left > 0; left--) {
      number++;
      const question: Question = { call, state, nowMs };
      const outcome = decide(snapshot, call, state, nowMs);
      const key = keyOf(outcome);
      if (fold?.key === key) {
        fold.to = number;
        fold.lastQuestion = question;
      } else {
        if (fold !== undefined) all.push(folded(snapshot, fold));
        const first = explain(snapshot, question);
        // Calls that come out the same by the rules do so by Cedar: it counts nothing.
        const said = cedar?.explain({ call, rules: outcome, nowMs });
        fold = { key, from: number, to: number, argsText, first, said, lastQuestion: question };
      }
      const { decision } = fold.said ?? outcome;
      state = outcome.state;
      if (decision.action === 'ALLOW') {
        state = recordResult(snapshot, { call, result, trace: outcome.trace, nowMs }, state);
      }
    }
    if (fold !== undefined) all.push(folded(snapshot, fold));
  }
  return all;
}

/** Two calls come out the same when every rule did the same; only counts may differ. */
function keyOf({ decision, trace }: Outcome<PolicyState>): string {
  const { action, rule_id, reason_code } = decision;
  const steps = trace.map((step) => [step.rule_id, step.outcome]);
  return JSON.stringify([action, rule_id, reason_code, steps]);
}

function folded(snapshot: Snapshot, fold: Fold): Explained {
  const { from, to, argsText, first, said, lastQuestion } = fold;
  const decided = said === undefined ? {} : { decision: said.decision };
  const last = { ...(from === to ? first : explain(snapshot, lastQuestion)), ...decided };
  const rules = first.rules.map((rule, index) => ranged(rule, last.rules[index]));
  const { nowMs, call } = lastQuestion;
  const explanation = { ...first, ...decided, rules };
  const cedar = said?.answer;
  return { from, to, atMs: nowMs, args: call.args ?? {}, argsText, explanation, last, cedar };
}

/** A count that went on: "1 of 3 used" and "3 of 3 used" make "1–3 of 3 used". */
function ranged(first: ExplainedRule, last: ExplainedRule | undefined): ExplainedRule {
  const [from, to] = [first.tally, last?.tally];
  if (from === null || to === null || to === undefined || from.count === to.count) return first;
  const count = `${from.count} `;
  const counts = first.why.startsWith(count);
  const why = counts ? `${from.count}–${to.count} ${first.why.slice(count.length)}` : first.why;
  return { ...first, why, tally: to };
}

/** The last call of a row, by itself. */
export function lastOf(explained: Explained): Explained {
  return { ...explained, from: explained.to, explanation: explained.last };
}
