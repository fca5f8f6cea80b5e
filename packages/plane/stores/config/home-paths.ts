// The product's folder, and what is where in it.
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { attempt } from '../../os/index.ts';

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
  // A user without an entry in the system's database gets the root.
  return resolve(env['HOME'] || attempt(() => userInfo().homedir) || '/');
}
