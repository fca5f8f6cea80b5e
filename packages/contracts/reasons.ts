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
  APPROVAL_REJECTED: 'A person said no.',
  APPROVAL_TIMEOUT: 'Nobody answered in time.',
  APPROVAL_UNAVAILABLE:
    'Nobody can be asked: the queue cannot be written or is full, or the arguments were too large to be shown.',
  APPROVAL_CANCELLED: 'The agent withdrew the call, or left, before anybody answered.',
  POLICY_ERROR: 'A rule could not be evaluated, so the default for errors holds.',
  ARGS_NOT_INSPECTED: 'The arguments were too large to inspect, and a rule needs them.',
  INVALID_NAME:
    'The server or tool name is empty, longer than 1,024 characters, or has control characters in it.',
  INVALID_CALL: 'The arguments are not valid JSON, have a key twice, or the call is malformed.',
  RUN_TERMINATED: 'The run was ended earlier; nothing more passes.',
  HUB_UNAVAILABLE:
    'The process that counts for all servers of the run could not be asked, so the call is stopped.',
  WOULD_BLOCK: 'The call passes, but an enforcing policy would have stopped it.',
} as const;

type ReasonCode = keyof typeof REASONS;

export type { ReasonCode };
export { REASONS };
