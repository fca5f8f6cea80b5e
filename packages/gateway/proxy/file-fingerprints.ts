// Files that a turn names, by size and hash: enough to see that two turns are about the same file, and nothing of
// what stands in it.
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { ModelEnvelope } from '@subluminal/contracts';
import { attempt } from '@subluminal/plane/os';

type Fingerprint = ModelEnvelope['context_signals']['file_fingerprints'][number];

interface KnownFile {
  readonly mtimeMs: number;
  readonly size: number;
  readonly sha256: string;
}

const FILE_BYTES_MAX = 1_048_576;
const NEW_FILES_MAX = 16;
const FILES_MAX = 4_096;

export class FileFingerprints {
  readonly #known = new Map<string, KnownFile>();

  /** Those of the named files that are in the repository; a turn waits for a few new ones at most. */
  of(root: string, paths: readonly string[]): Fingerprint[] {
    let fresh = 0;
    return paths.flatMap((path) => {
      const full = join(root, path);
      const below = relative(root, full);
      if (below.startsWith('..') || isAbsolute(below)) return [];
      const stats = attempt(() => lstatSync(full));
      if (stats?.isFile() !== true || stats.size > FILE_BYTES_MAX) return [];
      const { size, mtimeMs } = stats;
      const known = this.#known.get(full);
      if (known?.size === size && known.mtimeMs === mtimeMs) return [fingerprint(path, known)];
      if (fresh++ >= NEW_FILES_MAX) return [];
      const bytes = attempt(() => readFileSync(full));
      if (bytes === undefined) return [];
      const file = { mtimeMs, size, sha256: createHash('sha256').update(bytes).digest('hex') };
      if (this.#known.size >= FILES_MAX) this.#known.clear();
      this.#known.set(full, file);
      return [fingerprint(path, file)];
    });
  }
}

function fingerprint(path: string, { size, sha256 }: KnownFile): Fingerprint {
  return { path, size_bytes: size, sha256 };
}
