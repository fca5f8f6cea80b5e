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
  for (const path of paths) watchFile(path, { interval: everyMs, persistent: false }, look);
  const first = setTimeout(look, everyMs).unref();
  const stop = (): void => {
    isStopped = true;
    clearTimeout(first);
    for (const path of paths) unwatchFile(path, look);
  };
  return { look, stop };
}
