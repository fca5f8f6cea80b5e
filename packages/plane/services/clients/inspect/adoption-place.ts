// What adoption works with: one user, one project, and the store of what was changed.

import { basename } from 'node:path';
import { type Failure, failure, type SubCode } from '@subluminal/contracts';
import { thisSystem } from '../../../os/index.ts';
import { type HomePaths, userHome } from '../../../stores/config/index.ts';
import type { ClientPlace, ConfigFailure } from '../index.ts';
import type { ChangeStore, LockHolder } from '../store/change-store.ts';

export interface AdoptionPlace {
  readonly env: { readonly [name: string]: string | undefined };
  /** An absolute path. */
  readonly project: string;
  readonly paths: Pick<HomePaths, 'backups' | 'run'>;
}

/** Also with the store of secrets and the bindings of servers. */
export interface SecretPlace extends AdoptionPlace {
  readonly paths: Pick<HomePaths, 'home' | 'config' | 'backups' | 'run'>;
  /** Null for none; else that of the system. */
  readonly keychain?: null;
}

export function clientPlace({ env, project }: AdoptionPlace): ClientPlace {
  return { platform: process.platform, userHome: userHome(env), project, env };
}

export function storeAt({ backups, run }: AdoptionPlace['paths']): ChangeStore {
  return { paths: { backups, run }, system: thisSystem() };
}

// What keeps adoption from doing its work, with the code that users see.

/** The message of a reader names the file by its last part only. */
export function withCode(code: SubCode, { path, message, fix }: ConfigFailure): Failure {
  if (message.includes(path)) return failure(code, message, fix);
  const short = `${basename(path)}: `;
  const rest = message.startsWith(short) ? message.slice(short.length) : message;
  return failure(code, `${path}: ${rest}`, fix);
}

export function lockedFailure(path: string, { pid, elsewhere }: LockHolder): Failure {
  if (elsewhere !== undefined) {
    return failure(
      'SUB_CLIENT_LOCKED',
      `${path} is in use by a sub in another container (process ${pid} there), which cannot be seen from here.`,
      `End it there, or run \`sub unwrap\` there. If that container is gone: ${elsewhere}.`,
    );
  }
  return failure(
    'SUB_CLIENT_LOCKED',
    `${path} is in use by another sub (process ${pid}).`,
    'Try again when that one has ended.',
  );
}
