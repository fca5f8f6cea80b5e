// What adoption works with: one user, one project, and the store of what was changed.
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { SubCode } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { processInfo, type System, thisSystem } from '../../../os/index.ts';
import { type HomePaths, userHome } from '../../../stores/config/index.ts';
import type { ConfigProblem, Place } from '../index.ts';
import type { Holder } from '../store/lock.ts';
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

// What keeps adoption from doing its work, with the code that users see.

export interface AdoptProblem {
  readonly kind: 'refused';
  readonly code: SubCode;
  readonly message: string;
  readonly fix: string;
}

export function adoptProblem(code: SubCode, message: string, fix: string): AdoptProblem {
  return { kind: 'refused', code, message, fix };
}

/** The message of a reader names the file by its last part only. */
export function withCode(code: SubCode, { path, message, fix }: ConfigProblem): AdoptProblem {
  if (message.includes(path)) return adoptProblem(code, message, fix);
  const short = `${basename(path)}: `;
  const rest = message.startsWith(short) ? message.slice(short.length) : message;
  return adoptProblem(code, `${path}: ${rest}`, fix);
}

export function heldBy(path: string, { pid, elsewhere }: Holder): AdoptProblem {
  if (elsewhere !== undefined) {
    return adoptProblem(
      'SUB_CLIENT_LOCKED',
      `${path} is in use by a sub in another container (process ${pid} there), which cannot be seen from here.`,
      `End it there, or run \`sub unwrap\` there. If that container is gone: ${elsewhere}.`,
    );
  }
  return adoptProblem(
    'SUB_CLIENT_LOCKED',
    `${path} is in use by another sub (process ${pid}).`,
    'Try again when that one has ended.',
  );
}
