// Follows the manifest of a server while it runs.
import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '@subluminal/core/surface';
import { manifestFileName } from './file-name.ts';
import { type LoadedManifest, loadManifest, type ManifestPlace } from './manifest-file.ts';

export interface ManifestWatch extends ManifestPlace {
  /** What is in force when the watch begins. */
  readonly current: Manifest | undefined;
  /** Another one is in force. */
  readonly changed: (manifest: Manifest) => void | Promise<void>;
  /** The file is no longer there; the last one stays in force. */
  readonly gone: (path: string) => void;
  /** The file cannot be used now; the last one stays in force. */
  readonly broken: (problems: Extract<LoadedManifest, { kind: 'problems' }>) => void;
  /** How often the file is looked at. */
  readonly everyMs?: number;
}

const LOOK_EVERY_MS = 500;

/** Looks at the file by polling: editors replace files, and a watch on the old one sees nothing. */
export function watchManifest(watch: ManifestWatch): { stop(): void } {
  const { folder, server, everyMs = LOOK_EVERY_MS } = watch;
  const path = join(folder, manifestFileName(server));
  let hash = watch.current?.manifest_hash;
  let isReading = false;
  let again = false;
  let isStopped = false;
  let isGone = false;
  let gone: NodeJS.Timeout | undefined;
  const take = async (loaded: LoadedManifest, isSure: boolean): Promise<void> => {
    if (isStopped) return;
    if (loaded.kind === 'problems') return watch.broken(loaded);
    if (loaded.kind === 'none') {
      if (hash === undefined || isGone) return;
      if (isSure) {
        // Who can take a file away could otherwise take every limit away, and at once.
        isGone = true;
        return watch.gone(loaded.path);
      }
      // An editor may take the file away for a moment.
      gone = setTimeout(() => look(true), everyMs);
      gone.unref();
      return;
    }
    isGone = false;
    const { manifest } = loaded;
    if (manifest.manifest_hash === hash) return;
    hash = manifest.manifest_hash;
    await watch.changed(manifest);
  };
  const look = (isSure: boolean): void => {
    clearTimeout(gone);
    // A change while the last one is still being read must not be missed.
    again = isReading;
    if (isReading) return;
    isReading = true;
    void loadManifest(watch)
      .then((loaded) => take(loaded, isSure))
      .finally(() => {
        isReading = false;
        if (again && !isStopped) look(false);
      });
  };
  const onChange = (): void => look(false);
  watchFile(path, { interval: everyMs, persistent: false }, onChange);
  // What has changed between the reading of it and the first look of the watch.
  const first = setTimeout(onChange, everyMs);
  first.unref();
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(first);
      clearTimeout(gone);
      unwatchFile(path, onChange);
    },
  };
}
