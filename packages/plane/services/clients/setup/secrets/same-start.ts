// Whether an entry still starts what it started when its secrets were moved. Whoever can write to the
// config may have put another command there, to be given them in plain text by the next restore.
import { isObject } from '@subluminal/contracts';
import type { Format, MovedSecret, ServerEntry, ValuePath } from '../../index.ts';
import type { StorePorts } from '../../store/ports.ts';
import { type Document, readDocument } from '../../text/document.ts';

type Sha256 = StorePorts['sha256'];

interface Recorded {
  /** The config without our edits and without the secrets that moved, as the backup has it. */
  readonly baseText: string;
  readonly format: Format;
  readonly moved: readonly MovedSecret[];
  readonly sha256: Sha256;
}

export interface RecordedStarts {
  /** What the entry of a secret starts in a text, beside what it started when that was moved. */
  readonly compare: (text: string, secret: MovedSecret) => 'same' | 'other' | 'gone';
  /** Whether an entry starts the same behind the shim of that server, under another name. */
  readonly isBehind: (text: string, entry: Renamed, secret: MovedSecret) => boolean;
}

type Renamed = Pick<ServerEntry, 'governed' | 'path'>;

export function recordedStarts({ baseText, format, moved, sha256 }: Recorded): RecordedStarts {
  const paths = moved.map(({ path }) => path);
  const documentOf = (text: string, more: readonly ValuePath[] = []): Document | undefined => {
    const read = readDocument(text, format, [...paths, ...more]);
    return read.kind === 'document' ? read.document : undefined;
  };
  const base = documentOf(baseText);
  // Records of earlier versions have no digest: then the backup tells.
  const recorded = ({ path, started }: MovedSecret) => started ?? startDigest(base, path, sha256);
  // A text may be large, and is asked about once for each secret.
  let last: { readonly text: string; readonly document: Document | undefined } | undefined;
  return {
    compare: (text, secret) => {
      if (last?.text !== text) last = { text, document: documentOf(text) };
      const now = startDigest(last.document, secret.path, sha256);
      if (now === undefined) return 'gone';
      return now === recorded(secret) ? 'same' : 'other';
    },
    isBehind: (text, { governed, path }, secret) => {
      const start = startIn(documentOf(text, [path]), [...path, 'env', '']);
      if (start === undefined || governed === undefined) return false;
      const behind = digestOf({ ...start, words: governed.command }, sha256);
      return behind === recorded(secret);
    },
  };
}

interface EntryStart {
  readonly words: readonly unknown[];
  /** What decides which program the words find. */
  readonly where: readonly unknown[];
}

/** Of what an entry starts, to be known again; undefined where there is no such entry. */
export function startDigest(
  document: Document | undefined,
  path: ValuePath,
  sha256: Sha256,
): string | undefined {
  const start = startIn(document, path);
  return start === undefined ? undefined : digestOf(start, sha256);
}

function digestOf({ words, where }: EntryStart, sha256: Sha256): string {
  return sha256(Buffer.from(JSON.stringify([words, where])));
}

/** The path of a secret ends with `env` and its variable; older settings of Zed have `command` before. */
function startIn(document: Document | undefined, path: ValuePath): EntryStart | undefined {
  const holder = path.slice(0, -2);
  const held = document?.valueAt(holder);
  const isInner = holder.at(-1) === 'command' && isObject(held);
  const server = isInner ? document?.valueAt(holder.slice(0, -1)) : held;
  if (!isObject(server)) return undefined;
  const { command, args, cwd, envFile, env } = server;
  const inner = isObject(command) ? command : { path: command, args, env: undefined };
  const words: readonly unknown[] = Array.isArray(inner['args']) ? inner['args'] : [];
  return {
    words: [inner['path'], ...words],
    where: [cwd ?? null, envFile ?? null, searchPaths(env), searchPaths(inner['env'])],
  };
}

function searchPaths(env: unknown): unknown {
  const entries = isObject(env) ? Object.entries(env) : [];
  return entries.filter(([name]) => name.toUpperCase() === 'PATH');
}
