// Follows files by polling: editors replace files, and a watch on the old file sees nothing.
import { unwatchFile, watchFile } from 'node:fs';

export interface FileWatch {
  readonly paths: readonly string[];
  readonly everyMs: number;
  /** Reads the files again; never called while the last call still runs. */
  readonly read: () => Promise<void>;
}

export interface WatchedFiles {
  /** Reads now, or as soon as the reading under way has ended. */
  look(): void;
  stop(): void;
}

/** Reads after each change, and once after the first interval: the files may just have changed. */
export function watchFiles({ paths, everyMs, read }: FileWatch): WatchedFiles {
  let isReading = false;
  let isDirty = false;
  let isStopped = false;
  const look = (): void => {
    // A change during a reading must not be missed.
    isDirty = isReading;
    if (isReading || isStopped) return;
    isReading = true;
    void read().finally(() => {
      isReading = false;
      if (isDirty) look();
    });
  };
  const stops = paths.map((path) => pollFile(path, everyMs, look));
  const first = setTimeout(look, everyMs).unref();
  const stop = (): void => {
    isStopped = true;
    clearTimeout(first);
    for (const stopPoll of stops) stopPoll();
  };
  return { look, stop };
}

/** Who follows each file: the file is looked at once for all of them. */
const followers = new Map<string, Set<() => void>>();

/** Gives what ends it. The first follower of a file says how often it is looked at. */
function pollFile(path: string, everyMs: number, changed: () => void): () => void {
  const known = followers.get(path);
  const all = known ?? new Set();
  // A set holds a function once, and two followers may share one.
  const follower = (): void => changed();
  all.add(follower);
  if (known === undefined) {
    followers.set(path, all);
    const tell = (): void => {
      for (const one of [...all]) one();
    };
    watchFile(path, { interval: everyMs, persistent: false }, tell);
  }
  return () => {
    if (!all.delete(follower) || all.size > 0) return;
    followers.delete(path);
    unwatchFile(path);
  };
}
