// Whether a call names something that is protected, under whatever name.
import { basename, isAbsolute, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillerOf } from './fillers.ts';
import type { FinderOptions } from './finder-options.ts';
import { madeBy, mayBeLinked } from './made-folders.ts';
import {
  type CanFill,
  isPattern,
  matchesEnd,
  matchesParts,
  partsOf,
  splitPattern,
} from './name-patterns.ts';
import { nameVariants } from './name-variants.ts';
import { type Located, PathLookup } from './path-identity.ts';
import { PatternMatches } from './pattern-matches.ts';
import {
  configuredFiles,
  filesIn,
  GovernedConfigs,
  type ProtectedFile,
} from './protected-files.ts';

/** What is protected, as it lies on the disk at the moment. */
interface KnownFile extends ProtectedFile {
  readonly paths: readonly string[];
  /** What it is on the disk, and the files in it. */
  readonly ids: readonly string[];
}

interface Protection {
  readonly files: readonly KnownFile[];
  readonly ids: ReadonlyMap<string, string>;
  readonly names: ReadonlySet<string>;
}

const FRESH_MS = 1_000;
const FOLDERS_MAX = 32;
const ROUNDS_MAX = 4;
const LOOKUPS_MAX = 20_000;
const ROOTS_MAX = 16;
/** A pattern of more folders is no folder to start in. */
const MATCHES_AS_FOLDERS_MAX = 4;
const TOO_MANY = 'more files than can be checked';
const LINKED = 'a protected name in a folder that it links';
const IS_FOLDED = process.platform === 'darwin' || process.platform === 'win32';

/** A name that is protected, as it was given. */
interface FoundName {
  /** In words: `the policy in force`. */
  readonly what: string;
  readonly name: string;
}

export class ProtectedFinder {
  readonly #options: FinderOptions;
  readonly #configured: readonly ProtectedFile[];
  readonly #governed: GovernedConfigs;
  /** Names without a dot or a slash that count as well. */
  readonly baseNames: ReadonlySet<string>;
  #roots: readonly string[] = [];
  #hasMoreRoots = false;
  #protection: Protection | undefined;
  #takenMs = 0;
  #serverFolders: readonly string[] | undefined;

