// What a shell's pattern stands for: `pol*.yaml`, `$DIR/policy.yaml`; compared with names, and with what is
// on the disk.
import { readdirSync } from 'node:fs';
import { compileGlob } from '@subluminal/core/policy';
import type { Expansion } from '@subluminal/core/ports';
import { UNKNOWN } from '@subluminal/core/shell';

/** A part that stands for everything, or for a kind of file, names none: `*`, `.*`, `*.yaml`. */
const ANYTHING = new RegExp(`^\\.?[*${UNKNOWN}]+(?:\\.[*\\w]*)?$`);
const PATTERN = new RegExp(`[*?[${UNKNOWN}]`);
/** `[[:alpha:]]` is one character, whichever. */
const NAMED_CLASS = /\[[^\]/]{0,64}\[[:.=]\w{1,16}[:.=]\][^\]/]{0,64}\]/g;

export function isPattern(name: string): boolean {
  return PATTERN.test(name);
}

/** Whether a part stands for everything, or for a kind of file. */
export function isAnything(part: string): boolean {
  return ANYTHING.test(part);
}

/** Made once where a pattern is compared with many names. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  if (!isPattern(pattern)) return (name) => pattern === name;
  let matches: ((name: string) => boolean) | undefined;
  return (name) => {
    // A shell lets no pattern stand for the dot that a name begins with.
    if (name.startsWith('.') && /^[*?[]/.test(pattern)) return false;
    if (/^[\w.-]/.test(pattern) && pattern[0] !== name[0]) return false;
    matches ??= globMatcher(pattern);
    return matches(name);
  };
}

function globMatcher(pattern: string): (name: string) => boolean {
  const glob = pattern.replaceAll(UNKNOWN, '*').replace(NAMED_CLASS, '?');
  const compiled = compileGlob(glob);
  if (compiled.ok) return compiled.test;
  // A bracket without its other half is a plain sign to a shell.
  const plain = compileGlob(glob.replace(/[[\]{}]/g, '\\$&'));
  return plain.ok ? plain.test : () => true;
}

const ENTRIES_MAX = 4_096;

interface PatternLimits {
  /** Folders that are read. */
  readonly foldersMax: number;
  /** Paths that one pattern may stand for. */
  readonly matchesMax: number;
}

/** What patterns stand for on this disk: reads each folder once, and no more of them than the limit. */
export class PatternMatches {
  readonly #entries = new Map<string, readonly string[]>();
  readonly #limits: PatternLimits;

  constructor(limits: PatternLimits = { foldersMax: 256, matchesMax: 256 }) {
    this.#limits = limits;
  }

  of(pattern: string): Expansion {
    let paths: readonly string[] = [''];
    let isWhole = true;
    for (const part of pattern.split('/').filter((one) => one !== '')) {
      const matches = nameMatcher(part);
      const next = paths.flatMap((folder) => {
        if (!isPattern(part)) return [`${folder}/${part}`];
        const names = this.#namesIn(folder);
        if (names === undefined || names.length > ENTRIES_MAX) isWhole = false;
        return (names ?? []).filter(matches).map((name) => `${folder}/${name}`);
      });
      if (next.length > this.#limits.matchesMax) isWhole = false;
      paths = next.slice(0, this.#limits.matchesMax);
    }
    return { paths, isWhole };
  }

  /** The names in a folder, one more than the limit where there are more; undefined when it is not read. */
  #namesIn(folder: string): readonly string[] | undefined {
    const known = this.#entries.get(folder);
    if (known !== undefined || this.#entries.size >= this.#limits.foldersMax) return known;
    const names = namesIn(folder === '' ? '/' : folder, ENTRIES_MAX + 1);
    this.#entries.set(folder, names);
    return names;
  }
}

/** The names in a folder, as far as the limit goes; none where it cannot be read. */
export function namesIn(folder: string, namesMax: number): readonly string[] {
  try {
    return readdirSync(folder).slice(0, namesMax);
  } catch {
    return [];
  }
}
