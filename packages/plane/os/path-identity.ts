// Where a path leads on this disk: through links, up to what is there, and beyond it by its names.
import { type BigIntStats, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Disks that take `A` and `a` for the same name. */
export const IS_CASELESS_DISK = process.platform === 'darwin' || process.platform === 'win32';

export interface Located {
  /** Its true name, as far as it is there. */
  readonly path: string;
  /** The file or folder itself and the folders that it is in, nearest first. */
  readonly ids: readonly string[];
  readonly isFolder: boolean;
  /** False when it is a name in a folder that is there, or would be. */
  readonly isThere: boolean;
}

const HOPS_MAX = 8;
const LEVELS_MAX = 128;
const PATH_LENGTH_MAX = 4_096;
/** It goes down from the root, name by name. */
const STRAIGHT = /^(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+$/;

/** The same as long as this process runs: a root can't be moved or replaced. */
let root: Located | undefined;

/** Looks paths up, each once. */
export class PathLookup {
  readonly #known = new Map<string, Located | undefined>();
  #lookups = 0;

  /** How often the disk was asked. */
  get lookups(): number {
    return this.#lookups;
  }

  locate(path: string, hops = 0): Located | undefined {
    if (path.length > PATH_LENGTH_MAX || path.includes('\0')) return undefined;
    if (path === '/' && root !== undefined) return root;
    if (this.#known.has(path)) return this.#known.get(path);
    const found = this.#look(path, hops);
    this.#known.set(path, found);
    if (path === '/') root = found;
    return found;
  }

  #look(path: string, hops: number): Located | undefined {
    const above = STRAIGHT.test(path) ? this.locate(dirname(path), hops) : undefined;
    // Nothing is in a folder that is not there.
    if (above?.isThere === false) return nameIn(above, path);
    this.#lookups++;
    try {
      const own = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (own === undefined) return this.#missing(path, hops);
      if (!own.isSymbolicLink()) return this.#there(path, own, { above, hops });
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (stats !== undefined) return this.#there(path, stats, { above: undefined, hops });
      // A link that leads nowhere leads to a file that may be made.
      if (hops < HOPS_MAX) return this.locate(resolve(dirname(path), readlinkSync(path)), hops + 1);
      return this.#missing(path, hops);
    } catch {
      return this.#missing(path, hops);
    }
  }

  #there(path: string, stats: BigIntStats, { above, hops }: Reached): Located | undefined {
    // Where the disk folds case, only the system knows how a name is written.
    const isKnown = above !== undefined && !IS_CASELESS_DISK;
    const real = isKnown ? join(above.path, basename(path)) : realpathSync.native(path);
    if (real !== path) {
      return hops < HOPS_MAX ? this.locate(real, hops + 1) : this.#missing(path, hops);
    }
    const folder = dirname(path);
    const around = above ?? (folder === path ? undefined : this.locate(folder, hops));
    const ids = [idOf(stats), ...(around?.ids.slice(0, LEVELS_MAX) ?? [])];
    return { path, ids, isFolder: stats.isDirectory(), isThere: true };
  }

  /** A file that is not there is its name in its folder. */
  #missing(path: string, hops: number): Located | undefined {
    // A `..` before the name leads out of where a link leads, not out of the link.
    const plain = /(?:^|\/)\.{1,2}\/*$/.test(path) ? resolve(path) : path.replace(/(?!^)\/+$/, '');
    const folder = dirname(plain);
    if (folder === plain) return undefined;
    const above = this.locate(folder, hops);
    return above && nameIn(above, plain);
  }
}

/** How a path was reached. */
interface Reached {
  /** The folder that it is in, if it is known and no link led to the path. */
  readonly above: Located | undefined;
  readonly hops: number;
}

function nameIn({ path: folder, ids }: Located, path: string): Located {
  return { path: join(folder, basename(path)), ids, isFolder: false, isThere: false };
}

function idOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}
