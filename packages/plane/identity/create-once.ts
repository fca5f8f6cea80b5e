// Files that the first one writes and all others read.
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

interface Once {
  readonly text: string;
  /** Whether it is our text, because we were first. */
  readonly isOurs: boolean;
}

const READ_LENGTH_MAX = 4_096;

/**
 * The content of the file, which is ours when there was none. The file appears with its content:
 * nobody reads half of it. Throws what the system says.
 */
function createOnce(path: string, text: string, suffix: string): Once {
  const there = readOnce(path);
  if (there !== undefined) return { text: there, isOurs: false };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${suffix}`;
  writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, path);
    return { text, isOurs: true };
  } catch (cause) {
    const winner = readOnce(path);
    if (winner === undefined) throw cause;
    return { text: winner, isOurs: false };
  } finally {
    unlinkSync(draft);
  }
}

function readOnce(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').slice(0, READ_LENGTH_MAX);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
}

export type { Once };
export { createOnce };
