// Calls decided in a row. Those that repeat and come out the same are folded into one.
import type { Decision } from '@subluminal/contracts';
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
import { type CedarGate, type CedarSaid, cedarReport } from './explain-cedar.ts';
import type { ExplainedStage, ExplainGates, JudgedByGates } from './explain-gates.ts';

/** One call, or calls in a row that came out the same. */
export interface Explained {
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
  /** Without secrets. */
  readonly args: unknown;
  readonly argsText: string;
  /** Of the first call; its tallies are those of the last one, and their words name both. */
  readonly explanation: Explanation;
  /** Of the last call alone. */
  readonly last: Explanation;
  /** The answer of the Cedar policies, if there are any; the decision is that of both together. */
  readonly cedar: CedarSaid['answer'] | undefined;
  /** The stages of gates with a gate in force, if gates were asked. */
  readonly gates: readonly ExplainedStage[];
}

interface ExplainOptions {
  readonly startMs: number;
  readonly cedar?: CedarGate | undefined;
  readonly gates?: ExplainGates | undefined;
  /** Takes secrets out of the values that are shown. */
  readonly redact?: ((text: string) => string) | undefined;
  /** What was counted before these calls. */
  readonly state?: PolicyState | undefined;
}

interface Question {
  readonly call: Call;
  readonly state: PolicyState;
  readonly nowMs: number;
  readonly redact: ((text: string) => string) | undefined;
}

/** A row of equal calls that may still grow. */
interface Fold {
  readonly key: string;
  /** By the rules alone. */
  readonly rulesKey: string;
  readonly from: number;
  to: number;
  readonly argsText: string;
  readonly first: Explanation;
  readonly said: CedarSaid | undefined;
  readonly judged: JudgedByGates | undefined;
  /** Asked only when the row has ended: nobody looks at the calls in between. */
  lastQuestion: Question;
}

export function explainCalls(
  snapshot: Snapshot,
  calls: readonly PlannedCall[],
  { startMs, cedar, gates, redact, state: before }: ExplainOptions,
): readonly Explained[] {
  const all: Explained[] = [];
  let state = before ?? initialState(snapshot);
  let nowMs = startMs;
  let number = 0;
  for (const { call, argsText, atMs, repeat, result } of calls) {
    nowMs = atMs ?? nowMs;
    let fold: Fold | undefined;
    for (let left = repeat; left > 0; left--) {
      number++;
      const question: Question = { call, state, nowMs, redact };
      const outcome = decide(snapshot, call, state, nowMs);
      const rulesKey = keyOf(outcome);
      // Calls that come out the same by the rules do so by Cedar: it counts nothing, and judges tools alone.
      const isSame = fold?.rulesKey === rulesKey;
      const asked = call.subject === undefined ? cedar : undefined;
      const said = isSame ? fold?.said : asked?.explain({ call, rules: outcome, nowMs });
      const rules = { ...outcome, decision: said?.decision ?? outcome.decision };
      const judged = gates?.judge({ call, argsText, result, rules, state, nowMs });
      const key = rulesKey + JSON.stringify(judged && [judged.decision, judged.stages]);
      if (fold?.key === key) {
        fold.to = number;
        fold.lastQuestion = question;
      } else {
        if (fold !== undefined) all.push(folded(snapshot, fold));
        const first = explain(snapshot, question);
        const row = { key, rulesKey, argsText, first, said, judged };
        fold = { ...row, from: number, to: number, lastQuestion: question };
      }
      state = (judged ?? outcome).state;
      if ((judged ?? rules).decision.action === 'ALLOW') {
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
  const { from, to, argsText, first, said, judged, lastQuestion } = fold;
  const decision = judged?.decision ?? said?.decision;
  const inEnd = from === to ? first : explain(snapshot, lastQuestion);
  const last = decidedBy(inEnd, decision);
  const rules = decidedBy(first, decision).rules.map((rule, index) =>
    ranged(rule, last.rules[index]),
  );
  const { nowMs, call, redact = String } = lastQuestion;
  const explanation = { ...decidedBy(first, decision), rules };
  // Redacted JSON is JSON still.
  const shown = redact(argsText);
  const args: unknown = shown === argsText ? call.args : JSON.parse(shown);
  const gates = judged?.stages ?? [];
  const row = { from, to, atMs: nowMs, args, argsText: shown, explanation, last };
  return { ...row, cedar: said?.answer, gates };
}

/** The explanation of the rules, where Cedar or a gate may have decided in the end. */
function decidedBy(explanation: Explanation, decision: Decision | undefined): Explanation {
  if (decision === undefined) return explanation;
  const { rule_id, would } = decision;
  const gate = (would ?? decision).rule_id;
  if (gate?.startsWith('gate:') !== true) return { ...explanation, decision };
  const rules = explanation.rules.map((rule): ExplainedRule => {
    if (rule.outcome !== 'decided') return rule;
    const why = `${rule.why.replace('it decides', 'it would decide')}, but \`${rule_id ?? gate}\` comes first`;
    return { ...rule, outcome: 'would_decide', why };
  });
  return { ...explanation, decision, rules };
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

interface ExplainedReport extends Explanation {
  readonly at: string;
  readonly call: Explanation['call'] & { readonly args: unknown };
  readonly gates: readonly ExplainedStage[];
  readonly cedar?: ReturnType<typeof cedarReport>;
}

/** One call, or several that came out the same, as `--json` has them. */
export function explainedReport(explained: Explained): ExplainedReport {
  const { atMs, args, explanation, cedar, gates } = explained;
  // The gates have judged the content of the call; the taint of answers is not known.
  const not_evaluated = explanation.not_evaluated.filter((section) => section !== 'content');
  const { call, ...rest } = { ...explanation, not_evaluated };
  const at = new Date(atMs).toISOString();
  const said = cedar === undefined ? {} : { cedar: cedarReport(cedar) };
  return { at, ...rest, call: { ...call, args }, gates, ...said };
}
