// Which policy a command of `sub trust` is about.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  ensurePrivateFolder,
  type FoundPolicies,
  findPolicies,
  homePaths,
  userHome,
} from '@subluminal/plane/config';
import { type Failure, failure } from '../failure.ts';
import { problemFailure } from '../surface/home.ts';

interface TrustPlace {
  readonly kind: 'place';
  /** The product's folder. */
  readonly home: string;
  /** The real path of the policy. */
  readonly path: string;
  /** The policy of the user, if there is one. */
  readonly user: string | undefined;
}

/** The policy that was named, else the one of the project. */
function trustPlace(named: string): TrustPlace | Failure {
  const { home } = homePaths(process.env);
  const unsafe = ensurePrivateFolder(home);
  if (unsafe !== undefined) return problemFailure(unsafe);
  const found = findPolicies({ cwd: process.cwd(), home, userHome: userHome(process.env) });
  const path = named === '' ? found.project : named;
  if (path === undefined) return noneHere(found);
  return { kind: 'place', home, path: realPath(path), user: found.user };
}

function noneHere({ ignored }: FoundPolicies): Failure {
  if (ignored === undefined) {
    const message = 'no policy of a project is found here.';
    return failure('SUB_USAGE', message, 'Name one: sub trust FILE.');
  }
  const message = `${ignored.path} is not searched for: ${ignored.why}.`;
  return failure('SUB_USAGE', message, `To use it, name it: --policy ${ignored.path}.`);
}

/** What is not there has no real path; reading it says so. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function storeFailure({
  message,
  fix,
}: {
  readonly message: string;
  readonly fix: string;
}): Failure {
  return failure('SUB_TRUST_STORE', `${message}.`, fix);
}

export type { TrustPlace };
export { storeFailure, trustPlace };
