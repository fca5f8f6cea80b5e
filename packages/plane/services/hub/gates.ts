// What the gates beside the rules say, put together with what the rules have said.
import type { Decision } from '@subluminal/contracts';

/** What a gate wants, and whether that is carried out or only told. */
export interface Said {
  /** A refusal; with `approval`, one that a person may lift. */
  readonly decision: Decision;
  readonly enforced: boolean;
}

/**
 * A refusal that nobody can lift weighs most, whoever gives it. Then whoever asks for a person, the
 * rules first. What is not enforced is only told, and never hides what the rules would have done.
 */
export function weigh(rules: Decision, said: readonly Said[]): Decision {
  if (isFinal(rules)) return rules;
  const enforced = said.filter((one) => one.enforced).map(({ decision }) => decision);
  const refusal = enforced.find(isFinal);
  if (refusal !== undefined) return refusal;
  if (rules.action !== 'ALLOW') return rules;
  const [asking] = enforced;
  if (asking !== undefined) return asking;
  const [told] = said;
  return told === undefined || rules.would !== undefined ? rules : spared(told.decision);
}

function isFinal({ action, approval }: Decision): boolean {
  return action !== 'ALLOW' && approval === undefined;
}

/** As the rules say it: the call passes, with what it was spared. */
function spared({ action, rule_id, severity, reason_code, summary }: Decision): Decision {
  return {
    action: 'ALLOW',
    rule_id,
    severity,
    reason_code: 'WOULD_BLOCK',
    summary: `Would be refused: ${summary}`,
    would: { action, rule_id, reason_code, summary },
  };
}
