// A policy from a file, whether it is a bundle as written or a snapshot as compiled.
import { type Failure, isFailure, type Mode, type Profile } from '@subluminal/contracts';
import {
  compileDocument,
  POLICY_FILE_BYTES_MAX,
  type Problem,
  policiesIn,
  type Snapshot,
} from '@subluminal/core/policy';
import type { ProjectPaths } from '@subluminal/core/ports';
import { sha256 } from '@subluminal/plane/crypto';
import { type PolicySource, projectPaths } from '@subluminal/plane/policy';
import {
  compilePolicy,
  type LoadedPolicy,
  loadSources,
  type PolicyFailure,
} from '@subluminal/plane/policy/file';
import { type FileBytes, readFileBytes } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';
import { notAPolicy } from './file-kind.ts';
import { renderProblem } from './render-problem.ts';

export interface Policy {
  readonly kind: 'policy';
  readonly name: string;
  readonly snapshot: Snapshot;
  /** Whether it decides in another mode than the one it has itself. */
  readonly modeOverridden: boolean;
}

interface CompileWish {
  readonly profile?: Profile | undefined;
  /** Overrides the mode that the policy itself has. */
  readonly mode?: Mode | undefined;
  /** Where the paths of its rules start; by default in the current folder. */
  readonly paths?: ProjectPaths | undefined;
}

interface LoadOptions extends CompileWish {
  readonly io: Io;
  /** Takes only a regular file: the policy of a run is read by its shims as well. */
  readonly isRegular?: boolean | undefined;
}

/** A file, and its content where it was read already. */
interface PolicyFile {
  readonly path: string;
  readonly bytes?: Uint8Array;
}

/** Reads a bundle or a snapshot, ready to decide; what is wrong with it is printed. */
export async function loadPolicy(
  given: string | PolicyFile,
  options: LoadOptions,
): Promise<Policy | Failure> {
  const file = await readPolicyFile(typeof given === 'string' ? { path: given } : given, options);
  if (isFailure(file)) return file;
  const policy = await policyFrom(file, options);
  return isFailure(policy) ? withProblems(policy, [file], options.io) : policy;
}

/** The policy of a file that was read. A failure has the problems of the bundle. */
export async function policyFrom(
  file: FileBytes,
  { mode, profile = 'production', paths = projectPaths() }: CompileWish,
): Promise<Policy | PolicyFailure> {
  const compiling = { sha256, profile, paths };
  const own = await compilePolicy(file, compiling);
  if (isFailure(own)) return own;
  const policy = { kind: 'policy', name: file.name } as const;
  const modes = policiesIn(own).map(({ document }) => document.mode);
  if (mode === undefined || modes.every((one) => one === mode)) {
    return { ...policy, snapshot: own, modeOverridden: false };
  }
  const { tightened_by: second, ...first } = own.document;
  const document = { ...first, mode, ...(second && { tightened_by: { ...second, mode } }) };
  const other = await compileDocument(document, compiling);
  // The hash stays that of the policy given: a policy with this mode exists nowhere.
  return { ...policy, snapshot: { ...other, ref: own.ref }, modeOverridden: true };
}

/** Loads the policies in force, as a shim does; what is wrong with them is printed. */
export async function loadInForce(
  sources: readonly [PolicySource, (PolicySource | undefined)?],
  profile: Profile,
  io: Io,
): Promise<LoadedPolicy | Failure> {
  const files: FileBytes[] = [];
  for (const source of sources.filter((one) => one !== undefined)) {
    const file = await readPolicyFile(source, { io, isRegular: true });
    if (isFailure(file)) return file;
    files.push(file);
  }
  const [first, second] = sources;
  const read = (source: PolicySource, at: number) => {
    return { ...source, bytes: Buffer.from(files[at]?.bytes ?? []) };
  };
  const loaded = await loadSources([read(first, 0), second && read(second, 1)], profile);
  return isFailure(loaded) ? withProblems(loaded, files, io) : loaded;
}

async function readPolicyFile(
  { path, bytes }: PolicyFile,
  { io, isRegular }: LoadOptions,
): Promise<FileBytes | Failure> {
  const file =
    bytes === undefined
      ? await readFileBytes(path, { io, bytesMax: POLICY_FILE_BYTES_MAX, isRegular })
      : ({ kind: 'file', name: path, bytes } as const);
  return isFailure(file) ? file : (notAPolicy(file) ?? file);
}

/** Prints the problems of a broken bundle, and stops the command that needed the policy. */
function withProblems(
  { problems = [], ...failed }: PolicyFailure,
  files: readonly FileBytes[],
  io: Io,
): Failure {
  const file = files.find(({ name }) => name === problems[0]?.file);
  if (file !== undefined) printProblems(problems, { file, io });
  return failed;
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
