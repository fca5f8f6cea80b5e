// Contract C: what the data plane decides, and how a refusal looks on the wire.
import { check, parserFor } from '../shape/check.ts';
import {
  formatted,
  type Infer,
  integer,
  json,
  nullable,
  oneOf,
  open,
  optional,
  record,
  required,
  string,
} from '../shape/shape.ts';

export const ACTION = oneOf('ALLOW', 'BLOCK', 'THROTTLE', 'REJECT_WITH_HINT', 'TERMINATE_RUN');
const REFUSED_ACTION = oneOf('BLOCK', 'THROTTLE', 'REJECT_WITH_HINT', 'TERMINATE_RUN');
export const SEVERITY = oneOf('info', 'warn', 'critical');
export const MODE = oneOf('observe', 'guardrails', 'control');
export const PROFILE = oneOf('production', 'development');
export const HINT_KIND = oneOf('ARG_FIX', 'BUDGET', 'RATE', 'SAFETY', 'OTHER');

/** What an action must bring along, wherever a decision travels. */
export const ACTION_NEEDS = [
  { field: 'action', is: 'THROTTLE', needs: ['backoff_ms'] },
  { field: 'action', is: 'REJECT_WITH_HINT', needs: ['hint'] },
  { field: 'action', is: 'TERMINATE_RUN', needs: ['terminate'] },
] as const;

export const HINT = open({
  hint_text: required(string(), 'What the agent should do instead.'),
  suggested_args: required(nullable(record(json())), 'Corrected arguments, or null.'),
  retry_advice: required(nullable(string()), 'When and how to try again, or null.'),
  hint_kind: required(HINT_KIND, 'What kind of correction this is.'),
});

export const TERMINATE = open({
  terminate_code: required(string(), 'A stable code for the reason.'),
  terminate_message: required(string(), 'The reason for a person.'),
});

const APPROVAL_REQUEST = open({
  wait: required(
    oneOf('hold', 'hint'),
    'Keep the request open, or answer at once and let the retry pass.',
  ),
  timeout_ms: required(integer({ min: 1 }), 'How long a person has.'),
});

const WOULD = open({
  action: required(ACTION, 'What an enforcing policy would have done.'),
  rule_id: required(nullable(string()), 'The rule that would have decided.'),
  reason_code: required(string(), 'Its stable reason.'),
  summary: required(string(), 'Its reason for a person.'),
});

/** What an action brings along. */
export const ACTION_EXTRAS = {
  backoff_ms: optional(integer({ min: 0 }), 'With THROTTLE: how long to wait.'),
  hint: optional(HINT, 'With REJECT_WITH_HINT: how to do better.'),
  terminate: optional(TERMINATE, 'With TERMINATE_RUN: why the run ends.'),
  approval: optional(APPROVAL_REQUEST, 'Since 0.2.0: a person must agree first.'),
  would: optional(
    WOULD,
    'Since 0.2.0: what was spared by observe mode or the development profile.',
  ),
} as const;

export const DECISION = open(
  {
    action: required(ACTION, 'What happens to the call.'),
    rule_id: required(nullable(string()), 'The rule that decided, or null.'),
    severity: required(SEVERITY, 'How much it matters.'),
    reason_code: required(string(), 'A stable, enum-like reason.'),
    summary: required(string(), 'The reason for a person.'),
    ...ACTION_EXTRAS,
  },
  ACTION_NEEDS,
);

export const POLICY_REF = open({
  policy_id: required(string(), 'The policy.'),
  policy_version: required(string(), 'Its version.'),
  policy_hash: required(formatted('sha256'), 'The hash of its compiled snapshot.'),
});

const REFUSAL = open(
  {
    v: required(formatted('pack_version'), 'The interface version.'),
    action: required(REFUSED_ACTION, 'What was decided.'),
    rule_id: required(nullable(string()), 'The rule that decided, or null.'),
    reason_code: required(string(), 'A stable, enum-like reason.'),
    summary: required(string(), 'The reason for a person.'),
    run_id: required(string(), 'The run.'),
    call_id: required(string(), 'The call.'),
    server_name: required(string(), 'The configured server.'),
    tool_name: required(string(), 'The tool, as the server calls it.'),
    args_hash: required(formatted('sha256'), 'The hash of the canonical arguments.'),
    policy: required(POLICY_REF, 'The policy that decided.'),
    backoff_ms: ACTION_EXTRAS.backoff_ms,
    retry_advice: optional(string(), 'With THROTTLE: when and how to try again.'),
    hint: ACTION_EXTRAS.hint,
  },
  ACTION_NEEDS.slice(0, 2),
);

/** `error.data` of a refused call. */
export const ERROR_DATA = open({
  subluminal: required(REFUSAL, 'Everything a machine needs to know.'),
});

/** Reserved JSON-RPC codes. MCP 2026-07-28 took the -32000 block for itself, hence two sets. */
export const REFUSAL_CODES = {
  BLOCK: { legacy: -32081, modern: -31081 },
  THROTTLE: { legacy: -32082, modern: -31082 },
  REJECT_WITH_HINT: { legacy: -32083, modern: -31083 },
  TERMINATE_RUN: { legacy: -32084, modern: -31084 },
} as const;

export type Action = Infer<typeof ACTION>;
export type Severity = Infer<typeof SEVERITY>;
export type Mode = Infer<typeof MODE>;
export type Profile = Infer<typeof PROFILE>;
export type Hint = Infer<typeof HINT>;
export type HintKind = Infer<typeof HINT_KIND>;
export type Decision = Infer<typeof DECISION>;
export type PolicyRef = Infer<typeof POLICY_REF>;
export type Refusal = Infer<typeof REFUSAL>;
export type ErrorData = Infer<typeof ERROR_DATA>;

export const parseDecision = parserFor<Decision>(DECISION);

/** Reads `error.data` of a refused call. */
export const parseErrorData = parserFor<ErrorData>(ERROR_DATA);

/**
 * Suggested arguments can be as large as what the agent sent. A hint must not fail for that: beyond
 * the limits of free-form values it goes without them.
 */
export function boundedHint(hint: Hint): Hint {
  const first = check(HINT.fields.suggested_args.shape, hint.suggested_args)[0];
  return first?.problem === 'value' ? { ...hint, suggested_args: null } : hint;
}
