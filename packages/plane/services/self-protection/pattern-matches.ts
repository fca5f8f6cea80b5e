// What a pattern stands for on this disk at the moment: its parts may lead through links.
import { readdirSync } from 'node:fs';
import { isAnything, isPattern, nameMatcher } from './name-patterns.ts';

const FOLDERS_MAX = 256;
const ENTRIES_MAX = 4_096;
const MATCHES_MAX = 256;

/** Reads each folder once, and no more of them than the limit. */
export class PatternMatches {
  readonly #entries = new Map<string, readonly string[]>();

  /** Some folders were not read. */
  get isOver(): boolean {
    return this.#entries.size >= FOLDERS_MAX;
  }

  /** The paths that a pattern stands for; none where its end stands for anything. */
  of(pattern: string): readonly string[] {
    const parts = pattern.split('/').filter((part) => part !== '');
    if (isAnything(parts.at(-1) ?? '')) return [];
    let found: readonly string[] = [''];
    for (const part of parts) {
      const matches = nameMatcher(part);
      const next = found.flatMap((folder) => {
        const names = isPattern(part) ? this.#namesIn(folder).filter(matches) : [part];
        return names.map((name) => `${folder}/${name}`);
      });
      found = next.slice(0, MATCHES_MAX);
    }
    return found;
  }

  #namesIn(folder: string): readonly string[] {
    const known = this.#entries.get(folder);
    if (known !== undefined) return known;
    if (this.isOver) return [];
    const names = namesIn(folder === '' ? '/' : folder);
    this.#entries.set(folder, names);
    return names;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, ENTRIES_MAX);
  } catch {
    return [];
  }
}
