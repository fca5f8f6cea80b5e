// Whether a call names something that is protected, under whatever name.
import { basename, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nameVariants } from '@subluminal/core/paths';
import { isAnything, isPattern, PathLookup, PatternMatches } from '../../os/index.ts';
import { type FileChanges, findChanged } from './changed-places.ts';
import type { FinderOptions } from './finder-options.ts';
import { linkTest, makesFolders } from './made-folders.ts';
import {
  type CanFill,
  fillerOf,
  matchesEnd,
  matchesParts,
  pathParts,
  splitPattern,
} from './name-patterns.ts';
import {
  foldedPath,
  isInside,
  type ProtectedFiles,
  type Protection,
  protectedAt,
  protectedFiles,
} from './protected-files.ts';

const FOLDERS_MAX = 32;
const ROUNDS_MAX = 4;
const LOOKUPS_MAX = 20_000;
const ROOTS_MAX = 16;
/** A pattern of more folders is no folder to start in. */
const MATCHES_AS_FOLDERS_MAX = 4;
const TOO_MANY = 'more files than can be checked';
const LINKED = 'a protected name in a folder that it links';

/** A name that is protected, as it was given. */
interface FoundName {
  /** In words: `the policy in force`. */
  readonly what: string;
  readonly name: string;
}

/** Each way to take a name, and the name. */
type Variants = ReadonlyMap<string, string>;

export class ProtectedFinder {
  readonly #options: FinderOptions;
  readonly #files: ProtectedFiles;
  /** Names without a dot or a slash that count as well. */
  readonly baseNames: ReadonlySet<string>;
  #roots: readonly string[] = [];
  #hasMoreRoots = false;
  #serverFolders: readonly string[] | undefined;

