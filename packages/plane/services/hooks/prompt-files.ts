// The files that a client shows its model together with a prompt, as the reads that they are.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ToolUse } from '@subluminal/core/hooks';

export const PROMPT_FILES_MAX = 64;
/** The name of a file, and not of a person: a folder, or a dot inside. */
const FILE_NAME = /[/\\~]|\../;

/** A name that is neither on the disk nor looks like a file is one of somebody, or of something else. */
export function readsOf(
  files: readonly string[],
  cwd: string,
  userHome: string,
): readonly ToolUse[] {
  const named = files.filter((name) => FILE_NAME.test(name) || isThere(name, cwd));
  const paths = named.map((name) => name.replace(/^~(?=\/|$)/, userHome));
  return [...new Set(paths)].map((path) => ({
    tool: 'Read',
    argsText: JSON.stringify({ file_path: path }),
  }));
}

/** From the folder of the session, or from one above it. */
function isThere(name: string, cwd: string): boolean {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return true;
    if (folder === dirname(folder)) return false;
  }
}
