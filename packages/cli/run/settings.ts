// The configuration and the policy that a command works with.

import { resolve } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import {
  type Config,
  type ConfigFailure,
  type HomePaths,
  type LoadResult,
  loadConfig,
  userHome,
} from '@subluminal/plane/config';
import {
  type PolicySource,
  type PolicySources,
  policySources,
  sourceWarnings,
} from '@subluminal/plane/policy';
import { orThrow } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure, warn } from '../terminal/report-failure.ts';

export interface Settings {
  readonly config: Config;
  readonly paths: HomePaths;
  readonly origins: Extract<LoadResult, { readonly ok: true }>['origins'];
}

interface Flags {
  readonly policy: string | undefined;
  readonly profile: string | undefined;
  readonly events?: string | undefined;
  readonly cedar?: string | undefined;
}

export async function loadSettings(flags: Flags, io: Io): Promise<Settings | Failure> {
  const { policy, profile, events, cedar } = flags;
  const loaded = await loadConfig({
    env: process.env,
    flags: { policy, profile, events, cedar },
    cwd: process.cwd(),
  });
  if (loaded.ok) {
    for (const text of loaded.warnings) warn(io, text);
    return { config: loaded.config, paths: loaded.paths, origins: loaded.origins };
  }
  const problems = loaded.problems.map(problemOf);
  const last = problems.at(-1);
  if (last === undefined) throw new Error('a configuration failed without a problem');
  // One line each; the last is told as every failure is.
  for (const problem of problems.slice(0, -1)) reportFailure(problem, io);
  return last;
}

function problemOf({ code, where, message, fix }: ConfigFailure): Failure {
  return failure(code, `${where}: ${message}.`, fix);
}

export interface FoundSnapshot {
  readonly kind: 'found';
  readonly path: string;
  readonly snapshot: Snapshot;
  readonly sources: readonly PolicySource[];
  /** The policy of the project, where it takes part. */
  readonly projectPath: string | undefined;
  /** What is to be said of policies that do not hold as somebody may think. */
  readonly warnings: readonly string[];
}

interface PolicyWish {
  readonly policy?: string | undefined;
  /** Trust the policy of the project for this once. */
  readonly trust?: boolean;
}

/** The policies that hold here, of which the first decides. */
function sourcesHere(
  { config, paths, origins }: Settings,
  { policy, trust = false }: PolicyWish,
): PolicySources {
  const { env } = process;
  const isTold = policy === undefined && origins['policy.path'] === 'env';
  return policySources({
    cwd: process.cwd(),
    home: paths.home,
    userHome: userHome(env),
    named: policy ?? config['policy.path'],
    toldProject: isTold ? env['SUB_PROJECT_POLICY'] : undefined,
    trusts: trust || env['SUB_TRUST'] === '1',
  });
}

/** The policy of the run, or null without one; what is wrong with it is printed. */
export async function findSnapshot(
  settings: Settings,
  wish: PolicyWish,
  io: Io,
): Promise<
  FoundSnapshot | { readonly kind: 'none'; readonly warnings: readonly string[] } | Failure
> {
  const found = sourcesHere(settings, wish);
  const [first, second] = found.sources;
  const warnings = sourceWarnings(found);
  if (first === undefined) return { kind: 'none', warnings };
  // A command without a policy does not load what reads one.
  const { loadInForce } = await import('../policy/load-policy.ts');
  const loaded = orThrow(await loadInForce([first, second], settings.config.profile, io));
  if (loaded.warning !== undefined) reportFailure(loaded.warning, io);
  const project = found.sources.find(({ role }) => role === 'trusted' || role === 'untrusted');
  return {
    kind: 'found',
    path: resolve(first.path),
    snapshot: loaded.snapshot,
    sources: found.sources.map((source) => ({ ...source, path: resolve(source.path) })),
    projectPath: project && resolve(project.path),
    warnings,
  };
}
