// Policies that follow their files. A set that is broken is told of and never used: the last good
// one stays until there is a better one.
import { type FSWatcher, statSync, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Problem } from '@subluminal/core/policy';
import { type CedarPlace, filesOf, loadCedar } from './load.ts';
import type { Cedar, CedarOpened } from './types.ts';

export type CedarReload =
  | { readonly kind: 'replaced'; readonly hash: string; readonly problems: readonly Problem[] }
  | { readonly kind: 'unchanged'; readonly hash: string }
  /** The set of this hash is still in use. */
  | { readonly kind: 'kept'; readonly hash: string; readonly problems: readonly Problem[] };

export interface WatchOptions {
  /** Told after each look at the files that a change has caused. */
  readonly onReload: (reload: CedarReload) => void;
  /** How often the files are looked at even when the system tells of nothing. */
  readonly pollMs?: number;
}

export interface WatchedCedar {
  /** The set in use. */
  current(): Cedar;
  /** Looks now, and says what came of it. */
  reload(): Promise<CedarReload>;
  close(): Promise<void>;
}

export type CedarWatched =
  | { readonly ok: true; readonly watched: WatchedCedar; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** An editor writes a file in several steps; what it leaves behind is what counts. */
const SETTLE_MS = 50;
const POLL_MS = 5_000;

/** The first set must be good: there is nothing to keep yet. */
export async function watchCedar(place: CedarPlace, options: WatchOptions): Promise<CedarWatched> {
  const before = await fingerprint(place);
  const opened = await loadCedar(place);
  if (!opened.ok) return opened;
  const watched = new Watched(place, { opened: opened.cedar, before, options });
  return { ok: true, watched, problems: opened.problems };
}

interface Start {
  readonly opened: Cedar;
  readonly before: string;
  readonly options: WatchOptions;
}

class Watched implements WatchedCedar {
  readonly #place: CedarPlace;
  readonly #options: WatchOptions;
  readonly #poll: NodeJS.Timeout;
  readonly #watchers: readonly FSWatcher[];
  #settle: NodeJS.Timeout | undefined;
  #cedar: Cedar;
  #seen: string;
  /** Looks come one after the other, so that an old one never replaces a newer one. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(place: CedarPlace, { opened, before, options }: Start) {
    this.#place = place;
    this.#options = options;
    this.#cedar = opened;
    this.#seen = before;
    this.#watchers = foldersOf(place).flatMap((folder) => this.#watch(folder) ?? []);
    this.#poll = setInterval(() => this.#look(), options.pollMs ?? POLL_MS).unref();
  }

  current(): Cedar {
    return this.#cedar;
  }

  reload(): Promise<CedarReload> {
    const next = this.#last.then(() => this.#reload());
    this.#last = next.catch(() => undefined);
    return next;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#settle);
    for (const watcher of this.#watchers) watcher.close();
    await this.#last;
    this.#cedar.close();
  }

  /** Where the system can't tell, looking now and then must do. */
  #watch(folder: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        clearTimeout(this.#settle);
        if (!this.#closed) this.#settle = setTimeout(() => this.#look(), SETTLE_MS);
      });
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return undefined;
    }
  }

  #look(): void {
    const next = this.#last.then(async () => {
      if (this.#closed || (await fingerprint(this.#place)) === this.#seen) return;
      this.#options.onReload(await this.#reload());
    });
    this.#last = next.catch(() => undefined);
  }

  async #reload(): Promise<CedarReload> {
    // Taken before reading: what changes while it is read is seen again.
    this.#seen = await fingerprint(this.#place);
    const opened: CedarOpened = await loadCedar(this.#place);
    const { hash } = this.#cedar;
    if (!opened.ok) return { kind: 'kept', hash, problems: opened.problems };
    if (this.#closed || opened.cedar.hash === hash) {
      opened.cedar.close();
      return { kind: 'unchanged', hash };
    }
    const old = this.#cedar;
    this.#cedar = opened.cedar;
    old.close();
    return { kind: 'replaced', hash: opened.cedar.hash, problems: opened.problems };
  }
}

/** A change of a file is a change of its folder, also when an editor replaces the file. */
function foldersOf({ policies, schema, entities }: CedarPlace): readonly string[] {
  const isFolder = statSync(policies, { throwIfNoEntry: false })?.isDirectory() === true;
  const files = [isFolder ? undefined : policies, schema, entities].flatMap((file) => file ?? []);
  return [...new Set([...(isFolder ? [policies] : []), ...files.map((file) => dirname(file))])];
}

/** Names, sizes, times and numbers of our files; files that are gone have their own. */
async function fingerprint(place: CedarPlace): Promise<string> {
  try {
    const { policies, schemas, entities } = await filesOf(place);
    const states = [...policies, ...schemas, ...entities].map(async (file) => {
      const { size, mtimeMs, ctimeMs, ino } = await stat(file);
      return [file, size, mtimeMs, ctimeMs, ino].join(':');
    });
    return (await Promise.all(states)).join('\n');
  } catch {
    return 'unreadable';
  }
}
