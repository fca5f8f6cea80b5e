// The history of the configuration: the program git, told to run nothing that a repository or a home could name.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { harmless } from '@subluminal/core/visible';

const run = promisify(execFile);
const GIT_MS = 10_000;
const OUTPUT_BYTES_MAX = 4_194_304;
const WORDS_MAX = 300;
const SAFE = [
  ...[
    '-c',
    `core.hooksPath=${devNull}`,
    '-c',
    'core.fsmonitor=false',
    '-c',
    'commit.gpgSign=false',
  ],
  ...['-c', 'gc.auto=0', '-c', 'user.name=Steward', '-c', 'user.email=steward@localhost'],
];

export interface Commit {
  readonly message: string;
  /** Below the folder. */
  readonly paths: readonly string[];
}

/** Makes the folder a repository of its own, unless it is one. */
export async function initRepository(folder: string): Promise<Failure | undefined> {
  if (existsSync(join(folder, '.git'))) return undefined;
  const made = await git(folder, ['init', '--quiet', '--initial-branch=main']);
  return isFailure(made) ? made : undefined;
}

/** Whether something can be committed there. */
export async function repositoryProblem(folder: string): Promise<Failure | undefined> {
  const found = await git(folder, ['rev-parse', '--is-inside-work-tree']);
  return isFailure(found) ? found : undefined;
}

/** Commits these paths and nothing else; gives back the id of the commit. */
export async function commitPaths(
  folder: string,
  { message, paths }: Commit,
): Promise<string | Failure> {
  const literal = paths.map((path) => `:(literal)${path}`);
  const added = await git(folder, ['add', '--all', '--force', '--', ...literal]);
  if (isFailure(added)) return added;
  const words = ['commit', '--quiet', '--only', `--message=${message}`, '--', ...literal];
  const committed = await git(folder, words);
  if (isFailure(committed)) {
    await git(folder, ['reset', '--quiet', '--', ...literal]);
    return committed;
  }
  const head = await git(folder, ['rev-parse', 'HEAD']);
  return isFailure(head) ? head : head.trim();
}

/** Whether the paths differ from the last commit. */
export async function isUncommitted(folder: string, paths: readonly string[]): Promise<boolean> {
  const literal = paths.map((path) => `:(literal)${path}`);
  const status = await git(folder, ['status', '--porcelain', '--ignored', '--', ...literal]);
  return !isFailure(status) && status !== '';
}

export async function git(folder: string, words: readonly string[]): Promise<string | Failure> {
  // GIT_DIR and its like would mean another repository, and a relative folder of PATH one of the repository.
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const path = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute).join(delimiter);
  const config = { GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_SYSTEM: devNull };
  const env = { ...Object.fromEntries(kept), ...config, GIT_TERMINAL_PROMPT: '0', PATH: path };
  try {
    const { stdout } = await run('git', [...SAFE, '-C', folder, ...words], {
      env,
      timeout: GIT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    return stdout;
  } catch (cause) {
    const { code, stderr = '' } = cause instanceof Error ? (cause as GitError) : {};
    const isMissing = code === 'ENOENT';
    const said = harmless(stderr.trim().slice(0, WORDS_MAX));
    const message = isMissing
      ? 'The program git was not found.'
      : `git ${words[0] ?? ''} failed in ${harmless(folder)}${said === '' ? '' : `: ${said}`}.`;
    const fix = isMissing
      ? 'Install git.'
      : 'Run `git status` in the folder, and mend what it says.';
    return failure('SUB_STEWARD_GIT', message, fix);
  }
}

type GitError = Error & { readonly code?: unknown; readonly stderr?: string };
