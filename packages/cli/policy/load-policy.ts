// A policy from a file, whether it is a bundle as written or a snapshot as compiled.
import {
  type Bundle,
  type Failure,
  failure,
  isFailure,
  type Mode,
  type Profile,
  type SnapshotDocument,
} from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/json';
import {
  compileBundle,
  compileTightened,
  lintBundle,
  loadPatternChecks,
  normalizeBundle,
  openSnapshot,
  type ParseResult,
  POLICY_FILE_BYTES_MAX,
  type Problem,
  parseBundle,
  policiesIn,
  type Snapshot,
  withoutTrustedFields,
} from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { type FileBytes, readFileBytes } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';
import { plural } from '../terminal/text.ts';
import { notABundle, notAPolicy } from './file-kind.ts';
import { renderProblem } from './render-problem.ts';

export interface Policy {
  readonly kind: 'policy';
  readonly name: string;
  readonly snapshot: Snapshot;
  /** Whether it decides in another mode than the one it has itself. */
  readonly modeOverridden: boolean;
}

interface LoadOptions {
  readonly io: Io;
  readonly profile?: Profile | undefined;
  /** Takes only a regular file: the policy of a run is read by its shims as well. */
  readonly isRegular?: boolean | undefined;
  /** Overrides the mode that the policy itself has. */
  readonly mode?: Mode | undefined;
}

/** What is known of a file before it is loaded. */
export interface PolicyFile {
  readonly path: string;
  /** Its content, where it was read already. */
  readonly bytes?: Uint8Array;
  /** Without what only a trusted policy may say. */
  readonly isUntrusted?: boolean;
}

export interface ReadBundle {
  readonly kind: 'bundle';
  readonly file: FileBytes;
  readonly parsed: ParseResult;
  /** What reading found, and what lint has to say if it could be read. */
  readonly problems: readonly Problem[];
}

/** One byte more than a bundle may have, so that the parser says what is wrong, with a position. */
const BUNDLE_BYTES_MAX = 1_048_577;

/** Reads and lints one bundle. */
export async function readBundle(path: string, io: Io): Promise<ReadBundle | Failure> {
  const file = await readFileBytes(path, { io, bytesMax: POLICY_FILE_BYTES_MAX });
  return isFailure(file) ? file : (notABundle(file) ?? parseFile(file));
}

async function parseFile(file: FileBytes): Promise<ReadBundle> {
  const source = { file: file.name, bytes: file.bytes.subarray(0, BUNDLE_BYTES_MAX) };
  const parsed = parseBundle(source, { checks: await loadPatternChecks() });
  const place = { file: file.name, nowMs: Date.now() };
  const advice = parsed.ok ? lintBundle(parsed.bundle, parsed.positionOf, place) : [];
  return { kind: 'bundle', file, parsed, problems: [...parsed.problems, ...advice] };
}

/** Reads a bundle or a snapshot, ready to decide. */
export async function loadPolicy(
  given: string | PolicyFile,
  options: LoadOptions,
): Promise<Policy | Failure> {
  const { path, bytes, isUntrusted = false } = typeof given === 'string' ? { path: given } : given;
  const { io, isRegular } = options;
  const reading = { io, bytesMax: POLICY_FILE_BYTES_MAX, isRegular };
  const file =
    bytes === undefined
      ? await readFileBytes(path, reading)
      : { kind: 'file' as const, name: path, bytes };
  if (isFailure(file)) return file;
  const wrong = notAPolicy(file);
  if (wrong !== undefined) return wrong;
  const sealed = asSnapshotFile(file.bytes);
  const documents = await (sealed === undefined
    ? fromBundle(file, options)
    : fromSnapshot(file, sealed));
  if (isFailure(documents)) return documents;
  const { bundle } = documents;
  const trusted = isUntrusted ? { ...documents, bundle: withoutTrustedFields(bundle) } : documents;
  return compiled(file, trusted, options);
}

