// The policy of a shim that belongs to a hosted run: the one that the run began with, and a changed
// file only as far as `policy.reload` lets it.
import { type Failure, failure, isFailure, isObject, type Profile } from '@subluminal/contracts';
import { openSnapshot, POLICY_FILE_BYTES_MAX, type Snapshot } from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import { sha256, sha256Bytes } from '../../os/crypto/index.ts';
import { attempt, parseJson, readRegularFile, realPath } from '../../os/index.ts';
import type { LoadedPolicy } from '../policy/policy-file.ts';
import { projectPaths } from '../policy/project-paths.ts';
import type { PolicySource } from '../policy/sources.ts';
import { loadPolicy, mayLoosen, policyFailureText, sourcesNow } from '../policy/watch-policy.ts';

interface RunPolicy {
  /** Where the copy is, and the hash that it must have. */
  readonly copy: { readonly path: string; readonly hash: string | undefined };
  /** The files that the copy was made from, as far as they are known. */
  readonly sources: readonly PolicySource[];
  /** The product's folder. */
  readonly home: string;
  readonly reload: 'any' | 'tighten' | 'off';
  readonly profile: Profile;
  readonly warn: (text: string) => void;
}

/** A bundle of 8 MiB has longer words when it is compiled. */
const COPY_BYTES_MAX = 67_108_864;
const SHOWN_MAX = 400;
const STAYS = 'the policy that the run began with holds';

export interface LoadedRunPolicy extends LoadedPolicy {
  /** What the changed files would let pass, so that they were not taken. */
  readonly loosening?: string;
}

export async function loadRunPolicy(wish: RunPolicy): Promise<LoadedRunPolicy | Failure> {
  const { copy, reload, profile, sources, home, warn } = wish;
  const begun = await readCopy(copy, profile);
  if (isFailure(begun)) return begun;
  const { snapshot, hashes } = begun;
  if (reload === 'off' || sources.length === 0) return begun;
  const isSame = sources.every(({ path }, index) => fileHash(path) === hashes[index]);
  if (isSame && sources.length === hashes.length) return begun;
  const fresh = sourcesNow(sources, home);
  const changed = await loadPolicy(fresh, profile);
  if (isFailure(changed)) {
    const why = visible(policyFailureText(changed), SHOWN_MAX);
    warn(`the file of the policy is broken, and ${STAYS}: ${why}`);
    return begun;
  }
  const isFree = reload === 'any' && mayLoosen({ ...changed, sources: fresh }, hashes);
  const more = isFree ? undefined : await loosening(snapshot, changed.snapshot);
  if (more === undefined) return changed;
  const words = visible(more, SHOWN_MAX);
  warn(`the changed file of the policy would let more pass (${words}), so ${STAYS}`);
  return { ...begun, loosening: more };
}

/** Whether an entry names another file than its run has, by whatever name. */
export function isOther(ofRun: string | undefined, path: string): boolean {
  return !ofRun || realPath(path) !== realPath(ofRun);
}

/** The warning about such an entry; none where nobody named a policy for the run. */
export function otherThan(
  copyPath: string,
  ofRun: string | undefined,
  path: string,
): string | undefined {
  if (!isNamed(copyPath)) return undefined;
  const [own, runs] = [path, ofRun ?? 'a copy'].map((one) => visible(one, SHOWN_MAX));
  return `this entry has its own --policy (${own}), which holds instead of that of the run (${runs})`;
}

/** Only a warning depends on it, so a copy that cannot be read counts as named. */
function isNamed(copyPath: string): boolean {
  const value = attempt(() => parseJson(readCopyText(copyPath)));
  return !isObject(value) || value['named'] !== false;
}

/** Compares policies, which most shims never have to. */
async function loosening(before: Snapshot, after: Snapshot): Promise<string | undefined> {
  const { firstLoosening } = await import('../policy/first-loosening.ts');
  return firstLoosening(before, after);
}

/** Without the policy of the run nothing may start, for nobody knows what is allowed. */
async function readCopy(
  { path, hash }: RunPolicy['copy'],
  profile: Profile,
): Promise<LoadedPolicy | Failure> {
  const fix = 'End the agent and start it again.';
  const other = (why: string) => failure('SUB_SNAPSHOT_HASH', `${path}${why}`, fix);
  try {
    const value: unknown = JSON.parse(readCopyText(path));
    if (!isObject(value)) return other(', the policy of this run, is damaged.');
    const { sealed, source_sha256s } = value;
    const snapshot = await openSnapshot(sealed, { sha256, profile, paths: projectPaths() });
    if (isFailure(snapshot)) return other(`, the policy of this run: ${snapshot.message}.`);
    // A policy may be whole and still be another one.
    if (hash === undefined || snapshot.ref.policy_hash !== hash) {
      return other(' is not the policy that this run began with.');
    }
    const hashes: readonly unknown[] = Array.isArray(source_sha256s) ? source_sha256s : [];
    return {
      kind: 'loaded',
      snapshot,
      hashes: hashes.map((one) => (typeof one === 'string' ? one : '')),
    };
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'it is damaged';
    const message = `${path}, the policy of this run, cannot be read (${code}).`;
    return failure('SUB_FILE_READ', message, fix);
  }
}

function readCopyText(path: string): string {
  const read = readRegularFile(path, { bytesMax: COPY_BYTES_MAX, noFollow: true });
  if (read.kind === 'read') return read.bytes.toString('utf8');
  throw Object.assign(new Error('this is no such copy'), { code: read.code });
}

/** Undefined for what cannot be read. */
export function fileHash(path: string): string | undefined {
  const read = readRegularFile(path, { bytesMax: POLICY_FILE_BYTES_MAX });
  return read.kind === 'read' ? sha256Bytes(read.bytes) : undefined;
}
