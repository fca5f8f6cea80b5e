// The manifest of a server: the name of its file, its content, and its changes.
import { join } from 'node:path';
import type { Profile } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/policy';
import type { Manifest } from '@subluminal/core/surface';
import { fileProblem, readRegularFile, watchFiles } from '../../os/index.ts';

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
const START = { line: 1, column: 1 };

/**
 * The file of a server's manifest: its name, with percent-encoded UTF-8 bytes except for letters,
 * digits, `.`, `_` and `-`. So no name leads out of the folder, and no two names share a file.
 */
export function manifestFileName(server: string): string {
  return `${server.replaceAll(/[^A-Za-z0-9._-]/gu, percentEncoded)}.yaml`;
}

function percentEncoded(char: string): string {
  const bytes = [...Buffer.from(char, 'utf8')];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/**
 * Reads the manifest of a server. In production, a manifest that others can write is refused, and so
 * is a missing one where others can write to the folder: they may have removed it.
 */
export async function loadManifest(place: ManifestPlace): Promise<LoadedManifest> {
  const { folder, server, profile } = place;
  const path = join(folder, manifestFileName(server));
  const refused = (words: Pick<Problem, 'code' | 'message' | 'fix'>): LoadedManifest => {
    const problem: Problem = { level: 'error', file: path, position: START, path: '', ...words };
    return { kind: 'problems', path, problems: [problem], text: '' };
  };
  const unsafe = profile === 'production' ? fileProblem(path) : undefined;
  if (unsafe !== undefined) {
    const message = `${unsafe.path} ${unsafe.why}`;
    return refused({ code: 'SUB_MANIFEST_UNSAFE', message, fix: unsafe.fix });
  }
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
  if (read.kind === 'missing') return { kind: 'none', path };
  if (read.kind === 'unreadable') {
    const { why, fix } = read;
    return refused({ code: 'SUB_FILE_READ', message: `the manifest ${why}`, fix });
  }
  const text = read.bytes.toString('utf8');
  // A shim without a manifest does not load the YAML parser.
  const { compiledFrom } = await import('./compile.ts');
  const compiled = await compiledFrom(path, read.bytes);
  if (!compiled.ok) return { kind: 'problems', path, problems: compiled.problems, text };
  const { manifest } = compiled;
  if (manifest.server === server) return { kind: 'manifest', path, manifest };
  const problem = foreignProblem(text, manifest.server, { ...place, path });
  return { kind: 'problems', path, problems: [problem], text };
}

/** A copy for another server would silently allow what was meant for that one. */
function foreignProblem(
  text: string,
  found: string,
  { server, path: file }: ManifestPlace & { readonly path: string },
): Problem {
  const message = `this is the manifest of \`${found}\`, but its file is named after \`${server}\``;
  const fix = `Write \`server: ${JSON.stringify(server)}\`, or rename the file to ${manifestFileName(found)}.`;
  const before = text.slice(0, SERVER_LINE.exec(text)?.index ?? 0);
  const position = { line: before.split('\n').length, column: 1 };
  const code = 'SUB_MANIFEST_CONFLICT';
  return { level: 'error', file, position, path: 'server', code, message, fix };
}

export interface ManifestWatch extends ManifestPlace {
  /** The manifest in force when the watch begins. */
  readonly current: Manifest | undefined;
  readonly changed: (manifest: Manifest) => void | Promise<void>;
  /** The file is no longer there; the last manifest stays in force. */
  readonly gone: (path: string) => void;
  /** The file cannot be used now; the last manifest stays in force. */
  readonly broken: (problems: Extract<LoadedManifest, { kind: 'problems' }>) => void;
  readonly everyMs?: number;
}

const LOOK_EVERY_MS = 500;

/** Follows the manifest of a server while it runs. */
export function watchManifest(watch: ManifestWatch): { stop(): void } {
  const { everyMs = LOOK_EVERY_MS } = watch;
  let hash = watch.current?.manifest_hash;
  let isStopped = false;
  let missingSinceMs: number | undefined;
  let isGone = false;
  let again: NodeJS.Timeout | undefined;
  const read = async (): Promise<void> => {
    clearTimeout(again);
    const loaded = await loadManifest(watch);
    if (isStopped) return undefined;
    if (loaded.kind === 'problems') return watch.broken(loaded);
    if (loaded.kind === 'none') {
      if (hash === undefined || isGone) return undefined;
      missingSinceMs ??= performance.now();
      // An editor may remove the file for a moment.
      isGone = performance.now() - missingSinceMs >= everyMs;
      if (isGone) return watch.gone(loaded.path);
      again = setTimeout(() => watched.look(), everyMs).unref();
      return undefined;
    }
    [missingSinceMs, isGone] = [undefined, false];
    if (loaded.manifest.manifest_hash === hash) return undefined;
    hash = loaded.manifest.manifest_hash;
    return watch.changed(loaded.manifest);
  };
  const path = join(watch.folder, manifestFileName(watch.server));
  const watched = watchFiles({ paths: [path], everyMs, read });
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(again);
      watched.stop();
    },
  };
}
