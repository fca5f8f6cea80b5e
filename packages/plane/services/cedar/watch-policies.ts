// Policies that follow their files. A broken set is reported and never used: the last good one stays
// in force until there is a better one.
import { stat } from 'node:fs/promises';
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
  /** How often the files are checked. */
  readonly pollMs?: number;
}

const POLL_MS = 500;

/** The first set must be good: there is nothing to keep yet. */
export async function watchCedar(paths: CedarPaths, options: CedarWatchOptions) {
  const seen = await fingerprint(paths);
  const opened = await loadCedar(paths);
  if (!opened.ok) return opened;
  const { cedar, problems } = opened;
  const watched = new PolicyWatcher(paths, options, { cedar, seen });
  return { ok: true, watched, problems } as const;
}

class PolicyWatcher {
  readonly #paths: CedarPaths;
  readonly #poll: NodeJS.Timeout;
  #cedar: Cedar;
  /** The state of the files that was read last. */
  #seen: string;
  /** Their state at the last check. */
  #checked: string;
  /** Reloads run one after the other, so that an old one never replaces a newer one. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(
    paths: CedarPaths,
    { onReload, pollMs = POLL_MS }: CedarWatchOptions,
    { cedar, seen }: { readonly cedar: Cedar; readonly seen: string },
  ) {
    this.#paths = paths;
    this.#cedar = cedar;
    this.#seen = seen;
    this.#checked = seen;
    this.#poll = setInterval(() => void this.#inTurn(() => this.#check(onReload)), pollMs).unref();
  }

  /** The set in use. */
  current(): Cedar {
    return this.#cedar;
  }

  /** Reads the files now. */
  reload(): Promise<CedarReload> {
    return this.#inTurn(() => this.#reload());
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#poll);
    await this.#last;
    this.#cedar.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #check(onReload: CedarWatchOptions['onReload']): Promise<void> {
    const now = await fingerprint(this.#paths);
    // An editor writes a file in several steps; only the result counts.
    const isSettled = now === this.#checked;
    this.#checked = now;
    if (isSettled && now !== this.#seen && !this.#closed) onReload(await this.#reload());
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
