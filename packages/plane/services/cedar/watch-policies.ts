// Policies that follow their files. A broken set is reported and never used: the last good one stays
// in force until there is a better one.
import { type FSWatcher, statSync, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Problem } from '@subluminal/core/policy';
import { type CedarPaths, cedarFiles, loadCedar } from './load-policies.ts';
import type { Cedar } from './types.ts';

export type CedarReload =
  | { readonly kind: 'replaced'; readonly hash: string; readonly problems: readonly Problem[] }
  | { readonly kind: 'unchanged'; readonly hash: string }
  /** The set of this hash is still in use. */
  | { readonly kind: 'kept'; readonly hash: string; readonly problems: readonly Problem[] };

interface CedarWatchOptions {
  /** Called after each change of the files. */
  readonly onReload: (reload: CedarReload) => void;
  /** How often the files are checked where the system reports no changes. */
  readonly pollMs?: number;
}

/** An editor writes a file in several steps; only the result counts. */
const SETTLE_MS = 50;
const POLL_MS = 5_000;

/** The first set must be good: there is nothing to keep yet. */
export async function watchCedar(paths: CedarPaths, options: CedarWatchOptions) {
  const before = await fingerprint(paths);
  const opened = await loadCedar(paths);
  if (!opened.ok) return opened;
  const { cedar, problems } = opened;
  const watched = new PolicyWatcher(paths, options, { cedar, before });
  return { ok: true, watched, problems } as const;
}

class PolicyWatcher {
  readonly #paths: CedarPaths;
  readonly #options: CedarWatchOptions;
  readonly #poll: NodeJS.Timeout;
  readonly #watchers: readonly FSWatcher[];
  #settle: NodeJS.Timeout | undefined;
  #cedar: Cedar;
  #seen: string;
  /** Reloads run one after the other, so that an old one never replaces a newer one. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(
    paths: CedarPaths,
    options: CedarWatchOptions,
    { cedar, before }: { readonly cedar: Cedar; readonly before: string },
  ) {
    this.#paths = paths;
    this.#options = options;
    this.#cedar = cedar;
    this.#seen = before;
    this.#watchers = watchedFolders(paths).flatMap((folder) => this.#watch(folder) ?? []);
    this.#poll = setInterval(() => this.#look(), options.pollMs ?? POLL_MS).unref();
  }

  /** The set in use. */
  current(): Cedar {
    return this.#cedar;
  }

  /** Reads the files now. */
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

  /** Undefined where the system cannot watch; the poll remains. */
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
      if (this.#closed || (await fingerprint(this.#paths)) === this.#seen) return;
      this.#options.onReload(await this.#reload());
    });
    this.#last = next.catch(() => undefined);
  }

  async #reload(): Promise<CedarReload> {
    // Taken before reading: a change during the read causes another reload.
    this.#seen = await fingerprint(this.#paths);
    const opened = await loadCedar(this.#paths);
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

/** Folders are watched, because editors replace files. */
function watchedFolders({ policies, schema, entities }: CedarPaths): readonly string[] {
  const isFolder = statSync(policies, { throwIfNoEntry: false })?.isDirectory() === true;
  const files = [isFolder ? undefined : policies, schema, entities].flatMap((file) => file ?? []);
  return [...new Set([...(isFolder ? [policies] : []), ...files.map((file) => dirname(file))])];
}

/** Names, sizes, times and inodes of the files. */
async function fingerprint(paths: CedarPaths): Promise<string> {
  try {
    const { policies, schemas, entities } = await cedarFiles(paths);
    const states = [...policies, ...schemas, ...entities].map(async (file) => {
      const { size, mtimeMs, ctimeMs, ino } = await stat(file);
      return [file, size, mtimeMs, ctimeMs, ino].join(':');
    });
    return (await Promise.all(states)).join('\n');
  } catch {
    return 'unreadable';
  }
}
