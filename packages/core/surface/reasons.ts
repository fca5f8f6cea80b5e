// Why the surface stops a call: stable codes, and short texts that a model can act on.

const SURFACE_REASONS = {
  TOOL_FORBIDDEN: 'The manifest of the server forbids this tool.',
  TOOL_NOT_LISTED: 'The manifest of the server does not list this tool.',
  PARAM_BLOCKED: 'The call has a parameter that is blocked.',
  PARAM_STRIPPED: 'The call has a parameter that this tool does not take here.',
  PARAM_LIMIT: 'A parameter is beyond its limit.',
  ARGS_TOO_COMPLEX: 'The arguments are too large or too deep to be checked.',
  OUTSIDE_HOURS: 'The tool may not be used at this time.',
  COOLDOWN: 'The tool needs a pause between two calls.',
  RATE_LIMITED: 'The calls come faster than the manifest allows.',
  APPROVAL_REQUIRED: 'A person must agree first.',
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
} as const;

type SurfaceReason = keyof typeof SURFACE_REASONS;

export type { SurfaceReason };
export { SURFACE_REASONS };
