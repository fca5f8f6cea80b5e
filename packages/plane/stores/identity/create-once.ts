// Files that the first one writes and all others read.
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readAgentFile } from './agent-files.ts';

export interface Once {
  readonly text: string;
  /** Whether it is our text, because we were first. */
  readonly isOurs: boolean;
}

/**
 * The content of the file, which is ours when there was none. The file appears with its content:
 * nobody reads half of it. Throws what the system says, and leaves nothing behind then.
 */
export function createOnce(path: string, text: string, suffix: string): Once {
  const there = readAgentFile(path);
  if (there !== undefined) return { text: there, isOurs: false };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${suffix}`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    linkSync(draft, path);
    return { text, isOurs: true };
  } catch (cause) {
    const winner = readAgentFile(path);
    if (winner === undefined) throw cause;
    return { text: winner, isOurs: false };
  } finally {
    rmSync(draft, { force: true });
  }
}
