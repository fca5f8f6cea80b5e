// The folder of the ledger's file.
import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { LedgerError } from '../errors.ts';

const LEVELS_MAX = 64;

/**
 * Makes the folders that are missing, for their owner alone. One at a time: asked for all at once,
 * Node tries for ever where a file system takes no new folders (/proc).
 */
export function makeFolders(path: string): void {
  const missing: string[] = [];
  for (let at = path; missing.length < LEVELS_MAX && !isThere(at) && dirname(at) !== at; ) {
    missing.push(at);
    at = dirname(at);
  }
  for (const folder of missing.toReversed()) makeFolder(folder);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Somebody else may have made it just now. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'EEXIST') return;
    // No ledger is missing here: there is no place for one.
    if (code !== 'ENOENT') throw cause;
    throw new LedgerError('SUB_LEDGER_IO', `The folder ${path} cannot be made.`, cause);
  }
}
