// What an agent must not touch: the policy, `SUB_HOME`, and everything else that decides about it.
import { statSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { IS_CASELESS_DISK, type Located, namesIn, PathLookup } from '../../os/index.ts';
import { type HomePaths, projectFolders } from '../../stores/config/index.ts';
import { listRecords, recordFolder, recordKeys } from '../clients/store/records.ts';
import type { FinderOptions } from './finder-options.ts';

export interface ProtectedFile {
  readonly path: string;
  /** In words that tell an agent nothing new: `the policy in force`. */
  readonly what: string;
}

const POLICY = 'the policy in force';
const POLICY_PLACE = 'a place where a policy is looked for';
const CLIENT_SETTINGS = 'the settings of the agent, which could switch its hooks off';
const ENTRIES_MAX = 256;

/** The files and folders that are known from the configuration alone. */
function configuredFiles(options: FinderOptions): readonly ProtectedFile[] {
  const { paths, config, policies, policyPlaces, clientSettings = [] } = options;
  const sink = config['events.sink'];
  const named: readonly (readonly [string | null, string])[] = [
    ...policies.map((path) => [path, POLICY] as const),
    [paths.home, 'the folder of sub (SUB_HOME)'],
    [config['surface.manifests'], 'the folder of the manifests'],
    [config['ledger.path'], 'the ledger'],
    [config['ledger.socket'], 'the socket of the ledger'],
    [sink.kind === 'file' ? sink.path : null, 'the file of the events'],
    [config['cedar.policies'], 'the Cedar policies'],
    [config['cedar.schema'], 'the schema of the Cedar policies'],
    [config['cedar.entities'], 'the entities of the Cedar policies'],
    [config['secrets.passphrase_file'], 'the passphrase of the secrets'],
    ...policyPlaces.map((path) => [path, POLICY_PLACE] as const),
    ...clientSettings.map((path) => [path, CLIENT_SETTINGS] as const),
  ];
  return named.flatMap(([path, what]) => (path === null ? [] : [{ path, what }]));
}

/** The configs of clients that `sub import` or `sub wrap` has changed; read again when they change. */
class GovernedConfigs {
  readonly #paths: Pick<HomePaths, 'backups' | 'run'>;
  /** Where a client may look for settings of its project. */
  readonly #folders: readonly string[];
  #mark = '';
  #files: readonly ProtectedFile[] = [];

  constructor({ paths, cwd, userHome }: Pick<FinderOptions, 'paths' | 'cwd' | 'userHome'>) {
    this.#paths = paths;
    this.#folders = [...new Set([cwd, ...projectFolders({ cwd, userHome })])];
  }

  files(): readonly ProtectedFile[] {
    const { backups } = this.#paths;
    // A record is written into its folder after that was made.
    const folders = recordKeys(this.#paths).map((key) => recordFolder(key, this.#paths));
    const mark = [backups, ...folders].map(folderMark).join(' ');
    if (mark === this.#mark) return this.#files;
    const what = 'a client config that sub governs';
    this.#files = listRecords(this.#paths).flatMap((found) => {
      if (found.kind !== 'record') return [];
      const { path, target, hooks } = found.record;
      const guards = (hooks?.guards ?? []).flatMap((name) =>
        this.#folders.map((folder) => ({ path: join(folder, name), what: CLIENT_SETTINGS })),
      );
      return [...[...new Set([path, target])].map((one) => ({ path: one, what })), ...guards];
    });
    this.#mark = mark;
    return this.#files;
  }
}

function folderMark(folder: string): string {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs}`;
}

export interface KnownFile extends ProtectedFile {
  readonly paths: readonly string[];
  /** The identity of it on the disk, and of the files in it. */
  readonly ids: readonly string[];
}

/** What is protected, as it lies on the disk at the moment. */
export interface Protection {
  readonly files: readonly KnownFile[];
  /** What is protected, by its identity on the disk. */
  readonly ids: ReadonlyMap<string, string>;
  /** The base names of what is protected. */
  readonly names: ReadonlySet<string>;
}

/** A file that was there before and is gone may have been moved with its folder: it keeps its identity. */
function locateProtected(
  files: readonly ProtectedFile[],
  before: Protection | undefined,
): Protection {
  const lookup = new PathLookup();
  const known = files.map((file): KnownFile => {
    const located = lookup.locate(file.path);
    const old = before?.files.find(({ path }) => path === file.path);
    if (located?.isThere !== true && old !== undefined) return { ...old, what: file.what };
    // A file in a protected folder may have a second name elsewhere.
    const names = located?.isFolder === true ? namesIn(file.path, ENTRIES_MAX) : [];
    const ids = [file.path, ...names.map((name) => join(file.path, name))].flatMap((path) => {
      const one = lookup.locate(path);
      return one?.isThere === true ? one.ids.slice(0, 1) : [];
    });
    const paths = [...new Set([resolve(file.path), located?.path ?? file.path])];
    return { ...file, paths, ids };
  });
  // The first that has an identity says what it is.
  const named = known.flatMap(({ ids, what }) => ids.map((id) => [id, what] as const));
  return {
    files: known,
    ids: new Map(named.toReversed()),
    names: new Set(files.map(({ path }) => basename(path).toLowerCase())),
  };
}

const FRESH_MS = 1_000;

const KNOWN = new WeakMap<FinderOptions, ProtectedFiles>();

/** What is protected by these options. Sessions with the same options share it. */
export function protectedFiles(options: FinderOptions): ProtectedFiles {
  const files = KNOWN.get(options) ?? new ProtectedFiles(options);
  KNOWN.set(options, files);
  return files;
}

export class ProtectedFiles {
  readonly configured: readonly ProtectedFile[];
  readonly #governed: GovernedConfigs;
  readonly #now: () => number;
  #protection: Protection | undefined;
  #takenMs = 0;

  constructor(options: FinderOptions) {
    this.configured = configuredFiles(options);
    this.#governed = new GovernedConfigs(options);
    this.#now = options.now;
  }

  /** Editors put another file in place of the old one, so it is looked up again now and then. */
  current(): Protection {
    const nowMs = this.#now();
    const isFresh = Math.abs(nowMs - this.#takenMs) < FRESH_MS;
    if (this.#protection === undefined || !isFresh) {
      const files = [...this.configured, ...this.#governed.files()];
      this.#protection = locateProtected(files, this.#protection);
      this.#takenMs = nowMs;
    }
    return this.#protection;
  }
}

/** What is protected at a path, by its identity on the disk or by its name. */
export function protectedAt(
  path: string,
  located: Located | undefined,
  { files, ids }: Protection,
): string | undefined {
  for (const id of located?.ids ?? []) {
    const what = ids.get(id);
    if (what !== undefined) return what;
  }
  const lexical = foldedPath(resolve(path));
  const real = located === undefined ? lexical : foldedPath(located.path);
  for (const { paths, what } of files) {
    for (const one of paths) {
      const outer = foldedPath(one);
      if (isInside(lexical, outer) || (real !== lexical && isInside(real, outer))) return what;
    }
  }
  return undefined;
}

export function isInside(path: string, outer: string): boolean {
  if (!path.startsWith(outer)) return false;
  return path.length === outer.length || outer.endsWith(sep) || path[outer.length] === sep;
}

export function foldedPath(path: string): string {
  return IS_CASELESS_DISK ? path.toLowerCase() : path;
}
