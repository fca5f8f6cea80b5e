// Policies that follow their folder. A set that is broken is told of and never used: the last good
// one stays until there is a better one.
import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Problem } from '@subluminal/core/policy';
import { isOurs, loadCedarFolder } from './load.ts';
import type { Cedar, CedarOpened } from './types.ts';

type CedarReload =
  | { readonly kind: 'replaced'; readonly hash: string; readonly problems: readonly Problem[] }
  | { readonly kind: 'unchanged'; readonly hash: string }
  /** The set of this hash is still in use. */
  | { readonly kind: 'kept'; readonly hash: string; readonly problems: readonly Problem[] };

interface WatchOptions {
  /** Told after each look at the folder that a change has caused. */
  readonly onReload: (reload: CedarReload) => void;
  /** How often the folder is looked at even when the system tells of nothing. */
  readonly pollMs?: number;
}

interface WatchedCedar {
  /** The set in use. */
  current(): Cedar;
  /** Looks now, and says what came of it. */
  reload(): Promise<CedarReload>;
  close(): Promise<void>;
}

type CedarWatched =
  | { readonly ok: true; readonly watched: WatchedCedar; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** An editor writes a file in several steps; what it leaves behind is what counts. */
const SETTLE_MS = 50;
const POLL_MS = 5_000;

/** The first set must be good: there is nothing to keep yet. */
async function watchCedar(folder: string, options: WatchOptions): Promise<CedarWatched> {
  const before = await fingerprint(folder);
  const opened = await loadCedarFolder(folder);
  if (!opened.ok) return opened;
  const watched = new Watched(folder, { opened: opened.cedar, before, options });
  return { ok: true, watched, problems: opened.problems };
}

interface Start {
  readonly opened: Cedar;
  readonly before: string;
  readonly options: WatchOptions;
}

class Watched implements WatchedCedar {
  readonly #folder: string;
  readonly #options: WatchOptions;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #settle: NodeJS.Timeout | undefined;
  #cedar: Cedar;
  #seen: string;
  /** Looks come one after the other, so that an old one never replaces a newer one. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(folder: string, { opened, before, options }: Start) {
    this.#folder = folder;
    this.#options = options;
    this.#cedar = opened;
    this.#seen = before;
    this.#watcher = this.#watch();
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
    this.#watcher?.close();
    await this.#last;
    this.#cedar.close();
  }

  /** Where the system can't tell, looking now and then must do. */
  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#folder, { persistent: false }, () => {
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
      if (this.#closed || (await fingerprint(this.#folder)) === this.#seen) return;
      this.#options.onReload(await this.#reload());
    });
    this.#last = next.catch(() => undefined);
  }

  async #reload(): Promise<CedarReload> {
    // Taken before reading: what changes while it is read is seen again.
    this.#seen = await fingerprint(this.#folder);
    const opened: CedarOpened = await loadCedarFolder(this.#folder);
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

/** Names, sizes, times and numbers of our files; a folder that is gone has its own. */
async function fingerprint(folder: string): Promise<string> {
  try {
    const names = (await readdir(folder)).filter(isOurs).toSorted();
    const states = names.map(async (name) => {
      const { size, mtimeMs, ctimeMs, ino } = await stat(join(folder, name));
      return [name, size, mtimeMs, ctimeMs, ino].join(':');
    });
    return (await Promise.all(states)).join('\n');
  } catch {
    return 'unreadable';
  }
}

export type { CedarReload, CedarWatched, WatchedCedar, WatchOptions };
export { watchCedar };
