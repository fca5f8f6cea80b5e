// What adoption works with: one user, one project, and the store of what was changed.
import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { processInfo, type System, thisSystem } from '../../../os/index.ts';
import { type HomePaths, userHome } from '../../../stores/config/index.ts';
import type { Place } from '../index.ts';
import type { Store } from '../store/ports.ts';

export interface AdoptPlace {
  readonly env: { readonly [name: string]: string | undefined };
  /** An absolute path. */
  readonly project: string;
  readonly paths: Pick<HomePaths, 'backups' | 'run'>;
}

/** Also with the store of secrets and the bindings of servers. */
export interface SecretPlace extends AdoptPlace {
  readonly paths: Pick<HomePaths, 'home' | 'config' | 'backups' | 'run'>;
  /** Null for none; else that of the system. */
  readonly keychain?: null;
}

export function clientPlace({ env, project }: AdoptPlace): Place {
  return { platform: process.platform, userHome: userHome(env), project, env };
}

/** One that has ended and that nobody has reaped is as good as gone: it has no words any more. */
function startOf(pid: number, system: System): string | undefined {
  const info = processInfo(pid, system);
  return info?.args.join('') === '' ? 'ended' : info?.start;
}

export function storeAt({ backups, run }: AdoptPlace['paths']): Store {
  const system = thisSystem();
  return {
    ports: {
      sha256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
      processStart: (pid) => startOf(pid, system),
      uuid: uuidv7,
      now: () => new Date(),
      pid: process.pid,
      space: system.space?.(),
    },
    paths: { backups, run },
  };
}
