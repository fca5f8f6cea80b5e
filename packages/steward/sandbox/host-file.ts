// Files that a sandboxed tool may read: those that its manifest names, where they really are.
import { realpathSync } from 'node:fs';
import { isAbsolute, normalize, sep } from 'node:path';
import type { ToolManifest } from '@subluminal/contracts';
import { attempt } from '@subluminal/plane/os';
import { readTruePath } from '../staging/index.ts';
import type { HostAnswer } from './host-fetch.ts';

export interface FilePorts {
  readonly manifest: ToolManifest;
  readonly protectedFolders: readonly string[];
}

export function hostFile(path: unknown, { manifest, protectedFolders }: FilePorts): HostAnswer {
  const isPlain = typeof path === 'string' && isAbsolute(path) && normalize(path) === path;
  if (!isPlain || path.includes('\0')) return { why: 'It is no absolute path without dots.' };
  if (!manifest.files.some((declared) => isWithin(path, declared))) {
    return { why: 'The file is not declared.' };
  }
  const real = attempt(() => realpathSync.native(path));
  if (real === undefined) return { why: 'There is no such file.' };
  // A link inside a declared folder must not lead out of it.
  const reals = manifest.files.flatMap((declared) => {
    const at = attempt(() => realpathSync.native(declared));
    return at === undefined ? [] : [declared.endsWith('/') ? `${at}${sep}` : at];
  });
  if (!reals.some((declared) => isWithin(real, declared)))
    return { why: 'The file is not declared.' };
  const own = protectedFolders.map(
    (folder) => attempt(() => realpathSync.native(folder)) ?? folder,
  );
  if (own.some((folder) => real === folder || real.startsWith(`${folder}${sep}`))) {
    return { why: 'The file is protected.' };
  }
  const read = readTruePath(real, manifest.limits.response_kb * 1024);
  if (read.kind !== 'read') return { why: 'The file cannot be read.' };
  return { text: JSON.stringify({ text: read.bytes.toString() }) };
}

function isWithin(path: string, declared: string): boolean {
  return declared.endsWith('/') ? path.startsWith(declared) : path === declared;
}
