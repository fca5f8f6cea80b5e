// A policy from a file, whether it is a bundle as written or a snapshot as compiled.
import type { Bundle, Mode, Profile } from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/canon';
import {
  compileBundle,
  lintBundle,
  loadPatternChecks,
  openSnapshot,
  type ParseResult,
  type Problem,
  parseBundle,
  type Snapshot,
} from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { type Failure, failure, isFailure } from './failure.ts';
import { notABundle, notAPolicy } from './file-kind.ts';
import type { Io } from './io.ts';
import { type FileBytes, readFileBytes } from './read-file.ts';
import { renderProblem } from './render-problem.ts';
import { plural } from './text.ts';

interface Policy {
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

interface ReadBundle {
  readonly kind: 'bundle';
  readonly file: FileBytes;
  readonly parsed: ParseResult;
  /** What reading found, and what lint has to say if it could be read. */
  readonly problems: readonly Problem[];
}

/** One byte more than a bundle may have, so that the parser says what is wrong, with a position. */
const BUNDLE_BYTES_MAX = 1_048_577;
/** A snapshot has every default written out, so it is larger than its bundle. */
const POLICY_BYTES_MAX = 8_388_608;

/** Reads and lints one bundle. */
async function readBundle(path: string, io: Io): Promise<ReadBundle | Failure> {
  const file = await readFileBytes(path, { io, bytesMax: POLICY_BYTES_MAX });
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
async function loadPolicy(path: string, options: LoadOptions): Promise<Policy | Failure> {
  const file = await readFileBytes(path, {
    io: options.io,
    bytesMax: POLICY_BYTES_MAX,
    isRegular: options.isRegular,
  });
  if (isFailure(file)) return file;
  const wrong = notAPolicy(file);
  if (wrong !== undefined) return wrong;
  const sealed = asSnapshotFile(file.bytes);
  return sealed === undefined ? fromBundle(file, options) : fromSnapshot(file, sealed, options);
}

async function fromBundle(file: FileBytes, options: LoadOptions): Promise<Policy | Failure> {
  const { parsed, problems } = await parseFile(file);
  if (!parsed.ok) return brokenBundle(file, problems, options.io);
  return compiled(file, parsed.bundle, options);
}

async function fromSnapshot(
  file: FileBytes,
  sealed: unknown,
  options: LoadOptions,
): Promise<Policy | Failure> {
  const opened = await openSnapshot(sealed, { sha256 });
  if (!opened.ok) {
    const fix = 'Compile the bundle again.';
    return failure(opened.code, `${file.name} is no valid snapshot: ${opened.message}.`, fix);
  }
  const { format: _format, ...bundle } = opened.snapshot.document;
  return compiled(file, bundle, options);
}

async function compiled(
  file: FileBytes,
  bundle: Bundle,
  { mode = bundle.mode, profile = 'production' }: LoadOptions,
): Promise<Policy> {
  const own = await compileBundle(bundle, { sha256, profile });
  const policy = { kind: 'policy', name: file.name } as const;
  if (mode === bundle.mode) return { ...policy, snapshot: own, modeOverridden: false };
  const other = await compileBundle({ ...bundle, mode }, { sha256, profile });
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
  return { ...failure('SUB_BUNDLE_SYNTAX', message, fix), ...codeOf(first) };
}

function codeOf(problem: Problem | undefined): { readonly code?: string } {
  return problem === undefined ? {} : { code: problem.code };
}

function printProblems(
  problems: readonly Problem[],
  { file, io }: { readonly file: FileBytes; readonly io: Io },
): void {
  const { colors, columns, write } = io.err;
  const lines = linesOf(file);
  for (const problem of problems) write(renderProblem(problem, { lines, colors, columns }));
}

/** For showing only: what is no text shows as replacement characters. */
function linesOf(file: FileBytes): readonly string[] {
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

export type { Policy, ReadBundle };
export { linesOf, loadPolicy, POLICY_BYTES_MAX, printProblems, readBundle };
