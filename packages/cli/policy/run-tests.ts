// Tests of a policy, run: each has a state of its own, and its calls are decided in a row.
import type { Decision } from '@subluminal/contracts';
import type { Position, Snapshot } from '@subluminal/core/policy';
import { explainCalls } from './explain-calls.ts';
import type { Expectation, PolicyTest, TestOutcome } from './test-file.ts';

export interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly position: Position;
  /** What was expected and did not come; empty when the test passed. */
  readonly faults: readonly string[];
  readonly decision: TestOutcome;
  readonly rule: string | null;
}

/** When all tests begin: limits that depend on the time of day must give the same every day. */
const START_MS = Date.UTC(2026, 0, 31, 12);

export function runTest(
  file: string,
  snapshot: Snapshot,
  { name, position, calls, expect }: PolicyTest,
): TestResult {
  const decision = explainCalls(snapshot, calls, { startMs: START_MS }).at(-1)?.last.decision;
  if (decision === undefined) throw new Error('a test has at least one call');
  const faults = faultsOf(expect, decision);
  return { file, name, position, faults, decision: outcomeOf(decision), rule: decision.rule_id };
}

function outcomeOf({ action, approval }: Decision): TestOutcome {
  return approval === undefined ? action : 'ASK';
}

function faultsOf(expect: Expectation, decision: Decision): readonly string[] {
  const { rule_id, reason_code, hint, summary } = decision;
  const outcome = outcomeOf(decision);
  const hintText = hint?.hint_text ?? '';
  const by = rule_id === null ? 'no rule' : rule_id;
  return [
    outcome === expect.decision
      ? ''
      : `expected ${expect.decision}, got ${outcome} by ${by}: ${summary}`,
    expect.rule === undefined || expect.rule === rule_id
      ? ''
      : `expected the rule ${expect.rule ?? 'none'}, got ${by}`,
    expect.reason_code === undefined || expect.reason_code === reason_code
      ? ''
      : `expected the reason ${expect.reason_code}, got ${reason_code}`,
    expect.hint === undefined || hintText.includes(expect.hint)
      ? ''
      : `expected a hint with "${expect.hint}", got "${hintText}"`,
  ].filter((fault) => fault !== '');
}
