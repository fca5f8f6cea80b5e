// Which policy a shim works by, now and after the file has changed.
import { statSync } from 'node:fs';
import { isFailure, type Profile } from '@subluminal/contracts';
import { formatProblem, type Snapshot } from '@subluminal/core/policy';
import { harmless } from '@subluminal/core/visible';
import { attempt, watchFiles } from '../../os/index.ts';
import type { LoadedPolicy, PolicyFailure } from './policy-file.ts';
import { type PolicySource, projectSource } from './sources.ts';

const LOOK_EVERY_MS = 500;

/** Without a source, everything is observed; a second source tightens the first. */
export async function loadPolicy(
  sources: readonly PolicySource[],
  profile: Profile,
): Promise<LoadedPolicy | PolicyFailure> {
  const [first, second] = sources;
  if (first === undefined) {
    const { compileNone } = await import('./untrusted-alone.ts');
    return { kind: 'loaded', snapshot: await compileNone(profile), hashes: [] };
  }
  const { loadSources } = await import('./policy-file.ts');
  return loadSources([first, second], profile);
}

const PROBLEMS_SHOWN_MAX = 5;

/** One line for each problem of a bundle, or one for the failure; harmless. */
export function policyFailureText({ code, message, fix, problems = [] }: PolicyFailure): string {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).map(formatProblem);
  const rest = problems.length - shown.length;
  const lines = shown.length === 0 ? [`${message} ${fix} [${code}]`] : shown;
  return [...lines, ...(rest > 0 ? [`… and ${rest} more.`] : [])].map(harmless).join('\n');
}

/** Tells one state of the files from another; the same for all files that cannot be seen. */
export function markOf(sources: readonly PolicySource[]): string {
  const marks = sources.map(({ path }) => {
    const stats = attempt(() => statSync(path));
    return stats === undefined
      ? ''
      : [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
  });
  return marks.join('\n');
}

export interface ChangedPolicy {
  readonly snapshot: Snapshot;
  readonly hashes: readonly string[];
  /** The same files as before, as far as they are trusted now. */
  readonly sources: readonly PolicySource[];
}

interface PolicyWatch {
  readonly sources: readonly PolicySource[];
  /** The product's folder, where trust is looked up. */
  readonly home: string;
  /** The mark of the files before they were read. */
  readonly mark: string;
  readonly profile: Profile;
  readonly changed: (changed: ChangedPolicy) => Promise<void>;
  /** A file is broken now; the old policy stays. */
  readonly broken: (message: string) => void;
}

export interface PolicyWatcher {
  /** Looks at once. */
  look(): Promise<void>;
  stop(): void;
}

/** Follows the files, and loads them when one has changed. */
export function watchPolicy(watch: PolicyWatch): PolicyWatcher {
  const { sources, home, profile, changed, broken } = watch;
  let { mark } = watch;
  const read = async (): Promise<void> => {
    const now = markOf(sources);
    if (now === mark) return;
    mark = now;
    const fresh = sourcesNow(sources, home);
    const loaded = await loadPolicy(fresh, profile);
    if (isFailure(loaded)) broken(policyFailureText(loaded));
    else await changed({ ...loaded, sources: fresh });
  };
  const files = watchFiles({
    paths: sources.map(({ path }) => path),
    everyMs: LOOK_EVERY_MS,
    read,
  });
  return { look: read, stop: () => files.stop() };
}

/** Each file in the place that it had: what it may do depends on whether it is trusted now. */
export function sourcesNow(
  sources: readonly PolicySource[],
  home: string,
): readonly PolicySource[] {
  return sources.map(({ path, role, bytes }) => {
    if (role === 'named' || role === 'user') return { path, role };
    const now = projectSource(path, { home, trusts: false });
    // What was trusted for one run is trusted in it as long as it is the same.
    const isSame = bytes !== undefined && now.bytes?.equals(bytes) === true;
    return isSame ? { ...now, role } : now;
  });
}

/**
 * Whether the changed files may let more pass, as far as `policy.reload` lets them: a project's policy
 * that nobody has trusted may only tighten what is in force.
 */
export function mayLoosen(changed: ChangedPolicy, known: readonly string[]): boolean {
  return changed.sources.every(
    ({ role }, index) => role !== 'untrusted' || changed.hashes[index] === known[index],
  );
}
