// Follows what happens in the folder of the queue: one watch of the system for all that a process
// waits for, and a slow poll beside it, because systems lose such events.
import { type FSWatcher, watch } from 'node:fs';
import { codeOrText } from '../../os/index.ts';
import { ensureFolder } from './files.ts';
import type { Ended, Entry } from './queue.ts';

export interface Stoppable {
  stop(): void;
}

export interface Follower {
  onRequest(entry: Entry): void;
  onEnd(ended: Ended): void;
}

interface WatchedQueue {
  readonly folder: string;
  readonly pollMs: number;
  /** Undefined while it waits. */
  settled(id: string): Ended | undefined;
  waiting(): readonly Entry[];
  warn(message: string): void;
}

interface Watcher {
  /** The requests that have not ended yet. */
  readonly open: Set<string>;
  readonly onEnd: (ended: Ended) => void;
  /** Told of every request that waits; without it, the watcher is for the open ones alone. */
  readonly onRequest?: (entry: Entry) => void;
}

/** Several files change for one end: they are looked at together. */
const QUIET_MS = 5;

export class QueueWatch {
  readonly #queue: WatchedQueue;
  readonly #watchers = new Set<Watcher>();
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;

  constructor(queue: WatchedQueue) {
    this.#queue = queue;
  }

  watch(ids: readonly string[], onEnd: (ended: Ended) => void): Stoppable {
    return this.#begin({ open: new Set(ids), onEnd });
  }

  follow(follower: Follower): Stoppable {
    return this.#begin({
      open: new Set(),
      onEnd: (ended) => follower.onEnd(ended),
      onRequest: (entry) => follower.onRequest(entry),
    });
  }

  #begin(watcher: Watcher): Stoppable {
    this.#watchers.add(watcher);
    this.#poll ??= setInterval(() => this.#look(), this.#queue.pollMs);
    if (this.#watcher === undefined) this.#startWatcher();
    // The end may be there already, or come before the watcher is at work.
    this.#lookSoon();
    const stop = (): void => {
      this.#watchers.delete(watcher);
      this.#endIfIdle();
    };
    return { stop };
  }

  /** Without it everything still works, only later. */
  #startWatcher(): void {
    const { folder } = this.#queue;
    const unsafe = ensureFolder(folder);
    if (unsafe !== undefined) return this.#queue.warn(unsafe.message);
    try {
      this.#watcher = watch(folder, { persistent: true }, (_event, name) => {
        if (name === null || !name.endsWith('.draft')) this.#lookSoon();
      });
      this.#watcher.on('error', () => this.#dropWatcher());
    } catch (cause) {
      const why = codeOrText(cause);
      this.#queue.warn(`${folder} cannot be watched (${why}); it is looked at now and then.`);
    }
  }

  #dropWatcher(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #lookSoon(): void {
    this.#soon ??= setTimeout(() => this.#look(), QUIET_MS);
  }

  #look(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    const watchers = [...this.#watchers];
    const isFollowed = watchers.some(({ onRequest }) => onRequest !== undefined);
    const entries = isFollowed ? this.#queue.waiting() : [];
    const waiting = new Map(entries.map((entry) => [entry.request.id, entry]));
    for (const watcher of watchers) {
      this.#lookForEnds(watcher, waiting);
      if (watcher.onRequest !== undefined) this.#lookForRequests(watcher, waiting);
    }
    this.#endIfIdle();
  }

  #lookForEnds(watcher: Watcher, waiting: ReadonlyMap<string, Entry>): void {
    const { open, onEnd, onRequest } = watcher;
    for (const id of [...open].filter((one) => !waiting.has(one))) {
      const ended = this.#queue.settled(id);
      // Another callback may have stopped this one meanwhile.
      if (ended === undefined || !this.#watchers.has(watcher)) continue;
      open.delete(id);
      if (open.size === 0 && onRequest === undefined) this.#watchers.delete(watcher);
      onEnd(ended);
    }
  }

  #lookForRequests(watcher: Watcher, waiting: ReadonlyMap<string, Entry>): void {
    for (const [id, entry] of waiting) {
      if (watcher.open.has(id) || !this.#watchers.has(watcher)) continue;
      watcher.open.add(id);
      watcher.onRequest?.(entry);
    }
  }

  /** What nobody waits for must not keep the process. */
  #endIfIdle(): void {
    if (this.#watchers.size > 0) return;
    clearInterval(this.#poll);
    clearTimeout(this.#soon);
    this.#poll = undefined;
    this.#soon = undefined;
    this.#dropWatcher();
  }
}
