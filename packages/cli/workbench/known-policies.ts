// The policies that the page may show and change: those that `sub` itself reads, and no other file.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { POLICY_FILE_BYTES_MAX } from '@subluminal/core/policy';
import { projectsOnRecord } from '@subluminal/plane/clients/find-configs';
import {
  type Config,
  findPolicies,
  type HomePaths,
  loadConfig,
  projectOfPolicy,
  userHome,
} from '@subluminal/plane/config';
import { sha256Bytes } from '@subluminal/plane/crypto';
import { readRegularFile, realPath } from '@subluminal/plane/os';
import { isTrusted, openTrust, type PolicyRole, projectPaths } from '@subluminal/plane/policy';

export interface KnownPolicy {
  readonly kind: 'known';
  readonly path: string;
  readonly role: PolicyRole;
  /** Null where there is no file. */
  readonly bytes: Buffer | null;
  /** Why it cannot be read. */
  readonly unread?: Failure | undefined;
}

export interface PolicyPlace {
  readonly env: { readonly [name: string]: string | undefined };
  readonly paths: HomePaths;
  /** Where the last runs were. */
  readonly folders: readonly string[];
}

/** What the configuration says now. The variables of the daemon are those of whoever has started it. */
export async function currentConfig({
  env,
  paths,
}: Pick<PolicyPlace, 'env' | 'paths'>): Promise<Config | Failure> {
  const { SUB_POLICY: _policy, SUB_POLICY_RELOAD: _reload, ...rest } = env;
  const loaded = await loadConfig({ env: rest, cwd: paths.home });
  if (loaded.ok) return loaded.config;
  const [first] = loaded.problems;
  if (first === undefined) throw new Error('a configuration that failed has a problem');
  return failure(first.code, `${first.where}: ${first.message}.`, first.fix);
}

/** The one that decides outside of projects, where it is or would be; then those of projects. */
export function knownPaths(
  place: PolicyPlace,
  config: Config,
): readonly [string, ...(readonly string[])] {
  const { env, paths } = place;
  const named = config['policy.path'];
  const user = join(paths.home, 'policy.yaml');
  const own = named === null ? [user] : [named, user];
  const known = new Set(own);
  for (const project of knownProjects(place)) {
    const where = { cwd: project, home: paths.home, userHome: userHome(env) };
    // The search also says whether others could have put it there.
    const found = findPolicies(where).project;
    if (found !== undefined) known.add(found);
  }
  const [first = user, ...others] = known;
  return [first, ...others];
}

function knownProjects({ paths, folders }: PolicyPlace): ReadonlySet<string> {
  const trusted = openTrust(paths.home);
  const ofTrust = (isFailure(trusted) ? [] : trusted).flatMap(({ path }) => {
    return projectOfPolicy(path) ?? [];
  });
  return new Set([...ofTrust, ...projectsOnRecord(paths), ...folders].map(realPath));
}

/** The policy that is meant: one of those that are known, without a path the first that is there. */
export function chosenPolicy(
  path: string | undefined,
  place: PolicyPlace,
  config: Config,
): KnownPolicy | Failure {
  const known = knownPaths(place, config);
  const chosen =
    path === undefined
      ? (known.find((one) => existsSync(one)) ?? known[0])
      : known.find((one) => one === resolve(path));
  if (chosen !== undefined) return readKnown(chosen, place, config);
  const message = `${path} is none of the policies that are known here.`;
  const fix =
    'Give a path of `others` of policy/active; trust a project’s policy with `sub trust`.';
  return failure('SUB_API_REQUEST', message, fix);
}

export function readKnown(path: string, { paths }: PolicyPlace, config: Config): KnownPolicy {
  const read = readRegularFile(path, { bytesMax: POLICY_FILE_BYTES_MAX });
  const bytes = read.kind === 'read' ? read.bytes : null;
  const role = roleOf(path, { paths, config, bytes });
  if (read.kind !== 'unreadable') return { kind: 'known', path, role, bytes };
  const unread = failure('SUB_FILE_READ', `${path} ${read.why}.`, read.fix);
  return { kind: 'known', path, role, bytes, unread };
}

function roleOf(
  path: string,
  known: { readonly paths: HomePaths; readonly config: Config; readonly bytes: Buffer | null },
): PolicyRole {
  const { paths, config, bytes } = known;
  if (path === config['policy.path']) return 'named';
  if (path === join(paths.home, 'policy.yaml')) return 'user';
  const isKnown = bytes !== null && isTrusted(paths.home, path, sha256Bytes(bytes));
  return isKnown ? 'trusted' : 'untrusted';
}

/** Where the paths of its rules start: in its project, and without one in the home of the user. */
export function policyFolder({ path, role }: KnownPolicy, { env }: PolicyPlace): string {
  const isProject = role === 'trusted' || role === 'untrusted';
  return (isProject ? projectOfPolicy(path) : undefined) ?? userHome(env);
}

/** `folder` is that of the runs that are decided again, where it is on record. */
export function rulePaths(known: KnownPolicy, place: PolicyPlace, folder?: string) {
  return projectPaths(folder ?? policyFolder(known, place), { ...place.env });
}
