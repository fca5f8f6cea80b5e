// The policy in force while its files change: a change is taken as far as `policy.reload` lets it.
import type { EventBody, Profile } from '@subluminal/contracts';
import { type Snapshot, snapshotJson } from '@subluminal/core/policy';
import type { PolicySource } from './sources.ts';
import { mayLoosen, type PolicyWatcher, watchPolicy } from './watch-policy.ts';

export interface PolicyFiles {
  readonly sources: readonly PolicySource[];
  /** The product's folder. */
  readonly home: string;
  /** The state of the files before they were read. */
  readonly mark: string;
  /** The hashes of what is in force. */
  readonly hashes: readonly string[];
  /** What a changed file would have let pass, if it had been taken at the start. */
  readonly loosening: string | undefined;
}

export interface FollowedPolicy {
  readonly files: PolicyFiles;
  readonly reload: 'any' | 'tighten' | 'off';
  readonly profile: Profile;
  /** The policy in force. */
  readonly current: () => Snapshot;
  /** Puts a changed policy in force. */
  readonly use: (snapshot: Snapshot) => Promise<void>;
  /** The changed files would let more pass, so the policy in force stays. */
  readonly heldBack: (reason: string) => void;
  /** A file is broken, so the policy in force stays. */
  readonly broken: (reason: string) => void;
}

/** Undefined when there is nothing to follow. */
export function followPolicy(followed: FollowedPolicy): PolicyWatcher | undefined {
  const { files, reload, profile, current, use, heldBack, broken } = followed;
  const { sources, home, mark } = files;
  if (sources.length === 0 || reload === 'off') return undefined;
  let { hashes } = files;
  return watchPolicy({
    sources,
    home,
    mark,
    profile,
    changed: async (changed) => {
      const { snapshot } = changed;
      if (snapshot.ref.policy_hash === current().ref.policy_hash) return;
      // The files were only touched: whether they are trusted now matters at the next start.
      if (changed.hashes.every((hash, index) => hash === hashes[index])) return;
      const isFree = reload === 'any' && mayLoosen(changed, hashes);
      const refusal = isFree ? undefined : await loosening(current(), snapshot);
      if (refusal !== undefined) return heldBack(refusal);
      await use(snapshot);
      ({ hashes } = changed);
    },
    broken,
  });
}

async function loosening(before: Snapshot, after: Snapshot): Promise<string | undefined> {
  const { firstLoosening } = await import('./first-loosening.ts');
  const found = firstLoosening(before, after);
  if (found === undefined) return undefined;
  return `the changed policy would let more pass (${found}); the last one stays until the next start`;
}

export const POLICY_BROKEN = 'the policy is broken; the last good one stays';
/** A longer policy is recorded by its hash alone. */
const DOCUMENT_LENGTH_MAX = 262_144;

/**
 * The event of a policy that takes force. It holds the policy, so that a trace can be read and replayed elsewhere;
 * `isWritten`: an earlier event of the same run holds it.
 */
export function policyLoaded(
  snapshot: Snapshot,
  reload: boolean,
  isWritten = false,
): EventBody<'policy_loaded'> {
  const { ref: policy, document } = snapshot;
  const written = isWritten ? undefined : snapshotJson(snapshot, DOCUMENT_LENGTH_MAX);
  const { mode } = document;
  return { policy, mode, reload, ...(written !== undefined && { document: written }) };
}
