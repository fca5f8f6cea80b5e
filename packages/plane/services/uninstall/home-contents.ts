// What Subluminal has made on this machine beside the configs of clients: the files of its home, and
// the ledger.
import { type Dirent, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { attempt, codeOrText, realPath } from '../../os/index.ts';
import type { HomePaths } from '../../stores/config/index.ts';
import { livingProcesses, type RunProcess } from '../../stores/identity/index.ts';

interface InstalledPaths {
  readonly paths: Pick<HomePaths, 'home' | 'run'>;
  /** The ledger, which may be outside of the home. */
  readonly ledger: string;
  readonly userHome: string;
}

export interface HomeItem {
  readonly path: string;
  /** It, and what belongs to it. */
  readonly files: readonly string[];
  /** What it is, in a few words. */
  readonly what: string;
  readonly bytes: number;
}

export interface HomeContents {
  readonly items: readonly HomeItem[];
  /** What others have put into the home. */
  readonly foreign: readonly string[];
}

/** Everything that some command makes, or reads, under its one name. */
const NAMES: readonly (readonly [name: string, what: string])[] = [
  ['policy.yaml', 'your policy'],
  ['config.toml', 'settings, and the servers that secrets are bound to'],
  ['manifests', 'manifests of servers'],
  ['pins.json', 'pinned tools'],
  ['trust.json', 'trusted policies'],
  ['vault.db', 'encrypted secrets'],
  ['vault.key', 'the key of the secrets'],
  ['ledger.key', 'the key that signs the ledger'],
  ['fingerprint.key', 'the key of fingerprints'],
  ['host-id', 'the id of this machine in events'],
  ['approvals', 'approvals'],
  ['grants', 'grants'],
  ['backups', 'configs as they were'],
  ['spool', 'events on their way to the ledger'],
  ['run', 'sockets, locks and logs'],
];
/** What a killed writer leaves of such a file. */
const DRAFT = /^(.+)\.[0-9a-f]{12}\.draft$/;
const ENTRIES_MAX = 100_000;

export function homeContents({ paths: { home }, ledger }: InstalledPaths): HomeContents {
  const there = (attempt(() => readdirSync(home)) ?? []).map((name) => join(home, name));
  const families = [
    { path: ledger, what: 'the ledger', files: ledgerFiles(ledger) },
    ...NAMES.map(([name, what]) => ({ path: join(home, name), what, files: [join(home, name)] })),
  ];
  const items = families.flatMap(({ path, what, files }) => {
    const drafts = there.filter((one) => files.includes(DRAFT.exec(one)?.[1] ?? ''));
    const found = [...files, ...drafts].filter((file) => attempt(() => lstatSync(file)));
    const bytes = found.reduce((sum, file) => sum + sizeOf(file), 0);
    return found.length === 0 ? [] : [{ path, what, files: found, bytes }];
  });
  const own = new Set(items.flatMap(({ files }) => files));
  return { items, foreign: there.filter((path) => !own.has(path)) };
}

/** The database, what SQLite and the writer keep beside it, and its last signed head. */
function ledgerFiles(ledger: string): readonly string[] {
  const databases = [ledger, `${ledger}.lock`];
  const endings = ['', '-wal', '-shm', '-journal'];
  const files = databases.flatMap((path) => endings.map((ending) => `${path}${ending}`));
  return [...files, `${ledger.replace(/\.db$/, '')}.head`];
}

/** Of a folder, of all files in it; links are not followed. */
function sizeOf(path: string): number {
  const open = [path];
  let bytes = 0;
  for (let seen = 0; seen < ENTRIES_MAX; seen++) {
    const next = open.pop();
    if (next === undefined) break;
    const stats = attempt(() => lstatSync(next));
    if (stats?.isFile() === true) bytes += stats.size;
    if (stats?.isDirectory() !== true) continue;
    const names =
      attempt((): readonly Dirent[] => readdirSync(next, { withFileTypes: true })) ?? [];
    open.push(...names.map(({ name }) => join(next, name)));
  }
  return bytes;
}

/** A folder that holds more than Subluminal, where a folder `run` or `backups` may be anybody's. */
export function unsafeHome({ paths, userHome }: InstalledPaths): Failure | undefined {
  const home = realPath(paths.home);
  const rest = relative(home, realPath(userHome));
  const isAbove = rest === '' || !rest.startsWith('..');
  const isRepository = attempt(() => lstatSync(join(home, '.git'))) !== undefined;
  if (!isAbove && !isRepository) return undefined;
  const message = `${paths.home} is no folder of Subluminal alone.`;
  return failure('SUB_USAGE', message, 'Remove by hand what you do not need of it.');
}

/** Gives what is still there, with its reason. */
export function removeContents(
  { items }: HomeContents,
  { paths: { home } }: InstalledPaths,
): readonly Failure[] {
  const files = items.flatMap((item) => item.files);
  const failed = files.flatMap((path) => {
    try {
      rmSync(path, { recursive: true, force: true });
      return [];
    } catch (cause) {
      const message = `${path} cannot be removed (${codeOrText(cause)}).`;
      return [failure('SUB_FILE_WRITE', message, `Check the permissions of ${dirname(path)}.`)];
    }
  });
  // A folder with something else in it stays.
  attempt(() => rmdirSync(home));
  return failed;
}

interface LivingRun {
  readonly runId: string;
  readonly processes: readonly RunProcess[];
}

/** The runs of this home that a process still has. Undefined when that is unknown. */
export function livingRuns({ run }: Pick<HomePaths, 'run'>): readonly LivingRun[] | undefined {
  const living = livingProcesses(run);
  if (living === undefined) return undefined;
  const runIds = new Set(living.map(({ runId }) => runId));
  return [...runIds].map((runId) => ({
    runId,
    processes: living.filter((one) => one.runId === runId),
  }));
}
