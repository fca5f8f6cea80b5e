// What Subluminal has made on this machine beside the configs of clients: the files of its home, and
// the ledger.
import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { isUnder } from '@subluminal/core/paths';
import { attempt, codeOrText, draftTarget, errorText, realPath } from '../../os/index.ts';
import type { HomePaths } from '../../stores/config/index.ts';
import { livingProcesses, type RunProcess } from '../../stores/identity/index.ts';
import { requireLedger } from '../../stores/ledger/index.ts';
import { recordKeys, recordPath } from '../clients/store/records.ts';

/** Its path, which may be outside of the home; why what is there is none; undefined without one. */
export type FoundLedger = string | Failure | undefined;

interface InstalledPaths {
  readonly paths: Pick<HomePaths, 'home' | 'backups'>;
  readonly ledger: FoundLedger;
  readonly userHome: string;
}

export interface HomeItem {
  readonly path: string;
  /** It, and what belongs to it. */
  readonly files: readonly string[];
  readonly isFolder: boolean;
  /** What it is, in a few words. */
  readonly what: string;
  readonly bytes: number;
}

export interface HomeContents {
  readonly items: readonly HomeItem[];
  /** What others have put into the home. */
  readonly foreign: readonly string[];
}

type Names = readonly (readonly [name: string, what: string])[];

/** Everything that some command makes, or reads, under its one name. */
const FILES: Names = [
  ['policy.yaml', 'your policy'],
  ['config.toml', 'settings, and the servers that secrets are bound to'],
  ['pins.json', 'pinned tools'],
  ['trust.json', 'trusted policies'],
  ['vault.db', 'encrypted secrets'],
  ['vault.key', 'the key of the secrets'],
  ['ledger.key', 'the key that signs the ledger'],
  ['fingerprint.key', 'the key of fingerprints'],
  ['gateway-login.json', 'the login of this machine to a gateway'],
  ['page.json', 'the secret of the sessions of the page, and its port'],
  ['host-id', 'the id of this machine in events'],
];
const FOLDERS: Names = [
  ['manifests', 'manifests of servers'],
  ['approvals', 'approvals'],
  ['grants', 'grants'],
  ['backups', 'configs as they were'],
  ['steward', 'Steward: its configuration, conversations and memory'],
  ['compiled', 'policies as they were compiled'],
  ['spool', 'events on their way to the ledger'],
  ['run', 'sockets, locks and logs'],
];
/** Files that nobody else has in a folder: where one is, the other names are ours as well. */
const MARKS = ['host-id', 'ledger.key', 'fingerprint.key', 'vault.key'];
const ENTRIES_MAX = 100_000;

export function homeContents({ paths: { home }, ledger }: InstalledPaths): HomeContents {
  const there = (attempt(() => readdirSync(home)) ?? []).map((name) => join(home, name));
  const named = (names: Names, isFolder: boolean) =>
    names.map(([name, what]) => ({ path: join(home, name), what, isFolder, files: [] }));
  const families = [
    ...(typeof ledger === 'string'
      ? [{ path: ledger, what: 'the ledger', isFolder: false, files: besideLedger(ledger) }]
      : []),
    ...named(FILES, false),
    ...named(FOLDERS, true),
  ];
  const items = families.flatMap(({ path, what, isFolder, files }) => {
    const all = [path, ...files];
    const drafts = there.filter((one) => all.includes(draftTarget(one) ?? ''));
    const found = [...all, ...drafts].filter((file) => {
      const stats = attempt(() => lstatSync(file));
      // A folder under the name of a file is somebody else's.
      return stats !== undefined && (isFolder || !stats.isDirectory());
    });
    const bytes = found.reduce((sum, file) => sum + sizeOf(file), 0);
    return found.length === 0 ? [] : [{ path, what, isFolder, files: found, bytes }];
  });
  const own = new Set(items.flatMap(({ files }) => files));
  return { items, foreign: there.filter((path) => !own.has(path)) };
}

/** What SQLite and the writer keep beside the ledger, and its last signed head. */
function besideLedger(ledger: string): readonly string[] {
  const endings = ['-wal', '-shm', '-journal'];
  const lock = `${ledger}.lock`;
  const files = [ledger, lock].flatMap((path) => endings.map((ending) => `${path}${ending}`));
  return [lock, ...files, `${ledger.replace(/\.db$/, '')}.head`];
}

/** In its usual place, a damaged ledger or the rest of one counts; elsewhere, only a readable one. */
export async function removableLedger(ledger: string, usual: string): Promise<FoundLedger> {
  const stats = attempt(() => lstatSync(ledger));
  if (ledger === usual && stats?.isFile() !== false) return ledger;
  if (stats === undefined) return undefined;
  const fix = 'Correct `ledger.path` or SUB_LEDGER_PATH, or remove by hand what you do not need.';
  if (!stats.isFile()) {
    return failure('SUB_USAGE', `${ledger} is no regular file, so it is not the ledger.`, fix);
  }
  try {
    await requireLedger(ledger);
    return ledger;
  } catch (cause) {
    return failure('SUB_USAGE', `${ledger} is no ledger: ${errorText(cause)}`, fix);
  }
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
    for (const name of attempt(() => readdirSync(next)) ?? []) open.push(join(next, name));
  }
  return bytes;
}

/** Why nothing may be removed: a folder `run` or `backups` may be anybody's. */
export function purgeRefusal(installed: InstalledPaths): Failure | undefined {
  const { paths, ledger, userHome } = installed;
  const home = realPath(paths.home);
  const isAbove = isUnder(realPath(userHome), home);
  const isRepository = attempt(() => lstatSync(join(home, '.git'))) !== undefined;
  const fix = 'Remove by hand what you do not need of it.';
  if (isAbove || isRepository) {
    return failure('SUB_USAGE', `${paths.home} is no folder of Subluminal alone.`, fix);
  }
  if (ledger !== undefined && isFailure(ledger)) return ledger;
  const found = homeContents(installed).items.filter(({ path }) => dirname(path) === paths.home);
  if (found.length === 0 || isOwnHome(installed)) return undefined;
  const names = found.map(({ path }) => basename(path)).join(', ');
  const message = `nothing in ${paths.home} shows that Subluminal made it; found there: ${names}.`;
  return failure('SUB_USAGE', message, fix);
}

/** Whether it is the usual home, and no link to another folder, or has what only Subluminal writes. */
function isOwnHome({ paths, userHome }: InstalledPaths): boolean {
  if (realPath(paths.home) === join(realPath(userHome), '.subluminal')) return true;
  const records = (attempt(() => recordKeys(paths)) ?? []).map((key) => recordPath(key, paths));
  const marks = [...MARKS.map((name) => join(paths.home, name)), ...records];
  return marks.some((path) => attempt(() => lstatSync(path))?.isFile() === true);
}

/** Gives what is still there, with its reason. */
export function removeContents(
  { items }: HomeContents,
  { paths: { home } }: InstalledPaths,
): readonly Failure[] {
  const files = items.flatMap((item) => item.files.map((path) => ({ ...item, path })));
  const failed = files.flatMap(({ path, isFolder }) => {
    try {
      rmSync(path, { recursive: isFolder, force: true });
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
