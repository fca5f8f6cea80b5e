// The policy that a shim begins with, and the files that it was made from.
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { type LoadResult, userHome } from '../../stores/config/index.ts';
import type { PolicyFiles } from '../../stores/policy/follow-policy.ts';
import type { PolicyFailure } from '../../stores/policy/policy-file.ts';
import { type ReadyPolicy, readyPolicyOf } from '../../stores/policy/ready-policy.ts';
import {
  type PolicySource,
  policySources,
  sourcesOfRun,
  sourceWarnings,
} from '../../stores/policy/sources.ts';
import { markOf, policyFailureText } from '../../stores/policy/watch-policy.ts';
import {
  POLICY_COPY_HASH_VAR,
  POLICY_COPY_VAR,
  PROJECT_POLICY_VAR,
} from '../../stores/runs/env-vars.ts';

/** The environment and command line of a shim. */
interface PolicyStart {
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  readonly flags: { readonly [flag: string]: string | undefined };
}

type StartConfig = Extract<LoadResult, { readonly ok: true }>;
type WarnUser = (text: string) => void;

export interface StartedPolicy {
  readonly kind: 'started';
  readonly snapshot: Snapshot;
  readonly files: PolicyFiles;
}

/** A policy that is known to be good; the code that decides by it may still have to be loaded. */
export interface ReadyToStart {
  readonly kind: 'ready';
  readonly files: PolicyFiles;
  readonly snapshot: ReadyPolicy['snapshot'];
}

export async function startPolicy(
  start: PolicyStart,
  loaded: StartConfig,
  warn: WarnUser,
): Promise<StartedPolicy | PolicyFailure> {
  const ready = await readyPolicy(start, loaded, warn);
  if (isFailure(ready)) return ready;
  const snapshot = await ready.snapshot();
  return isFailure(snapshot) ? snapshot : { kind: 'started', snapshot, files: ready.files };
}

export async function readyPolicy(
  start: PolicyStart,
  loaded: StartConfig,
  warn: WarnUser,
): Promise<ReadyToStart | PolicyFailure> {
  const sources = sourcesOf(start, loaded, warn);
  const mark = markOf(sources);
  const policy = await policyOf(start, loaded, { sources, warn });
  if (isFailure(policy)) return policy;
  const { hashes, snapshot, loosening } = policy;
  const files = { sources, home: loaded.paths.home, mark, hashes, loosening };
  return { kind: 'ready', files, snapshot };
}

interface ReadyOfRun extends ReadyPolicy {
  /** What the changed files would let pass, so that they were not taken. */
  readonly loosening?: string;
}

/** A run keeps the policy that it began with; a config entry that names another policy uses that. */
async function policyOf(
  { env, flags }: PolicyStart,
  { config, paths }: StartConfig,
  { sources, warn }: { readonly sources: readonly PolicySource[]; readonly warn: WarnUser },
): Promise<ReadyOfRun | Failure> {
  const { profile, 'policy.reload': reload } = config;
  const { home } = paths;
  const copyPath = env[POLICY_COPY_VAR];
  if (!copyPath) return warned(readyPolicyOf(sources, { home, profile }), warn);
  const ofRuns = await import('../../stores/runs/policy-of-run.ts');
  const path = sources[0]?.path ?? null;
  const ofRun = env['SUB_POLICY'];
  // `sub wrap` writes the policy of its run into every entry, in case the wrap is interrupted.
  const isNamed = flags['policy'] !== undefined && flags['wrap'] === undefined;
  if (isNamed && path !== null && ofRuns.isOther(ofRun, path)) {
    const warning = ofRuns.otherThan(copyPath, ofRun, path);
    if (warning !== undefined) warn(warning);
    return warned(readyPolicyOf(sources, { home, profile }), warn);
  }
  const copy = { path: copyPath, hash: env[POLICY_COPY_HASH_VAR] };
  const loaded = await ofRuns.loadRunPolicy({ copy, sources, home, reload, profile, warn });
  if (isFailure(loaded)) return loaded;
  return { ...loaded, kind: 'ready', snapshot: () => Promise.resolve(loaded.snapshot) };
}

/** Warns of what production would have refused. */
async function warned(
  loading: Promise<ReadyPolicy | PolicyFailure>,
  warn: WarnUser,
): Promise<ReadyPolicy | PolicyFailure> {
  const loaded = await loading;
  const warning = isFailure(loaded) ? undefined : loaded.warning;
  if (warning !== undefined) warn(policyFailureText(warning));
  return loaded;
}

/** The files of the policy; an outer run may name them. */
function sourcesOf(
  { cwd, env, flags }: PolicyStart,
  { config, paths, origins }: StartConfig,
  warn: WarnUser,
): readonly PolicySource[] {
  const isGiven = origins['policy.path'] === 'env' || flags['wrap'] !== undefined;
  const givenProject = isGiven ? env[PROJECT_POLICY_VAR] : undefined;
  const named = config['policy.path'];
  // A run keeps its files in their places, whatever is trusted meanwhile.
  if (env[POLICY_COPY_VAR] && named !== null && givenProject)
    return sourcesOfRun(named, givenProject);
  const found = policySources({
    cwd,
    home: paths.home,
    userHome: userHome(env),
    named,
    toldProject: givenProject,
    // A config entry of a repository must not decide about trust.
    trusts: false,
  });
  // The run decides which policy governs its servers: files in this folder do not matter.
  if (!env[POLICY_COPY_VAR]) for (const warning of sourceWarnings(found)) warn(warning);
  return found.sources;
}
