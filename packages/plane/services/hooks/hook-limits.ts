// The limits of hooks, and of what is kept of them.

export const HOOK_LIMITS = {
  /** Outputs of tools are long. */
  bodyBytesMax: 16 * 1_048_576,
  sessionsMax: 256,
  serversMax: 64,
} as const;
