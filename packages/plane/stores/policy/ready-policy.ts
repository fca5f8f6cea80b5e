// A policy that is known to be good before the code that decides by it is loaded.
import { type Failure, isFailure, type Profile } from '@subluminal/contracts';
import { POLICY_FILE_BYTES_MAX, type Snapshot } from '@subluminal/core/policy';
import { sha256Bytes } from '../../os/crypto/index.ts';
import { readRegularFile } from '../../os/index.ts';
import {
  type CompiledPlace,
  keepCompiled,
  ownBuild,
  type ReadSource,
  readCompiled,
} from './compiled-policy.ts';
import type { PolicyFailure } from './policy-file.ts';
import { type PolicySource, unsafePolicy } from './sources.ts';
import { loadPolicy } from './watch-policy.ts';

export interface ReadyPolicy {
  readonly kind: 'ready';
  readonly hashes: readonly string[];
  readonly warning?: Failure | undefined;
  readonly snapshot: () => Promise<Snapshot | PolicyFailure>;
}

/** The policy of these files, from what an earlier process has made of the same bytes or from the files. */
export async function readyPolicyOf(
  sources: readonly PolicySource[],
  { home, profile, build = ownBuild() }: CompiledPlace,
): Promise<ReadyPolicy | PolicyFailure> {
  const place = { home, profile, build };
  // Without a source everything is observed, which is no matter of reading.
  if (sources.length === 0) {
    return { kind: 'ready', hashes: [], snapshot: () => snapshotOf(sources, profile) };
  }
  const read = sources.flatMap(withBytes);
  const isWhole = read.length === sources.length;
  const known = isWhole ? readCompiled(read, place) : undefined;
  if (known !== undefined) {
    const snapshot = async () => {
      const { openCompiled } = await import('./open-compiled.ts');
      return (await openCompiled(known, profile)) ?? snapshotOf(read, profile);
    };
    return { kind: 'ready', hashes: read.map(({ bytes }) => sha256Bytes(bytes)), snapshot };
  }
  // What was looked at is what is compiled.
  const loaded = await loadPolicy(isWhole ? read : sources, profile);
  if (isFailure(loaded)) return loaded;
  const { snapshot, hashes, warning } = loaded;
  if (isWhole && warning === undefined) {
    const { sealSnapshot } = await import('@subluminal/core/policy');
    keepCompiled(read, sealSnapshot(snapshot), place);
  }
  return { kind: 'ready', hashes, warning, snapshot: () => Promise.resolve(snapshot) };
}

async function snapshotOf(
  sources: readonly PolicySource[],
  profile: Profile,
): Promise<Snapshot | PolicyFailure> {
  const loaded = await loadPolicy(sources, profile);
  return isFailure(loaded) ? loaded : loaded.snapshot;
}

/** Nothing for a file that cannot be read, or that others can write to: loading it says what is wrong. */
function withBytes(source: PolicySource): readonly ReadSource[] {
  const { path, bytes } = source;
  if (unsafePolicy(path) !== undefined) return [];
  if (bytes !== undefined) return [{ ...source, bytes }];
  const read = readRegularFile(path, { bytesMax: POLICY_FILE_BYTES_MAX });
  return read.kind === 'read' ? [{ ...source, bytes: read.bytes }] : [];
}
