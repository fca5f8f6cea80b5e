// The repository that an agent works in: its remote without credentials, its branch, its commit, and whether it has
// changes. Asked of git, which runs nothing of the repository's own configuration.
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { visible } from '@subluminal/core/visible';
import { attempt } from '@subluminal/plane/os';

export interface RepoFacts {
  /** The top of the working tree. */
  readonly root: string;
  /** Where git keeps what belongs to this tree. */
  readonly gitDir: string;
  readonly remoteUrl: string | undefined;
  readonly branch: string | undefined;
  readonly headSha: string | undefined;
  readonly isDirty: boolean | undefined;
}

interface KnownRepo {
  readonly headMs: number;
  readonly readMs: number;
  readonly facts: Promise<RepoFacts | undefined>;
}

const run = promisify(execFile);
const GIT_MS = 2_000;
const OUTPUT_BYTES_MAX = 4 * 1_048_576;
const LEVELS_MAX = 64;
const REPOS_MAX = 256;
/** Changes in the working tree do not touch HEAD. */
const KEPT_MS = 30_000;
const TEXT_LENGTH_MAX = 1_024;
/** A repository may come from anywhere: no program that its configuration names is started. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'] as const;
/** Nothing is fetched either: a remote may be a program. */
const SAFE_ENV = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
};
/** Those of the user and the system are trusted. */
const OWN_FILTER = /^(?:local|worktree)\tfilter\./im;

export class RepoReader {
  readonly #known = new Map<string, KnownRepo>();

  /** The repository around a folder; undefined outside of any. Known again while HEAD stays as it was. */
  async read(folder: string): Promise<RepoFacts | undefined> {
    const root = rootOf(folder);
    if (root === undefined) return undefined;
    const headMs = attempt(() => statSync(join(root, '.git', 'HEAD')).mtimeMs) ?? 0;
    const known = this.#known.get(root);
    const nowMs = performance.now();
    if (known !== undefined && known.headMs === headMs && nowMs - known.readMs < KEPT_MS) {
      return known.facts;
    }
    const facts = readFacts(root);
    this.#known.delete(root);
    this.#known.set(root, { headMs, readMs: nowMs, facts });
    const [oldest] = this.#known.keys();
    if (this.#known.size > REPOS_MAX && oldest !== undefined) this.#known.delete(oldest);
    return facts;
  }
}

function rootOf(folder: string): string | undefined {
  let at = folder;
  for (let level = 0; level < LEVELS_MAX; level++) {
    if (attempt(() => statSync(join(at, '.git'))) !== undefined) return at;
    const up = dirname(at);
    if (up === at) return undefined;
    at = up;
  }
  return undefined;
}

async function readFacts(root: string): Promise<RepoFacts | undefined> {
  const [gitDir, remote, branch, head, isDirty] = await Promise.all([
    git(root, ['rev-parse', '--absolute-git-dir']),
    git(root, ['config', '--get', 'remote.origin.url']),
    git(root, ['symbolic-ref', '--quiet', '--short', 'HEAD']),
    git(root, ['rev-parse', '--verify', '--quiet', 'HEAD']),
    hasChanges(root),
  ]);
  if (gitDir === undefined) return undefined;
  const headSha = head?.trim() ?? '';
  return {
    root,
    gitDir: gitDir.trim(),
    remoteUrl: remote === undefined ? undefined : plainRemote(remote.trim()),
    branch: branch === undefined ? undefined : shown(branch.trim()),
    headSha: /^[0-9a-f]{40,64}$/.test(headSha) ? headSha : undefined,
    isDirty,
  };
}

/** Undefined where git would start programs to find out: the filters of a repository, or those of one inside of it. */
async function hasChanges(root: string): Promise<boolean | undefined> {
  const names = await git(root, ['config', '--list', '--name-only', '--show-scope']);
  if (names === undefined || OWN_FILTER.test(names)) return undefined;
  const how = ['--porcelain=v2', '--untracked-files=no', '--ignore-submodules=dirty'];
  const status = await git(root, ['status', ...how]);
  return status?.split('\n').some((line) => /^[12u?] /.test(line));
}

async function git(root: string, args: readonly string[]): Promise<string | undefined> {
  // GIT_DIR and its like would ask another repository.
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  try {
    const { stdout } = await run('git', ['-C', root, ...SAFE, ...args], {
      timeout: GIT_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
      env: { ...Object.fromEntries(env), ...SAFE_ENV },
    });
    return stdout;
  } catch {
    return undefined;
  }
}

/** A remote without the name and the password that may stand in it. */
function plainRemote(remote: string): string | undefined {
  if (remote === '' || remote.length > TEXT_LENGTH_MAX) return undefined;
  if (!URL.canParse(remote) || !/^[a-z+]+:\/\//.test(remote)) {
    return shown(remote.replace(/^[^@/\s]*@/, ''));
  }
  const url = new URL(remote);
  url.username = '';
  url.password = '';
  return shown(url.href);
}

function shown(text: string): string {
  return visible(text, TEXT_LENGTH_MAX);
}
