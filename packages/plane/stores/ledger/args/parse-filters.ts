// What people write for a filter: a name or a glob, an argument, a path.
import { posix, resolve } from 'node:path';
import { isUnder } from '@subluminal/core/paths';
import { compileGlob } from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import { realPath } from '../../../os/index.ts';
import { userHome } from '../../config/index.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type { ArgFilter, NamePattern, PathFilter } from '../store/query.ts';

const GLOB_SIGNS = /[*?[\]{}\\]/;
const GLOB_LENGTH_MAX = 1_024;
const SHOWN_LENGTH_MAX = 80;

/** What a person typed: a glob when it has the signs of one. */
export function namePattern(text: string | undefined): NamePattern | undefined {
  return text !== undefined && GLOB_SIGNS.test(text) ? { glob: text } : text;
}

/** Throws a failure for a glob that is none. */
export function globTest(glob: string): (name: string) => boolean {
  const compiled = compileGlob(glob.slice(0, GLOB_LENGTH_MAX + 1));
  if (compiled.ok && glob.length <= GLOB_LENGTH_MAX) return compiled.test;
  const why = compiled.ok ? `it is longer than ${GLOB_LENGTH_MAX} characters` : compiled.message;
  throw ledgerFailure(
    'SUB_LEDGER_QUERY',
    `The glob \`${visible(glob, SHOWN_LENGTH_MAX)}\` cannot be used: ${why}.`,
  );
}

/** Whether a name is the one that is asked for; any name is when none is. */
export function nameTest(pattern: NamePattern | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  return typeof pattern === 'string' ? (name) => name === pattern : globTest(pattern.glob);
}

/** `NAME=GLOB`; throws a failure for anything else. */
export function argFilter(text: string): ArgFilter {
  const [, name = '', glob = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === '') {
    const detail = `The argument \`${visible(text, SHOWN_LENGTH_MAX)}\` is not written as NAME=GLOB.`;
    throw ledgerFailure('SUB_LEDGER_QUERY', detail);
  }
  globTest(glob);
  return { name, glob };
}

const PATH_LENGTH_MAX = 4_096;
const ROOT = '/';

/** A path from a folder, and what it is when its links are followed. */
export function pathFilter(path: string, folder: string): PathFilter {
  requirePath(path);
  const home = userHome(process.env);
  const expanded = path.replace(/^~(?=\/|$)/, () => home);
  const written = resolve(folder, expanded);
  return { paths: [...new Set([written, realPath(written)])], home, folder };
}

/** The same where nobody stands in a folder: a relative path begins anywhere, by whole names. */
export function pathAnywhereFilter(path: string): PathFilter {
  requirePath(path);
  const isRelative = !path.startsWith('/') && !/^~(?:\/|$)/.test(path);
  if (!isRelative) return pathFilter(path, ROOT);
  const names = posix.normalize(path).replace(/\/$/, '');
  if (names === '.' || /^\.\.(?:\/|$)/.test(names)) {
    throw ledgerFailure('SUB_LEDGER_QUERY', 'The relative path names no file or folder.');
  }
  const home = userHome(process.env);
  return { paths: [`/${names}`], isAnywhere: true, home, folder: ROOT };
}

/** Whether a path is one that is asked for, or below it. */
export function isPathWanted({ paths, isAnywhere }: PathFilter, path: string): boolean {
  if (isAnywhere !== true) return paths.some((wanted) => isUnder(path, wanted));
  return paths.some((wanted) => `${path}/`.includes(`${wanted}/`));
}

function requirePath(path: string): void {
  if (path === '' || path.length > PATH_LENGTH_MAX || path.includes('\0')) {
    throw ledgerFailure('SUB_LEDGER_QUERY', 'The path is empty or too long.');
  }
}
