// What a policy that a command looks at comes to here: a file may hold, only tighten, or not be used.
import { realpathSync } from 'node:fs';
import { homePaths, userHome } from '@subluminal/plane/config';
import { policySources } from '@subluminal/plane/policy';
import { STDIO } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/text.ts';

/** Says on standard error when this file does not hold here as it stands. */
export function noteTrust(path: string, io: Io): void {
  const words = path === STDIO ? undefined : trustWords(path);
  if (words !== undefined) io.err.write(`sub: ${harmless(words)}\n`);
}

function trustWords(path: string): string | undefined {
  const { home } = homePaths(process.env);
  const place = { cwd: process.cwd(), home, userHome: userHome(process.env) };
  const { sources, ignored } = policySources({ ...place, named: null, trusts: false });
  const [first, second] = sources;
  if (first !== undefined && second !== undefined) {
    if (isSame(path, second.path)) {
      return `without --policy, ${path} only tightens ${first.path} here: it is not trusted`;
    }
    if (isSame(path, first.path)) {
      return `without --policy, ${second.path} tightens ${path} here: both are applied`;
    }
  }
  if (ignored === undefined || !isSame(path, ignored.path)) return undefined;
  return `without --policy, ${path} is not used here: ${ignored.why}`;
}

function isSame(path: string, other: string): boolean {
  try {
    return realpathSync(path) === realpathSync(other);
  } catch {
    return false;
  }
}
