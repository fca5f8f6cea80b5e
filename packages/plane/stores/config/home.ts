// The product's folder, and what is where in it.
import { lstatSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type ConfigProblem, systemCode } from './problem.ts';

export interface HomePaths {
  readonly home: string;
  readonly config: string;
  readonly policy: string;
  readonly ledger: string;
  readonly ledgerKey: string;
  readonly socket: string;
  readonly hostId: string;
  readonly spool: string;
  readonly run: string;
  readonly backups: string;
}

export type Env = { readonly [name: string]: string | undefined };

/** Where everything is for this environment; nothing is created. */
export function homePaths(env: Env): HomePaths {
  const home = env['SUB_HOME'] ? resolve(env['SUB_HOME']) : join(userHome(env), '.subluminal');
  return {
    home,
    config: join(home, 'config.toml'),
    policy: join(home, 'policy.yaml'),
    ledger: join(home, 'ledger.db'),
    ledgerKey: join(home, 'ledger.key'),
    socket: join(home, 'run', 'ledger.sock'),
    hostId: join(home, 'host-id'),
    spool: join(home, 'spool'),
    run: join(home, 'run'),
    backups: join(home, 'backups'),
  };
}

/** An empty HOME counts as unset: it would be the current folder, whichever that is. */
export function userHome(env: Env): string {
  return resolve(env['HOME'] || accountHome());
}

/** As the system has it on record. A user who is on no record has the root, and may rarely write there. */
function accountHome(): string {
  try {
    return userInfo().homedir || '/';
  } catch {
    return '/';
  }
}

/**
 * Creates a folder of the home on demand, for its owner alone. A folder that others may write to
 * is refused: they could put their policy, or their ledger, in place of ours.
 */
export function ensurePrivateFolder(path: string): ConfigProblem | undefined {
  try {
    makeFolders(path);
    const stats = lstatSync(path);
    const ownId = process.getuid?.();
    if (!stats.isDirectory()) {
      return unsafe(path, 'is not a folder', `Remove ${path}, or set SUB_HOME to another folder.`);
    }
    if (ownId !== undefined && stats.uid !== ownId) {
      return unsafe(path, 'belongs to another user', 'Set SUB_HOME to a folder of your own.');
    }
    // On Windows the mode says nothing.
    if (ownId !== undefined && (stats.mode & 0o022) !== 0) {
      return unsafe(path, 'can be written to by others', `Run: chmod go-w ${path}`);
    }
    return undefined;
  } catch (cause) {
    const code = systemCode(cause);
    const fix = 'Check the path and its permissions, or set SUB_HOME to another folder.';
    return { code: 'SUB_FILE_WRITE', where: path, message: `cannot be created (${code})`, fix };
  }
}

const LEVELS_MAX = 64;

/**
 * Makes the folders that are missing, for their owner alone. One at a time: asked for all at once,
 * Node tries for ever where a file system takes no new folders (/proc).
 */
export function makeFolders(path: string): void {
  const missing: string[] = [];
  let at = path;
  while (missing.length < LEVELS_MAX && !isThere(at) && dirname(at) !== at) {
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
    if (systemCode(cause) !== 'EEXIST') throw cause;
  }
}

function unsafe(where: string, message: string, fix: string): ConfigProblem {
  return { code: 'SUB_HOME_UNSAFE', where, message, fix };
}

/** Checks the home that is there, and makes it if it is not. */
export function ensureHome({ home }: HomePaths): ConfigProblem | undefined {
  return ensurePrivateFolder(home);
}
