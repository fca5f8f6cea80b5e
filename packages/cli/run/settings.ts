// The configuration and the policy that a command works with.
import { resolve } from 'node:path';
import type { Snapshot } from '@subluminal/core/policy';
import {
  type Config,
  type ConfigProblem,
  findPolicy,
  type HomePaths,
  loadConfig,
  userHome,
} from '@subluminal/plane/config';
import { fileProblem } from '@subluminal/plane/os';
import { type Failure, failure, isFailure, reportFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { harmless } from '../text.ts';

interface Settings {
  readonly config: Config;
  readonly paths: HomePaths;
}

interface Flags {
  readonly policy: string | undefined;
  readonly profile: string | undefined;
  readonly events?: string | undefined;
  readonly cedar?: string | undefined;
}

async function loadSettings(flags: Flags, io: Io): Promise<Settings | Failure> {
  const { policy, profile, events, cedar } = flags;
  const loaded = await loadConfig({
    env: process.env,
    flags: { policy, profile, events, cedar },
    cwd: process.cwd(),
  });
  if (loaded.ok) {
    for (const text of loaded.warnings) io.err.write(`sub: ${harmless(text)}\n`);
    return { config: loaded.config, paths: loaded.paths };
  }
  const problems = loaded.problems.map(problemOf);
  const last = problems.at(-1);
  if (last === undefined) throw new Error('a configuration failed without a problem');
  // One line each; the last is told as every failure is.
  for (const problem of problems.slice(0, -1)) reportFailure(problem, io, false);
  return last;
}

function problemOf({ code, where, message, fix }: ConfigProblem): Failure {
  return failure(code, `${where}: ${message}.`, fix);
}

interface FoundSnapshot {
  readonly path: string;
  readonly snapshot: Snapshot;
}

/** The policy of the run, or null without one; what is wrong with it is printed. */
async function findSnapshot(
  { config, paths }: Settings,
  policy: string | undefined,
  io: Io,
): Promise<FoundSnapshot | null | Failure> {
  const cwd = process.cwd();
  const found = findPolicy({ cwd, home: paths.home, userHome: userHome(process.env) });
  const path = policy ?? config['policy.path'] ?? (found.kind === 'found' ? found.path : undefined);
  if (path === undefined) return null;
  // Only who has a policy pays for what reads it.
  const { loadPolicy } = await import('../load-policy.ts');
  const unsafe = unsafePolicy(path);
  if (unsafe !== undefined && config.profile === 'production') return unsafe;
  if (unsafe !== undefined) reportFailure(unsafe, io, false);
  const loaded = await loadPolicy(path, { io, profile: config.profile, isRegular: true });
  return isFailure(loaded) ? loaded : { path: resolve(path), snapshot: loaded.snapshot };
}

function unsafePolicy(file: string): Failure | undefined {
  const problem = fileProblem(file);
  if (problem === undefined) return undefined;
  const { path, why, fix } = problem;
  const message = `${path} ${why}, so others may decide what the policy ${file} says.`;
  return failure('SUB_FILE_UNSAFE', message, `${fix}.`);
}

export type { FoundSnapshot, Settings };
export { findSnapshot, loadSettings };