/** The policies in force, of which a second one only tightens the first. */
export async function loadTightened(
  user: PolicyFile,
  project: PolicyFile,
  options: LoadOptions,
): Promise<Policy | Failure> {
  const first = await loadPolicy(user, options);
  if (isFailure(first)) return first;
  const second = await loadPolicy({ ...project, isUntrusted: true }, options);
  if (isFailure(second)) return second;
  const held = [first, second].find(({ snapshot }) => snapshot.tightenedBy !== undefined);
  if (held !== undefined) {
    const message = `${held.name} holds two policies already.`;
    return failure('SUB_SNAPSHOT_FORMAT', message, 'Name it with --policy.');
  }
  const documents = [first.snapshot.document, second.snapshot.document] as const;
  const { profile = 'production' } = options;
  return { ...first, snapshot: await compileTightened(...documents, { sha256, profile }) };
}

interface Documents {
  readonly kind: 'documents';
  readonly bundle: Bundle;
  /** The second policy of a snapshot that holds two. */
  readonly second?: SnapshotDocument;
}

async function fromBundle(file: FileBytes, options: LoadOptions): Promise<Documents | Failure> {
  const { parsed, problems } = await parseFile(file);
  if (!parsed.ok) return brokenBundle(file, problems, options.io);
  return { kind: 'documents', bundle: parsed.bundle };
}

async function fromSnapshot(file: FileBytes, sealed: unknown): Promise<Documents | Failure> {
  const opened = await openSnapshot(sealed, { sha256 });
  if (isFailure(opened)) {
    return { ...opened, message: `${file.name} is no valid snapshot: ${opened.message}.` };
  }
  const { format: _format, tightened_by: second, ...bundle } = opened.document;
  return { kind: 'documents', bundle, ...(second !== undefined && { second }) };
}

async function compiled(
  file: FileBytes,
  { bundle, second }: Documents,
  { mode, profile = 'production' }: LoadOptions,
): Promise<Policy> {
  const options = { sha256, profile };
  const compile = (override: { readonly mode?: Mode }): Promise<Snapshot> => {
    if (second === undefined) return compileBundle({ ...bundle, ...override }, options);
    const first = normalizeBundle({ ...bundle, ...override });
    return compileTightened(first, { ...second, ...override }, options);
  };
  const own = await compile({});
  const policy = { kind: 'policy', name: file.name } as const;
  const modes = policiesIn(own).map(({ document }) => document.mode);
  if (mode === undefined || modes.every((one) => one === mode)) {
    return { ...policy, snapshot: own, modeOverridden: false };
  }
  const other = await compile({ mode });
  // The hash stays that of the policy given: a policy with this mode exists nowhere.
  return { ...policy, snapshot: { ...other, ref: own.ref }, modeOverridden: true };
}

/** Shows what is wrong, and stops the command that needed the policy. */
function brokenBundle(file: FileBytes, problems: readonly Problem[], io: Io): Failure {
  const errors = problems.filter(({ level }) => level === 'error');
  printProblems(errors, { file, io });
  const [first] = errors;
  const message = `${file.name} has ${plural(errors.length, 'error')}.`;
  const fix = errors.length === 1 ? 'Correct it first.' : 'Correct them first.';
  return failure(first?.code ?? 'SUB_BUNDLE_SYNTAX', message, fix);
}

export function printProblems(
  problems: readonly Problem[],
  { file, io }: { readonly file: FileBytes; readonly io: Io },
): void {
  const { colors, columns, write } = io.err;
  const lines = linesOf(file);
  for (const problem of problems) write(renderProblem(problem, { lines, colors, columns }));
}

/** For showing only: what is no text shows as replacement characters. */
export function linesOf(file: FileBytes): readonly string[] {
  return new TextDecoder().decode(file.bytes).split(/\r?\n/);
}

/** A snapshot is JSON with a hash on it; whatever else it is, it is read as a bundle. */
function asSnapshotFile(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  if (!text.trimStart().startsWith('{')) return undefined;
  const canonical = canonicalize(text);
  if (!canonical.ok) return undefined;
  const value: unknown = JSON.parse(canonical.canonical);
  return typeof value === 'object' && value !== null && 'policy_hash' in value ? value : undefined;
}
