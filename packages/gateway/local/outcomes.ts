// How turns are refused and how they end, in the words of decisions and events.
import type { CallError, Decision, EvaluateResponse, JsonObject } from '@subluminal/contracts';
import type { ApprovalAnswer } from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { withoutOwnKeys } from '../providers/client-headers.ts';
import type { AttemptError, TurnOutcome, TurnRefusal, TurnRequest } from '../turns/types.ts';

const MESSAGE_LENGTH_MAX = 2_000;

export function ruleIds({ rule_id }: Decision): readonly string[] {
  return rule_id === null ? [] : [rule_id];
}

/** Each client hears a refusal in the way that stops it from trying again. */
export function refusalKind(
  decision: Decision,
  { trace = [] }: Partial<EvaluateResponse>,
): TurnRefusal['kind'] {
  if (decision.approval !== undefined || decision.reason_code.startsWith('APPROVAL_'))
    return 'approval';
  const rule = trace.find(({ rule_id }) => rule_id === decision.rule_id);
  if (rule?.kind === 'budget') return 'budget';
  if (decision.action === 'THROTTLE') return 'rate';
  return 'policy';
}

export function contentDecision(summary: string): Decision {
  const rule_id = 'gate:content';
  return {
    action: 'BLOCK',
    rule_id,
    severity: 'critical',
    reason_code: 'CONTENT_BLOCKED',
    summary,
  };
}

/** A hub that cannot say yes says no. */
export function failedDecision(why: string): Decision {
  const summary = `The hub of this run could not decide: ${visible(why, 200)}.`;
  return {
    action: 'BLOCK',
    rule_id: null,
    severity: 'critical',
    reason_code: 'POLICY_ERROR',
    summary,
  };
}

export function nobodyDecision({ rule_id, severity }: Decision): Decision {
  const summary = 'This turn needs the approval of a person, and nobody could be asked.';
  return { action: 'BLOCK', rule_id, severity, reason_code: 'APPROVAL_UNAVAILABLE', summary };
}

export function rejectedDecision(
  { rule_id, severity }: Decision,
  said: Exclude<ApprovalAnswer, 'approved'> | 'cancelled',
): Decision {
  const base = { action: 'BLOCK', rule_id, severity } as const;
  if (typeof said === 'object') {
    const summary = `A person has rejected this turn: ${visible(said.note, MESSAGE_LENGTH_MAX)}`;
    return { ...base, reason_code: 'APPROVAL_REJECTED', summary };
  }
  const [reason_code, summary] = REJECTIONS[said];
  return { ...base, reason_code, summary };
}

const REJECTIONS = {
  rejected: ['APPROVAL_REJECTED', 'A person has rejected this turn.'],
  timeout: ['APPROVAL_TIMEOUT', 'Nobody has approved this turn in time.'],
  unavailable: ['APPROVAL_UNAVAILABLE', 'This turn could not be approved.'],
  cancelled: ['APPROVAL_CANCELLED', 'The client has gone before a person answered.'],
} as const;

export function costFacts(micros: number | undefined): JsonObject {
  return micros === undefined ? {} : { cost_usd_max: micros / 1_000_000 };
}

/** A provider may repeat a key of the client in its error: that is not for the record. */
export function endOf(
  { last }: TurnOutcome,
  { headers }: Pick<TurnRequest, 'headers'>,
): {
  readonly status: 'OK' | 'ERROR' | 'TIMEOUT' | 'CANCELLED';
  readonly error: CallError | undefined;
} {
  const failed = last?.error;
  if (last !== undefined && failed === undefined) return { status: 'OK', error: undefined };
  if (failed?.class === 'client_gone') return { status: 'CANCELLED', error: undefined };
  const isTimeout = failed?.class === 'upstream_timeout';
  const error = errorOf(failed);
  const message = withoutOwnKeys(error.message, headers);
  return { status: isTimeout ? 'TIMEOUT' : 'ERROR', error: { ...error, message } };
}

function errorOf(failed: AttemptError | undefined): CallError {
  const { upstream, failure } = failed ?? {};
  const said = upstream?.message ?? failure?.message ?? 'the model could not be reached';
  const isTimeout = failed?.class === 'upstream_timeout';
  const isUpstream = failed?.class.startsWith('upstream_') === true;
  return {
    class: isTimeout ? 'timeout' : isUpstream ? 'upstream_error' : 'transport',
    message: visible(said, MESSAGE_LENGTH_MAX),
    ...(upstream !== undefined && { code: upstream.status }),
  };
}
