// The files that the policy in force is made of, and what each of them may do.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { POLICY_FILE_BYTES_MAX } from '@subluminal/core/policy';
import { sha256Bytes } from '../../os/crypto/index.ts';
import { fileProblem, readRegularFile } from '../../os/index.ts';
import { findPolicies, type IgnoredPolicy } from '../config/index.ts';
import { isTrusted, openTrust } from './trust-store.ts';

/**
 * `named`: by the command line or the configuration. `user`: the one of the home. `trusted` and
 * `untrusted`: that of the project; an untrusted one behind that of the user may only tighten it.
 */
export type PolicyRole = 'named' | 'user' | 'trusted' | 'untrusted';

export interface PolicySource {
  readonly path: string;
  readonly role: PolicyRole;
  /** What was read of a project's policy when its trust was looked up: exactly this is in force. */
  readonly bytes?: Buffer;
}

export interface PolicySources {
  /** The first decides; a second one only tightens. Empty without a policy. */
  readonly sources: readonly PolicySource[];
  readonly ignored: IgnoredPolicy | undefined;
  /** Why nothing is trusted: somebody without the key may have written the file of the trust. */
  readonly untrustedAll?: Failure;
}

export interface SourceOptions {
  readonly cwd: string;
  readonly home: string;
  readonly userHome: string;
  /** The path that the command line or the configuration gives. */
  readonly named: string | null;
  /** What an outer run says of the project's policy; see `PROJECT_POLICY_NAME`. */
  readonly toldProject?: string | undefined;
  /** The project's policy is trusted for this once. */
  readonly trusts: boolean;
}

export function policySources(wish: SourceOptions): PolicySources {
  const { named, toldProject } = wish;
  if (named !== null && !toldProject) {
    return { sources: [{ path: named, role: 'named' }], ignored: undefined };
  }
  if (named !== null && toldProject) {
    const user = named === toldProject ? undefined : named;
    return { sources: combined(user, toldProject, wish), ignored: undefined };
  }
  const { user, project, ignored } = findPolicies(wish);
  const sources = combined(user, project, wish);
  const isUntrusted = sources.some(({ role }) => role === 'untrusted');
  const trust = isUntrusted ? openTrust(wish.home) : [];
  return { sources, ignored, ...(isFailure(trust) && { untrustedAll: trust }) };
}

function combined(
  user: string | undefined,
  project: string | undefined,
  { home, trusts }: SourceOptions,
): readonly PolicySource[] {
  const own: readonly PolicySource[] = user === undefined ? [] : [{ path: user, role: 'user' }];
  if (project === undefined) return own;
  const source = projectSource(project, { home, trusts });
  return source.role === 'trusted' ? [source] : [...own, source];
}

/** The sources that a run passes to its shims: the project's policy alone, or one that it tightens. */
export function sourcesOfRun(named: string, project: string): readonly PolicySource[] {
  const untrusted: PolicySource = { path: project, role: 'untrusted' };
  return named === project ? [untrusted] : [{ path: named, role: 'user' }, untrusted];
}

/** Its content is read once: what was looked up is what is compiled. */
export function projectSource(
  path: string,
  { home, trusts }: Pick<SourceOptions, 'home' | 'trusts'>,
): PolicySource {
  const read = readRegularFile(path, { bytesMax: POLICY_FILE_BYTES_MAX });
  // Loading it reports what is wrong with it.
  if (read.kind !== 'read') return { path, role: 'untrusted' };
  const { bytes } = read;
  const isKnown = trusts || isTrusted(home, path, sha256Bytes(bytes));
  return { path, role: isKnown ? 'trusted' : 'untrusted', bytes };
}

/** Warnings about policies that are not in force as a user may expect. */
export function sourceWarnings({
  sources,
  ignored,
  untrustedAll,
}: PolicySources): readonly string[] {
  const [first, second] = sources;
  const warnings: string[] = [];
  if (untrustedAll !== undefined) warnings.push(`${untrustedAll.message} ${untrustedAll.fix}`);
  if (first !== undefined && second !== undefined) {
    warnings.push(
      `${second.path} is not trusted, so it only tightens ${first.path}. To trust it: sub trust ${second.path}`,
    );
  }
  if (ignored !== undefined) {
    warnings.push(`${ignored.path} is not used: ${ignored.why}. To use it, ${ignored.fix}`);
  }
  return warnings;
}

/** Why others may decide what the policy says. */
export function unsafePolicy(file: string): Failure | undefined {
  const problem = fileProblem(file);
  if (problem === undefined) return undefined;
  const { path, why, fix } = problem;
  const message = `${path} ${why}, so others may decide what the policy ${file} says.`;
  return failure('SUB_FILE_UNSAFE', message, `${fix}.`);
}
