// What adoption works with: one user, one project, and the store of what was changed.

import { basename } from 'node:path';
import { type Failure, failure, isFailure, type SubCode } from '@subluminal/contracts';
import { thisSystem } from '../../../os/index.ts';
import { type HomePaths, userHome } from '../../../stores/config/index.ts';
import { loadRedactor } from '../../../stores/vault/load-redactor.ts';
import type { ClientPlace, ConfigFailure } from '../index.ts';
import type { ChangeStore } from '../store/change-store.ts';

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

export function clientPlace({ env, project }: Pick<AdoptionPlace, 'env' | 'project'>): ClientPlace {
  return { platform: process.platform, userHome: userHome(env), project, env };
}

export function storeAt({ backups, run }: AdoptionPlace['paths']): ChangeStore {
  return { paths: { backups, run }, system: thisSystem() };
}

/** What hides secrets of a known form in a diff. */
export async function loadDiffRedactor(
  patterns: readonly string[],
): Promise<((text: string) => string) | Failure> {
  const loaded = await loadRedactor(patterns, []);
  return isFailure(loaded) ? loaded : loaded.plain;
}

// What keeps adoption from doing its work, with the code that users see.

/** The message of a reader names the file by its last part only. A lock is reported as one. */
export function withCode(wanted: SubCode, failed: ConfigFailure): Failure {
  const { path, message, fix } = failed;
  const code = failed.code === 'SUB_CLIENT_LOCKED' ? failed.code : wanted;
  if (message.includes(path)) return failure(code, message, fix);
  const short = `${basename(path)}: `;
  const rest = message.startsWith(short) ? message.slice(short.length) : message;
  return failure(code, `${path}: ${rest}`, fix);
}
