// The product's folder, and what is where in it.
import { lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ConfigProblem, systemCode } from './problem.ts';

interface HomePaths {
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

type Env = { readonly [name: string]: string | undefined };

/** Where everything is for this environment; nothing is created. */
function homePaths(env: Env): HomePaths {
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

function userHome(env: Env): string {
  return resolve(env['HOME'] || homedir());
}

/**
 * Creates a folder of the home on demand, for its owner alone. A folder that others may write to
 * is refused: they could put their policy, or their ledger, in place of ours.
 */
function ensurePrivateFolder(path: string): ConfigProblem | undefined {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
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

function unsafe(where: string, message: string, fix: string): ConfigProblem {
  return { code: 'SUB_HOME_UNSAFE', where, message, fix };
}

/** Checks the home that is there, and makes it if it is not. */
function ensureHome({ home }: HomePaths): ConfigProblem | undefined {
  return ensurePrivateFolder(home);
}

export type { Env, HomePaths };
export { ensureHome, ensurePrivateFolder, homePaths, userHome };
