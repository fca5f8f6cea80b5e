// Hears of what happens in the folder of the queue: one watcher for all that a process waits for,
// and a slow look around as a net, because systems lose such events.
import { type FSWatcher, watch } from 'node:fs';
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

interface Waiter {
  readonly ids: Set<string>;
  readonly onEnd: (ended: Ended) => void;
}

interface Following {
  readonly follower: Follower;
  readonly open: Set<string>;
}

/** Several files change for one end: they are looked at together. */
const QUIET_MS = 5;

export class QueueWatch {
  readonly #queue: WatchedQueue;
  readonly #waiters = new Set<Waiter>();
  readonly #followings = new Set<Following>();
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;

  constructor(queue: WatchedQueue) {
    this.#queue = queue;
  }

  watch(ids: readonly string[], onEnd: (ended: Ended) => void): Stoppable {
    const waiter = { ids: new Set(ids), onEnd };
    this.#waiters.add(waiter);
    this.#begin();
    return { stop: () => this.#leave(() => this.#waiters.delete(waiter)) };
  }

  follow(follower: Follower): Stoppable {
    const following = { follower, open: new Set<string>() };
    this.#followings.add(following);
    this.#begin();
    return { stop: () => this.#leave(() => this.#followings.delete(following)) };
  }

  #begin(): void {
    this.#poll ??= setInterval(() => this.#look(), this.#queue.pollMs);
    if (this.#watcher === undefined) this.#startWatcher();
    // The end may be there already, or come before the watcher is at work.
    this.#lookSoon();
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
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
      this.#queue.warn(`${folder} cannot be watched (${code}); it is looked at now and then.`);
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
    for (const waiter of [...this.#waiters]) this.#lookFor(waiter);
    if (this.#followings.size > 0) this.#lookAround();
    this.#endIfIdle();
  }

  #lookFor(waiter: Waiter): void {
    for (const id of [...waiter.ids]) {
      const ended = this.#queue.settled(id);
      // Another callback may have stopped this one meanwhile.
      if (ended === undefined || !this.#waiters.has(waiter)) continue;
      waiter.ids.delete(id);
      if (waiter.ids.size === 0) this.#waiters.delete(waiter);
      waiter.onEnd(ended);
    }
  }

  #lookAround(): void {
    const waiting = new Map(this.#queue.waiting().map((entry) => [entry.request.id, entry]));
    for (const following of [...this.#followings]) {
      const { open, follower } = following;
      const gone = [...open].filter((id) => !waiting.has(id));
      for (const id of gone) {
        const ended = this.#queue.settled(id);
        if (ended === undefined || !this.#followings.has(following)) continue;
        open.delete(id);
        follower.onEnd(ended);
      }
      for (const [id, entry] of waiting) {
        if (open.has(id) || !this.#followings.has(following)) continue;
        open.add(id);
        follower.onRequest(entry);
      }
    }
  }

  #leave(remove: () => void): void {
    remove();
    this.#endIfIdle();
  }

  /** What nobody waits for must not keep the process. */
  #endIfIdle(): void {
    if (this.#waiters.size > 0 || this.#followings.size > 0) return;
    clearInterval(this.#poll);
    clearTimeout(this.#soon);
    this.#poll = undefined;
    this.#soon = undefined;
    this.#dropWatcher();
  }
}
