// The code of a failed system call, such as `ENOENT`.

/** The code of a failed system call. Anything else is a defect of ours and is thrown on. */
export function systemCode(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  // Node refuses a path with a NUL byte itself; it has no `syscall` then.
  const isSystems = code === 'ERR_INVALID_ARG_VALUE' || !String(code).startsWith('ERR_');
  if (typeof code !== 'string' || !isSystems) throw cause;
  return code;
}

/** Whether a system call failed with one of these codes; false for every other kind of error. */
export function hasSystemCode(cause: unknown, ...codes: readonly string[]): boolean {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && codes.includes(code);
}
