// A policy from disk, as written or as compiled. Loaded only when there is one: a shim that only
// observes pays for neither YAML nor CEL.
import { isFailure, type Profile } from '@subluminal/contracts';
import {
  type CompileOptions,
  compileBundle,
  compileDocument,
  compileTightened,
  formatProblem,
  normalizeBundle,
  openSnapshot,
  POLICY_FILE_BYTES_MAX,
  parseWithEngines,
  type Snapshot,
  withoutTrustedFields,
} from '@subluminal/core/policy';
import { harmless } from '@subluminal/core/visible';
import { sha256, sha256Bytes } from '../../os/crypto/index.ts';
import { type FileProblem, fileProblem, readRegularFile } from '../../os/index.ts';
import type { PolicySource } from './sources.ts';
import { untrustedAlone } from './untrusted-alone.ts';

export type LoadedPolicy =
  | {
      readonly ok: true;
      readonly snapshot: Snapshot;
      /** Of the content of each file that it was made of. */
      readonly hashes: readonly string[];
      /** In development: why production would not take the file. */
      readonly warning?: string;
    }
  | { readonly ok: false; readonly message: string };

const PROBLEMS_SHOWN_MAX = 5;
const CODE = '[SUB_FILE_READ]';

/** Reads a bundle or a snapshot file; the message of a failure says where and how to mend it. */
async function readPolicy(source: PolicySource, profile: Profile): Promise<LoadedPolicy> {
  const { path, role } = source;
  const bytes = source.bytes ?? bytesOf(path);
  if (typeof bytes === 'string') return refused(bytes);
  const unsafe = fileProblem(path);
  const warning = unsafe === undefined ? undefined : unsafeWords(path, unsafe);
  if (warning !== undefined && profile === 'production') return refused(warning);
  const told = { hashes: [sha256Bytes(bytes)], ...(warning !== undefined && { warning }) };
  try {
    const options = { sha256, profile };
    const sealed = snapshotIn(bytes);
    if (sealed !== undefined) {
      const snapshot = await openSnapshot(sealed, options);
      if (isFailure(snapshot)) return refused(`${path}: ${snapshot.message} [${snapshot.code}]`);
      if (role !== 'untrusted') return { ok: true, snapshot, ...told };
      return { ok: true, snapshot: await untrustedSnapshot(snapshot, options), ...told };
    }
    const parsed = await parseWithEngines({ file: path, bytes });
    if (parsed.ok) {
      const bundle = role === 'untrusted' ? withoutTrustedFields(parsed.bundle) : parsed.bundle;
      return { ok: true, snapshot: await compileBundle(bundle, options), ...told };
    }
    const shown = parsed.problems.slice(0, PROBLEMS_SHOWN_MAX).map(formatProblem);
    const rest = parsed.problems.length - shown.length;
    return refused([...shown, ...(rest > 0 ? [`… and ${rest} more.`] : [])].join('\n'));
  } catch (cause) {
    return refused(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** A policy that holds alone. */
export async function readAlone(source: PolicySource, profile: Profile): Promise<LoadedPolicy> {
  const loaded = await readPolicy(source, profile);
  if (!loaded.ok || source.role !== 'untrusted') return loaded;
  return { ...loaded, snapshot: await untrustedAlone(loaded.snapshot, { sha256, profile }) };
}

/** A policy of the user, tightened by one of a project that is not trusted. */
export async function readTightened(
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
  const warning = first.warning ?? second.warning;
  const hashes = [...first.hashes, ...second.hashes];
  return { ok: true, snapshot, hashes, ...(warning !== undefined && { warning }) };
}

/** A text says why it cannot be read. */
function bytesOf(path: string): Buffer | string {
  const read = readRegularFile(path, { bytesMax: POLICY_FILE_BYTES_MAX });
  if (read.kind === 'missing') return `${path} does not exist. Check the path. ${CODE}`;
  return read.kind === 'read' ? read.bytes : `${path} ${read.why}. ${read.fix} ${CODE}`;
}

function unsafeWords(file: string, { path, why, fix }: FileProblem): string {
  return `${path} ${why}, so others may decide what the policy ${file} says. ${fix} [SUB_FILE_UNSAFE]`;
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

function refused(message: string): LoadedPolicy {
  return { ok: false, message: message.split('\n').map(harmless).join('\n') };
}
