// Checks one manifest, from any path.
import { basename, dirname, resolve } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/policy';
import { compileManifest, type Manifest } from '@subluminal/core/surface';
import { sha256 } from '@subluminal/plane/crypto';
import { loadManifest, manifestFileName } from '@subluminal/plane/surface';
import { readFileBytes } from '../input/read-file.ts';
import { linesOf } from '../policy/load-policy.ts';
import type { Io } from '../terminal/io.ts';
import type { SurfaceHome } from './surface-home.ts';

export interface CheckedFile {
  readonly kind: 'checked';
  readonly name: string;
  readonly manifest: Manifest | undefined;
  readonly problems: readonly Problem[];
  readonly lines: readonly string[];
}

/** More than a manifest may have, so that its reader reports that it is too large. */
const BYTES_MAX = 2_097_152;

export async function checkFile(
  path: string,
  home: Omit<SurfaceHome, 'home'>,
  io: Io,
): Promise<CheckedFile | Failure> {
  // In the folder of the manifests, a pipe would keep the check waiting.
  const isRegular = dirname(resolve(path)) === resolve(home.folder);
  const file = await readFileBytes(path, { io, bytesMax: BYTES_MAX, isRegular });
  if (isFailure(file)) return file;
  const { name, bytes } = file;
  const compiled = await compileManifest({ file: name, bytes }, { sha256 });
  const lines = linesOf(file);
  const base = { kind: 'checked', name, lines } as const;
  if (!compiled.ok) return { ...base, manifest: undefined, problems: compiled.problems };
  const { manifest } = compiled;
  const problems = await problemsOfPlace(path, manifest, home);
  return { ...base, manifest, problems };
}

/** In the folder of the manifests, a file must be named after its server and safe from others. */
async function problemsOfPlace(
  path: string,
  { server }: Manifest,
  { folder, profile }: Omit<SurfaceHome, 'home'>,
): Promise<readonly Problem[]> {
  if (dirname(resolve(path)) !== resolve(folder)) return [];
  const wanted = manifestFileName(server);
  if (basename(path) === wanted) {
    const loaded = await loadManifest({ folder, server, profile });
    return loaded.kind === 'problems' ? loaded.problems : [];
  }
  return [
    {
      level: 'error',
      code: 'SUB_MANIFEST_CONFLICT',
      file: path,
      position: { line: 1, column: 1 },
      path: 'server',
      message: `this is the manifest of \`${server}\`, but its file is named after another server`,
      fix: `Rename it to ${wanted}.`,
    },
  ];
}
