// A policy from disk, as written or as compiled. Loaded only when there is one: a shim that only
// observes pays for neither YAML nor CEL.
import {
  type Failure,
  failure,
  isFailure,
  isObject,
  type Profile,
  tableFailure,
} from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/json';
import {
  type CompileOptions,
  compileBundle,
  compileDocument,
  compileTightened,
  openSnapshot,
  POLICY_FILE_BYTES_MAX,
  type Problem,
  parseWithEngines,
  type Snapshot,
  withoutTrustedFields,
} from '@subluminal/core/policy';
import { sha256, sha256Bytes } from '../../os/crypto/index.ts';
import { errorText, readRegularFile } from '../../os/index.ts';
import { projectPaths } from './project-paths.ts';
import { type PolicySource, unsafePolicy } from './sources.ts';
import { untrustedAlone } from './untrusted-alone.ts';

export interface LoadedPolicy {
  readonly kind: 'loaded';
  readonly snapshot: Snapshot;
  /** Of the content of each file that it was made of. */
  readonly hashes: readonly string[];
  /** In development: why production would not take a file. */
  readonly warning?: Failure | undefined;
}

export interface PolicyFailure extends Failure {
  /** What is wrong with a bundle, each with its place. */
  readonly problems?: readonly Problem[];
}

interface PolicyText {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** One byte more than a bundle may have, so that the parser says what is wrong, with a position. */
export const BUNDLE_BYTES_MAX = 1_048_577;

/** Loads the policy of one source, or of a first one that a second one tightens. */
export async function loadSources(
  sources: readonly [PolicySource, (PolicySource | undefined)?],
  profile: Profile,
): Promise<LoadedPolicy | PolicyFailure> {
  const [user, project] = sources;
  const options = { sha256, profile, paths: projectPaths() };
  try {
    const first = await loadSource(user, options);
    if (isFailure(first)) return first;
    if (project === undefined) {
      const isUntrusted = user.role === 'untrusted';
      const snapshot = isUntrusted ? await untrustedAlone(first.snapshot, options) : first.snapshot;
      return { ...first, snapshot };
    }
    const second = await loadSource({ ...project, role: 'untrusted' }, options);
    if (isFailure(second)) return second;
    const documents = [first.snapshot.document, second.snapshot.document] as const;
    const held = documents.findIndex(({ tightened_by }) => tightened_by !== undefined);
    if (held >= 0) {
      const message = `${sources[held]?.path} holds two policies already.`;
      return failure('SUB_SNAPSHOT_FORMAT', message, 'Name it with --policy.');
    }
    const snapshot = await compileTightened(...documents, options);
    const hashes = [...first.hashes, ...second.hashes];
    return { kind: 'loaded', snapshot, hashes, warning: first.warning ?? second.warning };
  } catch (cause) {
    return tableFailure('SUB_INTERNAL', `${user.path}: ${errorText(cause)}.`);
  }
}

async function loadSource(
  source: PolicySource,
  options: CompileOptions,
): Promise<LoadedPolicy | PolicyFailure> {
  const { path, role } = source;
  const bytes = source.bytes ?? bytesOf(path);
  if (isFailure(bytes)) return bytes;
  const warning = unsafePolicy(path);
  if (warning !== undefined && options.profile === 'production') return warning;
  const snapshot = await compilePolicy({ name: path, bytes }, options);
  if (isFailure(snapshot)) return snapshot;
  const isFree = role === 'untrusted' && snapshot.document.self_protection !== undefined;
  const held = isFree
    ? await compileDocument(withoutTrustedFields(snapshot.document), options)
    : snapshot;
  return { kind: 'loaded', snapshot: held, hashes: [sha256Bytes(bytes)], warning };
}

function bytesOf(path: string): Buffer | Failure {
  const read = readRegularFile(path, { bytesMax: POLICY_FILE_BYTES_MAX });
  if (read.kind === 'read') return read.bytes;
  return read.kind === 'missing'
    ? failure('SUB_FILE_READ', `${path} does not exist.`, 'Check the path.')
    : failure('SUB_FILE_READ', `${path} ${read.why}.`, read.fix);
}

/** Compiles a bundle, or opens a snapshot. */
export async function compilePolicy(
  { name, bytes }: PolicyText,
  options: CompileOptions,
): Promise<Snapshot | PolicyFailure> {
  const sealed = snapshotIn(bytes);
  if (sealed !== undefined) {
    const opened = await openSnapshot(sealed, options);
    if (!isFailure(opened)) return opened;
    return { ...opened, message: `${name} is no valid snapshot: ${opened.message}.` };
  }
  const source = { file: name, bytes: bytes.subarray(0, BUNDLE_BYTES_MAX) };
  const parsed = await parseWithEngines(source);
  if (parsed.ok) return compileBundle(parsed.bundle, options);
  const { problems } = parsed;
  const [count, fix] =
    problems.length === 1
      ? ['1 error', 'Correct it first.']
      : [`${problems.length} errors`, 'Correct them first.'];
  const code = problems[0]?.code ?? 'SUB_BUNDLE_SYNTAX';
  return { ...failure(code, `${name} has ${count}.`, fix), problems };
}

/** A snapshot is JSON, without a key twice, that holds a snapshot; everything else is a bundle. */
function snapshotIn(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  const canonical = text.trimStart().startsWith('{') ? canonicalize(text) : undefined;
  if (canonical?.ok !== true) return undefined;
  const value: unknown = JSON.parse(canonical.canonical);
  return isObject(value) && ('snapshot' in value || 'policy_hash' in value) ? value : undefined;
}
