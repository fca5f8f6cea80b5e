// The reasons that the product itself gives for a decision. Rules may bring their own.

export const REASONS = {
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
    'Nobody can be asked: a CI job has neither a terminal nor a channel, the queue cannot be written or is full, or the arguments were too large to be shown.',
  APPROVAL_CANCELLED: 'The agent withdrew the call, or left, before anybody answered.',
  COMMAND_OPAQUE:
    'A part of the command cannot be understood, and the policy has rules about commands.',
  POLICY_ERROR: 'A rule could not be evaluated, so the default for errors holds.',
  ARGS_NOT_INSPECTED: 'The arguments were too large to inspect, and a rule needs them.',
  INVALID_NAME:
    'The server or tool name is empty, longer than 1,024 characters, or has control characters in it.',
  INVALID_CALL: 'The arguments are not valid JSON, have a key twice, or the call is malformed.',
  RUN_TERMINATED: 'The run was ended earlier; nothing more passes.',
  HUB_UNAVAILABLE:
    'The process that counts for all servers of the run could not be asked, so the call is stopped.',
  GATEWAY_ROUTED: 'The gateway of the team lets the turn pass.',
  GATEWAY_REFUSED: 'The gateway of the team refuses the turn.',
  GATEWAY_UNAVAILABLE: 'The gateway of the team cannot be reached, so no turn passes.',
  GATEWAY_FALLBACK:
    'The gateway of the team cannot be reached, so the turn goes to the provider with its own key.',
  TOOL_FORBIDDEN: 'The manifest of the server forbids this tool.',
  TOOL_NOT_LISTED: 'The manifest of the server does not list this tool.',
  PARAM_BLOCKED: 'The call has a parameter that is blocked.',
  PARAM_STRIPPED: 'The call has a parameter that this tool does not take here.',
  PARAM_LIMIT: 'A parameter is beyond its limit.',
  ARGS_TOO_COMPLEX: 'The arguments are too large or too deep to be checked.',
  OUTSIDE_HOURS: 'The tool may not be used at this time.',
  COOLDOWN: 'The tool needs a pause between two calls.',
  PROMPT_NOT_LISTED: 'The manifest of the server does not list this prompt.',
  RESOURCE_NOT_LISTED: 'The manifest of the server does not list this resource.',
  METHOD_NOT_LISTED: 'The manifest of the server does not list this method.',
  PIN_CHANGED: 'The definition of the tool has changed since it was first seen or accepted.',
  PIN_INSTRUCTIONS_CHANGED:
    'The instructions of the server have changed since they were first seen or accepted.',
  PIN_AMBIGUOUS: 'The server offers two different tools of this name.',
  PIN_UNVERIFIED: 'The definition of the tool has not been seen in this session.',
  PIN_STORE_UNREADABLE: 'What is known of the tools cannot be read, so none of them is trusted.',
  SERVER_UNAVAILABLE: 'The server is failing, so calls to it are paused.',
  DEFINITION_SUSPICIOUS: 'The definition of the tool tries to steer the agent or hides text.',
  CONTENT_BLOCKED: 'The content has something in it that may not travel.',
  CONTENT_APPROVAL: 'The content has something in it that a person must agree to first.',
  LEAK_BLOCKED: 'The call would give away a secret that was entrusted to the server.',
  TAINTED_SINK: 'The call sends to, or acts on, something that came from an untrusted answer.',
  RULE_OF_TWO: 'The run would have untrusted input, private data and outside effects all at once.',
  JUDGEMENT_BLOCKED:
    'The agent has had the call judged, such as by a guardian model: it must not be made.',
  JUDGEMENT_ESCALATED: 'The agent has had the call judged: a person must agree first.',
  SELF_PROTECTION:
    'The call names what governs it, or would remove or overwrite it: the policy, the folder of sub, a governed client config or the ledger.',
  CEDAR_DENIED: 'A Cedar policy forbids the call, or none permits it.',
  CEDAR_UNAVAILABLE: 'The Cedar policies could not be asked, so the call is stopped.',
  ANSWER_REFUSED: 'The answer of the server may not reach the agent.',
  RESULT_TOO_LARGE: 'The answer is longer than the policy allows.',
  WOULD_BLOCK: 'The call passes, but an enforcing policy would have stopped it.',
} as const;

export type ReasonCode = keyof typeof REASONS;
