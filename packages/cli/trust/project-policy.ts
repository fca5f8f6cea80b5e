import { warn } from '../terminal/report-failure.ts';
// The policy that a `sub trust` command is about, and how a policy file applies here: it may apply,
// only tighten, or not be used.

import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Failure } from '@subluminal/contracts';
import {
  ensurePrivateFolder,
  type FoundPolicies,
  findPolicies,
  homePaths,
  projectOfPolicy,
  userHome,
} from '@subluminal/plane/config';
import { policySources, unsafePolicy } from '@subluminal/plane/policy';
import { badUsage, orThrow } from '../input/command.ts';
import { STDIO } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';

export interface ProjectPolicy {
  readonly kind: 'place';
  /** The product's folder. */
  readonly home: string;
  /** The real path of the policy. */
  readonly path: string;
  /** The path by which it was named or found. */
  readonly namedAs: string;
  /** The policy of the user, if there is one. */
  readonly user: string | undefined;
  /** The policy is that of the user. */
  readonly isOwn: boolean;
}

/** The policy that was named, else the one of the project. */
export function findProjectPolicy(named: string): ProjectPolicy | Failure {
  const { home } = homePaths(process.env);
  orThrow(ensurePrivateFolder(home));
  const found = findPolicies({ cwd: process.cwd(), home, userHome: userHome(process.env) });
  const path = named === '' ? found.project : named;
  if (path === undefined) return noneHere(found);
  const { user } = found;
  const real = realPath(path);
  const isOwn = user !== undefined && realPath(user) === real;
  return { kind: 'place', home, path: real, namedAs: resolve(path), user, isOwn };
}

function noneHere({ ignored }: FoundPolicies): Failure {
  if (ignored === undefined) {
    return badUsage('no policy of a project is found here.', 'Name one: sub trust FILE.');
  }
  const message = `${ignored.path} is not searched for: ${ignored.why}.`;
  return badUsage(message, `To use it, ${ignored.fix}.`);
}

/** Why a run would not use this policy even when it is trusted. */
export function unusedPolicy({ home, path, namedAs }: ProjectPolicy): Failure | undefined {
  const project = projectOfPolicy(namedAs);
  const named = `use it as it is: --policy ${namedAs}.`;
  if (project === undefined) {
    const message = `${namedAs} is found by no search: the policy of a project is called policy.yaml or .subluminal/policy.yaml.`;
    return badUsage(message, `Rename it, or ${named}`);
  }
  orThrow(unsafePolicy(namedAs));
  const found = findPolicies({ cwd: project, home, userHome: userHome(process.env) });
  if (found.project !== undefined && realPath(found.project) === path) return undefined;
  if (found.project === undefined) return noneHere(found);
  const message = `${namedAs} is not used: ${found.project} is found before it.`;
  return badUsage(message, `Remove that one, or ${named}`);
}

/** A missing file has no real path; reading it reports that. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Says on standard error when this file does not hold here as it stands. */
export function noteTrust(path: string, io: Io): void {
  const words = path === STDIO ? undefined : trustWords(path);
  if (words !== undefined) warn(io, words);
}

function trustWords(path: string): string | undefined {
  const { home } = homePaths(process.env);
  const place = { cwd: process.cwd(), home, userHome: userHome(process.env) };
  const { sources, ignored } = policySources({ ...place, named: null, trusts: false });
  const [first, second] = sources;
  if (first !== undefined && second !== undefined) {
    if (isSame(path, second.path)) {
      return `without --policy, ${path} only tightens ${first.path} here: it is not trusted`;
    }
    if (isSame(path, first.path)) {
      return `without --policy, ${second.path} tightens ${path} here: both are applied`;
    }
  }
  if (ignored === undefined || !isSame(path, ignored.path)) return undefined;
  return `without --policy, ${path} is not used here: ${ignored.why}`;
}

function isSame(path: string, other: string): boolean {
  try {
    return realpathSync(path) === realpathSync(other);
  } catch {
    return false;
  }
}
