// The working folder of a shell may have been deleted: then the system names none.

export const MISSING_FOLDER = {
  message: 'the working folder does not exist any more.',
  fix: 'Change to a folder that exists (`cd`), and try again.',
} as const;

/** Whether an error is the system's answer to a process whose working folder is gone. */
export function isWorkingFolderGone(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause && cause.syscall === 'uv_cwd';
}
