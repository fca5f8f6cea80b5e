// The reasons that the product itself gives for a decision. Rules may bring their own.

const REASONS = {
  DEFAULT_ALLOW: 'No rule decided, so the call passes.',
  NOT_SELECTED: 'The policy is not for this agent, so the call passes.',
  ALLOWLIST_MATCH: 'An allow rule lets the call pass.',
  DENYLIST_MATCH: 'A deny rule stops the call.',
  BUDGET_EXCEEDED: 'A budget of calls or cost is used up.',
  RATE_LIMITED: 'The calls come faster than a rate limit allows.',
  BREAKER_ERRORS: 'Too many calls have failed within the window.',
  BREAKER_REPEATS: 'The same call was repeated too often within the window.',
  DUPLICATE_CALL: 'The same call was made a moment ago.',
  APPROVAL_REQUIRED: 'A person must agree first.',
  POLICY_ERROR: 'A rule could not be evaluated, so the default for errors holds.',
  ARGS_NOT_INSPECTED: 'The arguments were too large to inspect, and a rule needs them.',
  RUN_TERMINATED: 'The run was ended earlier; nothing more passes.',
  WOULD_BLOCK: 'The call passes, but an enforcing policy would have stopped it.',
} as const;

type ReasonCode = keyof typeof REASONS;

export type { ReasonCode };
export { REASONS };