  constructor(options: FinderOptions) {
    this.#options = options;
    this.#configured = configuredFiles(options);
    const { home } = options.paths;
    // What is in the home has such a name only for a server that works there.
    const outside = this.#configured.filter(({ path }) => path === home || !isIn(path, home));
    const names = outside.map(({ path }) => basename(path));
    this.baseNames = new Set(names.filter((name) => name !== '' && !/[/\\~.%$*?]/.test(name)));
    this.#governed = new GovernedConfigs(options.paths);
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
    for (const name of this.#current().names) if (lower.includes(name)) return true;
    return false;
  }

  /** The agent has told its server where it works. */
  rootsTold(uris: readonly string[]): void {
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
    const protection = this.#current();
    const lookup = new PathLookup();
    const folders = new Set(this.#startFolders(lookup));
    const context = {
      protection,
      lookup,
      canFill: fillerOf(names),
      matches: new PatternMatches(),
      starts: folders,
      isCaseless: names.includes('nocaseglob'),
    };
    const made = madeBy(names);
    const variants = this.#variantsOf(names, made.goesInto);
    let fresh: readonly string[] = [...folders];
    for (let round = 0; round < ROUNDS_MAX && fresh.length > 0; round++) {
      const found: string[] = [];
      for (const [variant, name] of variants) {
        if (isAbsolute(variant) && round > 0) continue;
        const places = isAbsolute(variant)
          ? [variant]
          : fresh.map((folder) => `${folder}/${variant}`);
        for (const place of places) {
          const what = this.#judge(place, { ...context, found });
          if (what !== undefined) return { what, name };
          if (lookup.lookups > LOOKUPS_MAX) return { what: TOO_MANY, name };
        }
      }
      // A folder that the call names may be the one that its relative names start in.
      fresh = [...new Set(found)].filter((folder) => !folders.has(folder));
      for (const folder of fresh) folders.add(folder);
      if (folders.size > FOLDERS_MAX) return byBaseName(variants, protection);
    }
    if (this.#hasMoreRoots) return byBaseName(variants, protection);
    const around = { made, starts: [...folders], names: protection.names, lookup };
    for (const [variant, name] of variants) {
      if (mayBeLinked(variant, around)) return { what: LINKED, name };
    }
    return undefined;
  }

  /** Each way to take a name, and the name. */
  #variantsOf(names: readonly string[], goesInto: boolean): ReadonlyMap<string, string> {
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

  #judge(path: string, looking: Looking): string | undefined {
    const { protection, lookup, found } = looking;
    if (isPattern(path)) {
      const what = byPattern(path, looking) ?? byMatches(path, looking);
      const plain = resolve(path);
      // `x*/../policy.yaml` is `policy.yaml` to a server that knows no patterns.
      if (what !== undefined || !/\/\.\.(?:\/|$)/.test(path) || isPattern(plain)) return what;
      return this.#judge(plain, looking);
    }
    // A server may resolve `..` by names alone; the system goes through links.
    for (const one of new Set([path, resolve(path)])) {
      const located = lookup.locate(one);
      const what = whatAt(resolve(one), located, protection);
      if (what !== undefined) return what;
      if (located?.isFolder === true) found.push(located.path);
    }
    return undefined;
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

  /** Editors put another file in place of the old one, so it is looked up again now and then. */
  #current(): Protection {
    const nowMs = this.#options.now();
    const isFresh = Math.abs(nowMs - this.#takenMs) < FRESH_MS;
    if (this.#protection === undefined || !isFresh) {
      const files = [...this.#configured, ...this.#governed.files()];
      this.#protection = protectionOf(files, this.#protection);
      this.#takenMs = nowMs;
    }
    return this.#protection;
  }
}

/** With too many folders in play, a file is taken for what it is called. */
function byBaseName(
  variants: ReadonlyMap<string, string>,
  { names }: Protection,
): FoundName | undefined {
  for (const [variant, name] of variants) {
    if (names.has(basename(variant).toLowerCase())) return { what: TOO_MANY, name };
  }
  return undefined;
}

interface Looking {
  readonly protection: Protection;
  readonly lookup: PathLookup;
  /** Folders that the call names. */
  readonly found: string[];
  readonly canFill: CanFill;
  readonly matches: PatternMatches;
  /** Where relative names may start, as far as that is known. */
  readonly starts: ReadonlySet<string>;
  /** The shell is told to match patterns in any case. */
  readonly isCaseless: boolean;
}

/** What was there before and is gone may have been moved with its folder: it is the same file. */
function protectionOf(files: readonly ProtectedFile[], before: Protection | undefined): Protection {
  const lookup = new PathLookup();
  const ids = new Map<string, string>();
  const known = files.map((file) => {
    const located = lookup.locate(file.path);
    const old = before?.files.find(({ path }) => path === file.path);
    if (located?.isThere !== true && old !== undefined) {
      for (const id of old.ids) if (!ids.has(id)) ids.set(id, file.what);
      return old;
    }
    const inside = located?.isFolder === true ? filesIn(file) : [];
    const own = [file, ...inside].flatMap(({ path }) => idsAt(path, lookup).slice(0, 1));
    for (const id of own) if (!ids.has(id)) ids.set(id, file.what);
    const paths = [...new Set([resolve(file.path), located?.path ?? file.path])];
    return { ...file, paths, ids: own };
  });
  return {
    files: known,
    ids,
    names: new Set(files.map(({ path }) => basename(path).toLowerCase())),
  };
}

function idsAt(path: string, lookup: PathLookup): readonly string[] {
  const located = lookup.locate(path);
  return located?.isThere === true ? located.ids : [];
}

function whatAt(
  lexical: string,
  located: Located | undefined,
  { files, ids }: Protection,
): string | undefined {
  for (const id of located?.ids ?? []) {
    const what = ids.get(id);
    if (what !== undefined) return what;
  }
  const names = [folded(lexical), folded(located?.path ?? lexical)];
  return files.find(({ paths }) =>
    paths.some((path) => names.some((name) => isIn(name, folded(path)))),
  )?.what;
}

function isIn(path: string, outer: string): boolean {
  return path === outer || path.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function folded(path: string): string {
  return IS_FOLDED ? path.toLowerCase() : path;
}

function byPattern(path: string, looking: Looking): string | undefined {
  const { protection, lookup, canFill, isCaseless, starts: known } = looking;
  const cased = (name: string) => (isCaseless ? name.toLowerCase() : folded(name));
  const { folder, rest } = splitPattern(path);
  const located = folder === '' ? undefined : lookup.locate(folder);
  const inside = folder === '' ? undefined : whatAt(resolve(folder), located, protection);
  if (inside !== undefined) return inside;
  const wanted = rest.map(cased);
  const isOpen = known.has(folder);
  const starts = [resolve(folder), located?.path ?? folder].map(cased);
  const match = protection.files.find(({ paths }) =>
    paths.map(cased).some((name) => {
      const isFrom = starts.some((start) => {
        return (
          isIn(name, start) && matchesParts(wanted, partsOf(name.slice(start.length)), canFill)
        );
      });
      return isFrom || matchesEnd(wanted, partsOf(name), { canFill, isOpen });
    }),
  );
  return match?.what;
}

/** What a pattern stands for on the disk may be a link, or lead through one. */
function byMatches(path: string, looking: Looking): string | undefined {
  const { matches, lookup, protection, found } = looking;
  const paths = matches.of(path);
  for (const one of paths) {
    const located = lookup.locate(one);
    const what = whatAt(resolve(one), located, protection);
    if (what !== undefined) return what;
    if (located?.isFolder === true && paths.length <= MATCHES_AS_FOLDERS_MAX) {
      found.push(located.path);
    }
  }
  return matches.isOver && protection.names.has(basename(path).toLowerCase())
    ? TOO_MANY
    : undefined;
}
