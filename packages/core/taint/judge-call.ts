// The objections of taint to a call, for the gate of one server and for the hub of a run.
import { checkCall } from './check.ts';
import type { TaintPolicy } from './compile-policy.ts';
import { ruleOfTwo } from './rule-of-two.ts';
import { RULE_OF_TWO_HINT, ruleOfTwoSummary, TAINT_HINT, taintSummary } from './summaries.ts';
import type { TaintCall, TaintState } from './types.ts';

interface TaintObjection {
  readonly ruleId: 'gate:taint' | 'gate:rule-of-two';
  readonly reason_code: 'TAINTED_SINK' | 'RULE_OF_TWO';
  /** Whether a person may let the call pass. */
  readonly how: 'ask' | 'block';
  readonly summary: string;
  readonly hint: string;
}

export interface TaintJudgement {
  readonly objections: readonly TaintObjection[];
  /** `taint:sink`, each once. */
  readonly findings: readonly string[];
}

/** Judges a call without changing the state. */
export function judgeTaint(
  state: TaintState,
  call: TaintCall,
  policy: TaintPolicy,
): TaintJudgement {
  const findings = new Set<string>();
  const objections: TaintObjection[] = [];
  const checked = checkCall(state, call, policy);
  if (checked.verdict === 'tainted') {
    for (const { sink } of checked.findings) findings.add(`taint:${sink}`);
    const held = checked.findings.filter(({ holds }) => holds);
    if (policy.onTaint !== 'tag' && held.length > 0) {
      objections.push({
        ruleId: 'gate:taint',
        reason_code: 'TAINTED_SINK',
        how: policy.onTaint,
        summary: taintSummary({ findings: held, more: checked.more }),
        hint: TAINT_HINT,
      });
    }
  }
  if (policy.ruleOfTwo === 'off') return { objections, findings: [...findings] };
  const two = ruleOfTwo(state, call, policy);
  if (two.verdict === 'third') {
    findings.add('taint:rule_of_two');
    objections.push({
      ruleId: 'gate:rule-of-two',
      reason_code: 'RULE_OF_TWO',
      how: policy.ruleOfTwo,
      summary: ruleOfTwoSummary(two),
      hint: RULE_OF_TWO_HINT,
    });
  }
  return { objections, findings: [...findings] };
}