  constructor(options: FinderOptions) {
    this.#options = options;
    this.#files = protectedFiles(options);
    const { home } = options.paths;
    // Files of the home have such a name only for a server that works there.
    const outside = this.#files.configured.filter(
      ({ path }) => path === home || !isInside(path, home),
    );
    const names = outside.map(({ path }) => basename(path));
    this.baseNames = new Set(names.filter((name) => name !== '' && !/[/\\~.%$*?]/.test(name)));
  }

  /** Whether one of the names without a dot or a slash stands anywhere in JSON. */
  hasBaseName(json: Uint8Array): boolean {
    const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
    for (const name of this.baseNames) if (bytes.includes(name)) return true;
    return false;
  }

  /** Whether the base name of anything protected stands in a text, in any case. */
  isMentioned(text: string): boolean {
    const lower = text.toLowerCase();
    for (const name of this.#files.current().names) if (lower.includes(name)) return true;
    return false;
  }

  /** Takes the roots that the agent has given to its server: relative names may start there. */
  useRoots(uris: readonly string[]): void {
    this.#hasMoreRoots = uris.length > ROOTS_MAX;
    this.#roots = uris.slice(0, ROOTS_MAX).flatMap((uri) => {
      try {
        return [fileURLToPath(uri)];
      } catch {
        return [];
      }
    });
  }

  /** The first of the names that is protected, and as what. */
  find(names: readonly string[]): FoundName | undefined {
    const search = new ProtectedSearch(names, this.#files.current());
    const { lookup, protection } = search;
    const folders = new Set(this.#startFolders(lookup));
    search.starts = folders;
    const variants = this.#variantsOf(names);
    let fresh: readonly string[] = [...folders];
    for (let round = 0; round < ROUNDS_MAX && fresh.length > 0; round++) {
      search.folders = [];
      for (const [variant, name] of variants) {
        if (isAbsolute(variant) && round > 0) continue;
        const paths = isAbsolute(variant)
          ? [variant]
          : fresh.map((folder) => `${folder}/${variant}`);
        for (const path of paths) {
          const what = search.judge(path);
          if (what !== undefined) return { what, name };
          if (lookup.lookups > LOOKUPS_MAX) return { what: TOO_MANY, name };
        }
      }
      // A folder that the call names may be the one that its relative names start in.
      fresh = [...new Set(search.folders)].filter((folder) => !folders.has(folder));
      for (const folder of fresh) folders.add(folder);
      if (folders.size > FOLDERS_MAX) return byBaseName(variants, protection);
    }
    if (this.#hasMoreRoots) return byBaseName(variants, protection);
    const mayBeLinked = linkTest(names, { starts: [...folders], names: protection.names, lookup });
    for (const [variant, name] of variants) {
      if (mayBeLinked(variant)) return { what: LINKED, name };
    }
    return undefined;
  }

  /** What of all this is protected and would be removed or overwritten, and by which of the paths. */
  findChanged(changes: FileChanges): FoundName | undefined {
    const { cwd, userHome } = this.#options;
    const starts = [...new Set([cwd, ...this.#roots])];
    const protection = this.#files.current();
    return findChanged(changes, { protection, starts, userHome, lookup: new PathLookup() });
  }

  #variantsOf(names: readonly string[]): Variants {
    const goesInto = makesFolders(names);
    const variants = new Map<string, string>();
    for (const name of names) {
      for (const variant of this.#variants(name)) {
        variants.set(variant, name);
        const back = goesInto ? variant.replace(/^(?:\.\.\/+)+/, '') : '';
        if (back !== '') variants.set(back, name);
      }
    }
    return variants;
  }

  #variants(name: string): readonly string[] {
    const { userHome, env } = this.#options;
    return nameVariants(name, { userHome, env, isMentioned: (text) => this.isMentioned(text) });
  }

  /** Where relative names may start. */
  #startFolders(lookup: PathLookup): readonly string[] {
    const { cwd, command } = this.#options;
    this.#serverFolders ??= command.flatMap((word) => {
      const variants = this.#variants(word).filter((one) => /[/.~]/.test(one));
      const located = variants.map((one) => lookup.locate(resolve(cwd, one)));
      return located.flatMap((one) => (one?.isFolder === true ? [one.path] : []));
    });
    return [cwd, ...new Set([...this.#serverFolders, ...this.#roots])].slice(0, FOLDERS_MAX / 2);
  }
}

/** With too many folders in play, a file is judged by its name alone. */
function byBaseName(variants: Variants, { names }: Protection): FoundName | undefined {
  for (const [variant, name] of variants) {
    if (names.has(basename(variant).toLowerCase())) return { what: TOO_MANY, name };
  }
  return undefined;
}

/** The search through the names of one call. */
class ProtectedSearch {
  readonly lookup = new PathLookup();
  readonly protection: Protection;
  /** Where relative names may start, as far as that is known. */
  starts: ReadonlySet<string> = new Set();
  /** Folders that the call names. */
  folders: string[] = [];
  readonly #canFill: CanFill;
  readonly #matches = new PatternMatches();
  /** The shell is told to match patterns in any case. */
  readonly #isCaseless: boolean;

  constructor(names: readonly string[], protection: Protection) {
    this.protection = protection;
    this.#canFill = fillerOf(names);
    this.#isCaseless = names.includes('nocaseglob');
  }

  /** As what a path is protected, if it is. */
  judge(path: string): string | undefined {
    if (isPattern(path)) {
      const what = this.#byPattern(path) ?? this.#byMatches(path);
      const plain = resolve(path);
      // `x*/../policy.yaml` is `policy.yaml` to a server that knows no patterns.
      if (what !== undefined || !/\/\.\.(?:\/|$)/.test(path) || isPattern(plain)) return what;
      return this.judge(plain);
    }
    // A server may resolve `..` by names alone; the system goes through links.
    const plain = resolve(path);
    return this.#firstProtected(plain === path ? [path] : [path, plain], true);
  }

  #firstProtected(paths: readonly string[], areFolders: boolean): string | undefined {
    for (const path of paths) {
      const located = this.lookup.locate(path);
      const what = protectedAt(path, located, this.protection);
      if (what !== undefined) return what;
      if (located?.isFolder === true && areFolders) this.folders.push(located.path);
    }
    return undefined;
  }

  #byPattern(path: string): string | undefined {
    const canFill = this.#canFill;
    const cased = (name: string) => (this.#isCaseless ? name.toLowerCase() : foldedPath(name));
    const { folder, rest } = splitPattern(path);
    const located = folder === '' ? undefined : this.lookup.locate(folder);
    const inside = folder === '' ? undefined : protectedAt(folder, located, this.protection);
    if (inside !== undefined) return inside;
    const pattern = rest.map(cased);
    const isOpen = this.starts.has(folder);
    const starts = [resolve(folder), located?.path ?? folder].map(cased);
    const isNamed = (name: string) =>
      starts.some((start) => {
        const below = () => pathParts(name.slice(start.length));
        return isInside(name, start) && matchesParts(pattern, below(), canFill);
      }) || matchesEnd(pattern, pathParts(name), { canFill, isOpen });
    return this.protection.files.find(({ paths }) => paths.map(cased).some(isNamed))?.what;
  }

  /** What a pattern stands for on the disk may be a link, or lead through one. */
  #byMatches(path: string): string | undefined {
    if (isAnything(basename(path))) return undefined;
    const { paths, isWhole } = this.#matches.of(path);
    const what = this.#firstProtected(paths, paths.length <= MATCHES_AS_FOLDERS_MAX);
    if (what !== undefined) return what;
    return !isWhole && this.protection.names.has(basename(path).toLowerCase())
      ? TOO_MANY
      : undefined;
  }
}
