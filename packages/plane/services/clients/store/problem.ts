// What goes wrong with files, in words.
import type { ConfigProblem } from '../types.ts';

export function problem(path: string, message: string, fix: string): ConfigProblem {
  return { kind: 'problem', path, message, fix };
}

const FIXES: { readonly [code: string]: string } = {
  EACCES: 'Check who may read and write the file and its folder.',
  EPERM: 'Check who may read and write the file and its folder.',
  EROFS: 'The file system can only be read: make it writable, or move the file.',
  ENOSPC: 'The disk is full: make room and try again.',
  EDQUOT: 'The disk quota is used up: make room and try again.',
  EFBIG: 'The file is larger than the system allows: raise the limit (`ulimit -f`) and try again.',
};

/** A failed call to the system as a problem; anything else is a bug and thrown on. */
export function systemProblem(path: string, doing: string, cause: unknown): ConfigProblem {
  const code = systemCode(cause);
  if (code === undefined) throw cause;
  return problem(
    path,
    `${path} cannot be ${doing} (${code}).`,
    FIXES[code] ?? 'Check the path and its disk, then try again.',
  );
}

/** As `systemProblem`, of what lies in our own home. */
export function homeProblem(path: string, doing: string, cause: unknown): ConfigProblem {
  const told = systemProblem(path, doing, cause);
  return { ...told, fix: `${told.fix} Or set SUB_HOME to a folder that you can write to.` };
}

export function systemCode(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause) || !('syscall' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

/** For a command that is shown to be copied. */
export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** How to put a backup in place without us: a link that stands there by now is not written through. */
export function byHand(backup: string, target: string): string {
  return `Put it back by hand: rm -f ${quoted(target)} && cp ${quoted(backup)} ${quoted(target)}`;
}
