// What a failed system call says, and work whose failure needs no reason.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** The code of a failed system call, such as `ENOENT`. Any other error is a bug and is rethrown. */
export function systemCode(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  // Node itself refuses a path with a NUL byte; that error has no `syscall`.
  const isSystems = code === 'ERR_INVALID_ARG_VALUE' || !String(code).startsWith('ERR_');
  if (typeof code !== 'string' || !isSystems) throw cause;
  return code;
}

/** Whether a system call failed with one of these codes; false for every other kind of error. */
export function hasSystemCode(cause: unknown, ...codes: readonly string[]): boolean {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && codes.includes(code);
}

/** The code of an error, or its text when it has none: for a message to a person. */
export function codeOrText(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}

export function errorText(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Undefined when the work throws. Only for work whose failure has one meaning, whatever the reason. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  return attempt((): unknown => JSON.parse(text));
}

/** Undefined for bytes that are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

/** The path with all links followed; the absolute path itself where nothing can be followed. */
export function realPath(path: string): string {
  return attempt(() => realpathSync(path)) ?? resolve(path);
}
