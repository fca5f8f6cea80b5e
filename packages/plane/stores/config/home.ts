// The product's folder, and what is where in it.
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { ensurePrivateFolder as ensureFolder } from '../../os/index.ts';
import type { ConfigProblem } from './problem.ts';

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
  const failed = ensureFolder(path);
  if (failed === undefined) return undefined;
  const { code, fix } = failed;
  const message = failed.message.slice(path.length + 1, -1);
  return { code: code === 'SUB_FILE_WRITE' ? code : 'SUB_HOME_UNSAFE', where: path, message, fix };
}

/** Checks the home that is there, and makes it if it is not. */
export function ensureHome({ home }: HomePaths): ConfigProblem | undefined {
  return ensurePrivateFolder(home);
}
