// A policy from disk, as written or as compiled. Loaded only when there is one: a shim that only
// observes pays for neither YAML nor CEL.
import { readFileSync, statSync } from 'node:fs';
import type { Profile } from '@subluminal/contracts';
import {
  type CompileOptions,
  compileBundle,
  compileDocument,
  compileTightened,
  formatProblem,
  normalizeBundle,
  openSnapshot,
  parseWithEngines,
  type Snapshot,
  withoutTrustedFields,
} from '@subluminal/core/policy';
import { harmless } from '@subluminal/core/visible';
import { sha256, sha256Bytes } from '../../crypto/index.ts';
import type { PolicySource } from '../policy/sources.ts';

type LoadedPolicy =
  | {
      readonly ok: true;
      readonly snapshot: Snapshot;
      /** Of the content of each file that it was made of. */
      readonly hashes: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

const FILE_BYTES_MAX = 8_388_608;
const PROBLEMS_SHOWN_MAX = 5;

/** Reads a bundle or a snapshot file; the message of a failure says where and how to mend it. */
async function readPolicy(source: PolicySource, profile: Profile): Promise<LoadedPolicy> {
  const { path, role } = source;
  try {
    const bytes = source.bytes ?? bytesOf(path);
    if (bytes === undefined || bytes.length > FILE_BYTES_MAX) return tooLarge(path);
    const hashes = [sha256Bytes(bytes)];
    const options = { sha256, profile };
    const sealed = snapshotIn(bytes);
    if (sealed !== undefined) {
      const opened = await openSnapshot(sealed, options);
      if (!opened.ok) return refused(`${path}: ${opened.message} [${opened.code}]`);
      const { snapshot } = opened;
      if (role !== 'untrusted') return { ok: true, snapshot, hashes };
      return { ok: true, snapshot: await untrustedSnapshot(snapshot, options), hashes };
    }
    const parsed = await parseWithEngines({ file: path, bytes });
    if (parsed.ok) {
      const bundle = role === 'untrusted' ? withoutTrustedFields(parsed.bundle) : parsed.bundle;
      return { ok: true, snapshot: await compileBundle(bundle, options), hashes };
    }
    const shown = parsed.problems.slice(0, PROBLEMS_SHOWN_MAX).map(formatProblem);
    const rest = parsed.problems.length - shown.length;
    return refused([...shown, ...(rest > 0 ? [`… and ${rest} more.`] : [])].join('\n'));
  } catch (cause) {
    return refused(`${path}${wordsOf(cause)}`);
  }
}

/** A policy of the user, tightened by one of a project that is not trusted. */
async function readTightened(
  user: PolicySource,
  project: PolicySource,
  profile: Profile,
): Promise<LoadedPolicy> {
  const [first, second] = await Promise.all([
    readPolicy(user, profile),
    readPolicy({ ...project, role: 'untrusted' }, profile),
  ]);
  if (!first.ok) return first;
  if (!second.ok) return second;
  const documents = [first.snapshot.document, second.snapshot.document] as const;
  const held = documents.findIndex(({ tightened_by }) => tightened_by !== undefined);
  if (held >= 0) {
    const path = held === 0 ? user.path : project.path;
    return refused(
      `${path} holds two policies already. Name it with --policy. [SUB_SNAPSHOT_FORMAT]`,
    );
  }
  const snapshot = await compileTightened(...documents, { sha256, profile });
  return { ok: true, snapshot, hashes: [...first.hashes, ...second.hashes] };
}

/** Undefined for what is too large. */
function bytesOf(path: string): Buffer | undefined {
  return statSync(path).size > FILE_BYTES_MAX ? undefined : readFileSync(path);
}

/** As its bundle would be compiled without what only a trusted policy may say. */
function untrustedSnapshot({ document }: Snapshot, options: CompileOptions): Promise<Snapshot> {
  const { format: _known, tightened_by, ...bundle } = document;
  const first = normalizeBundle(withoutTrustedFields(bundle));
  return tightened_by === undefined
    ? compileDocument(first, options)
    : compileTightened(first, tightened_by, options);
}

/** A snapshot file is JSON with a snapshot in it; everything else is a bundle. */
function snapshotIn(bytes: Buffer): unknown {
  if (bytes[0] !== 0x7b) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    const isSnapshot = typeof value === 'object' && value !== null && 'snapshot' in value;
    return isSnapshot ? value : undefined;
  } catch {
    return undefined;
  }
}

function tooLarge(path: string): LoadedPolicy {
  return refused(`${path} is larger than 8 MiB. Give a smaller file. [SUB_FILE_READ]`);
}

/** Why a file could not be read, as the end of a sentence about it. */
function wordsOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return ' does not exist. Check the path. [SUB_FILE_READ]';
    case 'EISDIR':
      return ' is a directory. Name a file in it. [SUB_FILE_READ]';
    case 'EACCES':
    case 'EPERM':
      return ' may not be read. Check its permissions. [SUB_FILE_READ]';
    default:
      return `: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

function refused(message: string): LoadedPolicy {
  return { ok: false, message: message.split('\n').map(harmless).join('\n') };
}

export type { LoadedPolicy };
export { readPolicy, readTightened };
