// The manifest of a server, from its file.
import { join } from 'node:path';
import type { Profile } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/policy';
import type { Manifest } from '@subluminal/core/surface';
import { type FileProblem, fileProblem, readRegularFile } from '../../os/index.ts';
import { manifestFileName } from './file-name.ts';

export interface ManifestPlace {
  readonly folder: string;
  readonly server: string;
  readonly profile: Profile;
}

export type LoadedManifest =
  | { readonly kind: 'none'; readonly path: string }
  | { readonly kind: 'manifest'; readonly path: string; readonly manifest: Manifest }
  | {
      readonly kind: 'problems';
      readonly path: string;
      readonly problems: readonly Problem[];
      /** The file as far as it could be read, to show where. */
      readonly text: string;
    };

/** As much as the reader takes, and a byte more for it to see that it is too much. */
const FILE_BYTES_MAX = 1_048_577;
const SERVER_LINE = /^[ \t]*["']?server["']?[ \t]*:/m;

/**
 * Reads the manifest of a server. In production, one that others can write is no manifest, and
 * where others can write to the folder, that there is none proves nothing either.
 */
export async function loadManifest({
  folder,
  server,
  profile,
}: ManifestPlace): Promise<LoadedManifest> {
  const path = join(folder, manifestFileName(server));
  const isStrict = profile === 'production';
  const unsafe = isStrict ? fileProblem(path) : undefined;
  if (unsafe !== undefined) return refused(path, unsafeWords(unsafe));
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
  if (read.kind === 'missing') return { kind: 'none', path };
  if (read.kind === 'unreadable') {
    const { why, fix } = read;
    return refused(path, { code: 'SUB_FILE_READ', message: `the manifest ${why}`, fix });
  }
  const text = read.bytes.toString('utf8');
  const { compiledFrom } = await import('./compile.ts');
  const compiled = await compiledFrom(path, read.bytes);
  if (!compiled.ok) return { kind: 'problems', path, problems: compiled.problems, text };
  const { manifest } = compiled;
  if (manifest.server === server) return { kind: 'manifest', path, manifest };
  return foreign({ path, text, found: manifest.server, server });
}

type Words = Pick<Problem, 'code' | 'message' | 'fix'>;

function unsafeWords({ path, why, fix }: FileProblem): Words {
  return { code: 'SUB_MANIFEST_UNSAFE', message: `${path} ${why}`, fix };
}

interface Foreign {
  readonly path: string;
  readonly text: string;
  /** The server that the file speaks of. */
  readonly found: string;
  readonly server: string;
}

/** A copy for another server would silently allow what was meant for that one. */
function foreign({ path, text, found, server }: Foreign): LoadedManifest {
  const message = `this is the manifest of \`${found}\`, but its file is named after \`${server}\``;
  const fix = `Write \`server: ${JSON.stringify(server)}\`, or rename the file to ${manifestFileName(found)}.`;
  const at = SERVER_LINE.exec(text)?.index ?? 0;
  const before = text.slice(0, at).split('\n');
  const position = { line: before.length, column: 1 };
  const words = { code: 'SUB_MANIFEST_CONFLICT', message, fix } as const;
  const problem: Problem = { level: 'error', file: path, position, path: 'server', ...words };
  return { kind: 'problems', path, problems: [problem], text };
}

function refused(path: string, words: Words): LoadedManifest {
  const position = { line: 1, column: 1 };
  const problem: Problem = { level: 'error', file: path, position, path: '', ...words };
  return { kind: 'problems', path, problems: [problem], text: '' };
}
