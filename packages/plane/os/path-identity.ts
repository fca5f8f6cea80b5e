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

/** Looks paths up, each once. */
export class PathLookup {
  readonly #known = new Map<string, Located | undefined>();
  readonly #ids = new Map<string, string | undefined>();
  #lookups = 0;

  /** How often the disk was asked. */
  get lookups(): number {
    return this.#lookups;
  }

  locate(path: string, hops = 0): Located | undefined {
    if (path.length > PATH_LENGTH_MAX || path.includes('\0')) return undefined;
    if (this.#known.has(path)) return this.#known.get(path);
    this.#lookups++;
    const found = this.#look(path, hops);
    this.#known.set(path, found);
    return found;
  }

  #look(path: string, hops: number): Located | undefined {
    try {
      const own = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (own === undefined) return this.#missing(path, hops);
      if (!own.isSymbolicLink()) return this.#there(path, own);
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (stats !== undefined) return this.#there(path, stats);
      // A link that leads nowhere leads to a file that may be made.
      if (hops < HOPS_MAX) return this.locate(resolve(dirname(path), readlinkSync(path)), hops + 1);
      return this.#missing(path, hops);
    } catch {
      return this.#missing(path, hops);
    }
  }

  #there(path: string, stats: BigIntStats): Located {
    const real = realpathSync.native(path);
    const ids = [idOf(stats), ...this.#above(real)];
    return { path: real, ids, isFolder: stats.isDirectory(), isThere: true };
  }

  /** A file that is not there is its name in its folder. */
  #missing(path: string, hops: number): Located | undefined {
    // A `..` before the name leads out of where a link leads, not out of the link.
    const plain = /(?:^|\/)\.{1,2}\/*$/.test(path) ? resolve(path) : path.replace(/(?!^)\/+$/, '');
    const folder = dirname(plain);
    if (folder === plain) return undefined;
    const above = this.locate(folder, hops);
    if (above === undefined) return undefined;
    const { ids } = above;
    return { path: join(above.path, basename(plain)), ids, isFolder: false, isThere: false };
  }

  #above(real: string): readonly string[] {
    const ids: string[] = [];
    let at = dirname(real);
    for (let level = 0; level < LEVELS_MAX; level++) {
      const id = this.#idAt(at);
      if (id !== undefined) ids.push(id);
      if (dirname(at) === at) break;
      at = dirname(at);
    }
    return ids;
  }

  #idAt(folder: string): string | undefined {
    if (this.#ids.has(folder)) return this.#ids.get(folder);
    let id: string | undefined;
    try {
      const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
      id = stats && idOf(stats);
    } catch {
      id = undefined;
    }
    this.#ids.set(folder, id);
    return id;
  }
}

function idOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}
