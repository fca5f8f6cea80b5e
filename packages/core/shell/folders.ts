// The folders that a script may be in while it runs, by the success and failure of each `cd`.

/** Relative to where the script starts; nothing where only the running shell knows it. */
export type Folder = string | undefined;
type Folders = readonly Folder[];

/** More of them count as unknown. */
const FOLDERS_MAX = 8;
const UNKNOWN_FOLDER: Folders = [undefined];
/** No system has longer paths. */
const PATH_LENGTH_MAX = 4_096;

/** A path that is written in a folder, as it is from where the script starts. */
export function pathIn(folder: string, path: string): string {
  if (folder === '' || /^[/~]/.test(path)) return path;
  const isRooted = folder.startsWith('/');
  const names: string[] = [];
  for (const name of `${folder}/${path}`.split('/')) {
    if (name === '' || name === '.') continue;
    const last = names.at(-1);
    if (name !== '..' || last === '..' || last === '~' || (last === undefined && !isRooted)) {
      names.push(name);
    } else names.pop();
  }
  const joined = names.join('/');
  return isRooted ? `/${joined}` : joined || '.';
}

/** The last name of a path, without the slashes behind it. */
export function lastName(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(path.lastIndexOf('/', Math.max(0, end - 1)) + 1, end);
}

export interface SavedFolders {
  readonly current: Folders;
  readonly previous: Folders;
  readonly afterFailure: Folders;
  readonly pushed: Folders | undefined;
}

export class WorkingFolders {
  /** Where the next command runs. */
  #current: Folders;
  /** Where the script is if the last command failed; `#current` is where it is if it succeeded. */
  #afterFailure: Folders;
  /** What other branches of a list leave behind. */
  #skipped: Folders = [];
  #previous: Folders = UNKNOWN_FOLDER;
  /**
   * What `popd` may go back to: any that was left by `pushd`, as another one may have failed, or stand in a branch
   * that did not run. Nothing where it is not known.
   */
  #pushed: Folders | undefined = [];
  readonly #visited: Folder[] = [];
  /** `set -e`: a command that fails ends the script. */
  endsOnFailure = false;

  constructor(current: Folders = ['']) {
    this.#current = current;
    this.#afterFailure = current;
  }

  get current(): Folders {
    return this.#current;
  }

  /** Every folder that it went to. */
  get visited(): Folders {
    return this.#visited;
  }

  save(): SavedFolders {
    return {
      current: this.#current,
      previous: this.#previous,
      afterFailure: this.#afterFailure,
      pushed: this.#pushed,
    };
  }

  /** What ran since then had folders of its own. */
  restore(saved: SavedFolders): void {
    this.#current = saved.current;
    this.#previous = saved.previous;
    this.#afterFailure = saved.afterFailure;
    this.#pushed = saved.pushed;
    this.#skipped = [];
  }

  /** What ran since then may have run, or not. */
  merge(saved: SavedFolders): void {
    this.#current = union(this.#current, this.#afterFailure, this.#skipped, saved.current);
    this.#afterFailure = this.#current;
    this.#pushed = this.#pushed && saved.pushed && union(this.#pushed, saved.pushed);
    this.#skipped = [];
  }

  /** A command that stays where it is. */
  stay(): void {
    this.#afterFailure = this.#current;
  }

  /** Goes to each of these folders, or stays if that fails. */
  change(paths: Folders): void {
    const before = this.#current;
    this.#current = union(
      paths.flatMap((path) => {
        if (path === undefined) return UNKNOWN_FOLDER;
        return before.map((folder) => {
          const isAlone = /^[/~]/.test(path);
          const isKnown = (folder !== undefined || isAlone) && path.length < PATH_LENGTH_MAX;
          const joined = isKnown ? pathIn(folder ?? '', path) : undefined;
          return joined !== undefined && joined.length > PATH_LENGTH_MAX ? undefined : joined;
        });
      }),
    );
    this.#visited.push(...this.#current);
    this.#previous = before;
    this.#afterFailure = before;
  }

  /** `pushd x`; nothing where it does something else. */
  push(paths: Folders | undefined): void {
    this.#pushed = paths && this.#pushed && union(this.#pushed, this.#current);
    this.change(paths ?? UNKNOWN_FOLDER);
  }

  /** `popd`; false where nobody knows where it goes. */
  pop(): boolean {
    // There may be nothing to go back to.
    if (this.#pushed?.length === 0) this.stay();
    else this.#goTo(this.#pushed ?? UNKNOWN_FOLDER);
    return this.#pushed !== undefined;
  }

  /** For a process of its own, whose folders nobody else shares. */
  copy(): WorkingFolders {
    const own = new WorkingFolders(this.#current);
    own.#pushed = this.#pushed;
    return own;
  }

  /** The same as if a command ran in a folder below: `git -C x`. */
  below(paths: Folders): WorkingFolders {
    const inner = new WorkingFolders(this.#current);
    inner.change(paths);
    return inner;
  }

  goBack(): void {
    this.#goTo(this.#previous);
  }

  #goTo(folders: Folders): void {
    const before = this.#current;
    this.#current = folders;
    this.#visited.push(...this.#current);
    this.#previous = before;
    this.#afterFailure = before;
  }

  /** `exit`: what stands behind it in this branch does not run. */
  leave(): void {
    this.#current = [];
    this.#afterFailure = [];
  }

  sign(sign: string): void {
    if (sign === '&&') {
      this.#skipped = union(this.#skipped, this.#afterFailure);
    } else if (sign === '||') {
      this.#skipped = union(this.#skipped, this.#current);
      this.#current = this.#afterFailure;
    } else {
      const failed = this.endsOnFailure ? [] : this.#afterFailure;
      this.#current = union(this.#current, failed, this.#skipped);
      this.#skipped = [];
    }
    this.#afterFailure = this.#current;
  }
}

function union(...lists: readonly Folders[]): Folders {
  const all = new Set(lists.flat());
  return all.size > FOLDERS_MAX ? UNKNOWN_FOLDER : [...all];
}
