// Tests of a policy, run: each has a state of its own, and its calls are decided in a row.
import { randomUUID } from 'node:crypto';
import type { Decision } from '@subluminal/contracts';
import type { Position, Snapshot } from '@subluminal/core/policy';
import type { ProjectPaths } from '@subluminal/core/ports';
import { loadConfig } from '@subluminal/plane/config';
import { projectPaths } from '@subluminal/plane/policy';
import { loadRedactor } from '@subluminal/plane/vault';
import { orThrow } from '../input/command.ts';
import { explainCalls } from './explain-calls.ts';
import { openExplainGates } from './explain-gates.ts';
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

/** A home that is not there: a test comes out the same whatever this machine has pinned or configured. */
const NO_HOME = `/sub-policy-test-${randomUUID()}`;
const ENV = { HOME: NO_HOME, TMPDIR: '/tmp' };

/** The folders that the paths of a policy under test start in; upper and lower case differ. */
export function testPaths(project: string): ProjectPaths {
  return { ...projectPaths(project, ENV), isCaseless: false };
}

interface TestPlace {
  /** The file of the tests. */
  readonly file: string;
  readonly policyFile: string;
  readonly cwd: string;
}

export async function runTest(
  { name, position, calls, expect }: PolicyTest,
  snapshot: Snapshot,
  { file, policyFile, cwd }: TestPlace,
): Promise<TestResult> {
  const loaded = await loadConfig({ env: ENV, cwd: NO_HOME });
  if (!loaded.ok) throw new Error('a configuration without settings is wrong');
  const { plain: redact } = orThrow(await loadRedactor([], []));
  const setup = { loaded, snapshot, policyFile, redact, startMs: START_MS, env: ENV, cwd };
  const gates = orThrow(await openExplainGates(calls, setup));
  const explained = explainCalls(snapshot, calls, { startMs: START_MS, gates, redact });
  const decision = explained.at(-1)?.last.decision;
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
