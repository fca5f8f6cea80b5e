// The gates beside the rules: how they are asked, and how their refusals weigh against the rules.
import type { Decision } from '@subluminal/contracts';
import { type Call, policiesIn, type Snapshot, strictestMode } from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';

export interface JudgedCall {
  readonly call: Call;
  readonly riskClass: readonly string[];
  readonly nowMs: number;
}

/** A gate beside the rules, such as Cedar policies. */
export interface Judge {
  /** Shims see it, and then ask for every call. */
  readonly name: string;
  /** The refusal that it wants, if any. At once; whatever it throws is a refusal, too. */
  refusal(judged: JudgedCall): Decision | undefined;
}

/** What a gate wants, and whether that is enforced or only reported. */
export interface Said {
  /** A refusal; with `approval`, one that a person may lift. */
  readonly decision: Decision;
  readonly enforced: boolean;
}

/** What a shim without a bundle works by. */
const NO_POLICY_ID = 'none';
const REASON_LENGTH_MAX = 300;

/** Asks a judge; a judge that throws refuses. */
export function refusalBy(judge: Judge, judged: JudgedCall): Decision | undefined {
  try {
    return judge.refusal(judged);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return {
      action: 'BLOCK',
      rule_id: null,
      severity: 'critical',
      reason_code: 'CEDAR_UNAVAILABLE',
      summary: `The Cedar policies could not be asked: ${visible(why, REASON_LENGTH_MAX)}.`,
    };
  }
}

/**
 * A refusal that nobody can lift comes first, from whichever gate. Then a request for a person, the
 * rules' own first. A refusal that is not enforced is only reported, and never hides what the rules
 * would have done.
 */
export function weigh(rules: Decision, said: readonly Said[]): Decision {
  if (isFinal(rules)) return rules;
  const enforced = said.filter((one) => one.enforced).map(({ decision }) => decision);
  const refusal = enforced.find(isFinal);
  if (refusal !== undefined) return refusal;
  if (rules.action !== 'ALLOW') return rules;
  const [asking] = enforced;
  if (asking !== undefined) return asking;
  const [unenforced] = said;
  if (unenforced === undefined || rules.would !== undefined) return rules;
  return spared(unenforced.decision);
}

function isFinal({ action, approval }: Decision): boolean {
  return action !== 'ALLOW' && approval === undefined;
}

/** The call passes, with what would have happened to it. */
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

/** Whether refusals of the judge hold. Without a bundle, no mode restricts it to observing. */
export function judgeEnforces(snapshot: Snapshot): boolean {
  const { document, profile } = snapshot;
  const isNone = document.policy_id === NO_POLICY_ID && document.rules.length === 0;
  return profile === 'production' && (isNone || strictestMode(policiesIn(snapshot)) !== 'observe');
}

/** A run may have been ended by a request, not by a rule. */
export function named(decision: Decision): Decision {
  return decision.rule_id === '' ? { ...decision, rule_id: null } : decision;
}
