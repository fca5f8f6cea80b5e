// Whether a policy was loosened while the run went on: one that came into force, or one that was only
// written and waits for the next start. Either way somebody may have freed the agent, or tried to; who
// breaks or removes it may have, too.
import { existsSync } from 'node:fs';
import { isFailure, parseAs, SNAPSHOT_FILE, type SnapshotDocument } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import { sha256Bytes } from '../../os/crypto/index.ts';
import { firstLoosening } from '../../stores/policy/first-loosening.ts';
import { type PolicySource, unsafePolicy } from '../../stores/policy/sources.ts';
import { loadPolicy, policyFailureText, sourcesNow } from '../../stores/policy/watch-policy.ts';
import { fileHash } from '../../stores/runs/policy-of-run.ts';
import type { RunPolicyLoad, RunRecord } from './account.ts';
import type { PolicyHarm, RunOptions } from './options.ts';

interface HarmOptions {
  readonly options: Pick<RunOptions, 'policySources' | 'policyHashes' | 'paths' | 'config'>;
  /** The policy that the run began with. */
  readonly snapshot: Snapshot;
  readonly gathered: RunRecord | undefined;
}

const SHOWN_MAX = 400;
const HELD_BACK =
  'the policy was changed during the run so that it would let more pass; that was not taken.';

/** Empty when nothing happened to a policy. */
export async function policyHarmsOf(looking: HarmOptions): Promise<readonly PolicyHarm[]> {
  const { gathered } = looking;
  const applied = gathered === undefined ? undefined : appliedIn(gathered, looking.snapshot);
  const written = await writtenNow(looking);
  const harms: PolicyHarm[] = [];
  if (applied !== undefined) {
    const text = `a policy that lets more pass came into force during the run (${shown(applied)}).`;
    harms.push(loosened(text));
  }
  if ((gathered?.heldBack ?? 0) > 0 && written.length === 0) {
    harms.push(loosened(HELD_BACK));
  }
  return [...harms, ...written];
}

function loosened(text: string): PolicyHarm {
  return { kind: 'loosened', text };
}

/** By the policies that each shim has reported; it began with the first. */
function appliedIn({ loads }: RunRecord, { document, ref }: Snapshot): string | undefined {
  for (const [first, ...later] of loads) {
    if (first === undefined) continue;
    // An entry may name a policy of its own; another version of that of the run is none.
    const isOfRun = first.policy_id === ref.policy_id && first.policy_hash !== ref.policy_hash;
    const begun = isOfRun ? document : documentOf(first);
    for (const next of isOfRun ? [first, ...later] : later) {
      if (next.policy_hash === first.policy_hash && !isOfRun) continue;
      const found = looseningBetween(begun, documentOf(next));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Policies that cannot be compared count as loosened. */
function looseningBetween(
  before: SnapshotDocument | undefined,
  after: SnapshotDocument | undefined,
): string | undefined {
  if (before === undefined || after === undefined) return 'its events do not tell what it says';
  return firstLoosening({ document: before }, { document: after });
}

function documentOf({ snapshot, policy_hash }: RunPolicyLoad): SnapshotDocument | undefined {
  const parsed = parseAs(SNAPSHOT_FILE, { snapshot, policy_hash });
  return parsed.ok ? parsed.value.snapshot : undefined;
}

/** The files of the policy as the run has left them. */
async function writtenNow({ options, snapshot }: HarmOptions): Promise<readonly PolicyHarm[]> {
  const { policySources, policyHashes, paths, config } = options;
  if (policySources.length === 0) return [];
  const sources = sourcesNow(policySources, paths.home);
  const isAsBefore = ({ path, role, bytes }: PolicySource, at: number): boolean => {
    const hash = bytes === undefined ? fileHash(path) : sha256Bytes(bytes);
    if (hash !== policyHashes[at] || role !== policySources[at]?.role) return false;
    return unsafePolicy(path) === undefined;
  };
  // The same policy need not be read and compared with itself.
  if (sources.every(isAsBefore)) return [];
  const loaded = await loadPolicy(sources, config.profile);
  if (isFailure(loaded)) {
    const unusable = await Promise.all(sources.map((one) => unusableNow(one, config.profile)));
    const found = unusable.filter((one) => one !== undefined);
    return found.length > 0 ? found : [brokenBy(wordsFor(sources), policyFailureText(loaded))];
  }
  const found = firstLoosening(snapshot, loaded.snapshot);
  if (found === undefined) return [];
  const changed = policySources.filter(
    ({ bytes }, at) => bytes === undefined || sources[at]?.bytes?.equals(bytes) !== true,
  );
  const where = wordsFor(changed.length === 0 ? policySources : changed);
  return [
    loosened(`${where} was changed during the run and lets more pass now (${shown(found)}).`),
  ];
}

/** The problem of this file alone. */
async function unusableNow(
  source: PolicySource,
  profile: RunOptions['config']['profile'],
): Promise<PolicyHarm | undefined> {
  const { path } = source;
  if (!existsSync(path)) return { kind: 'removed', text: `${path} was removed during the run.` };
  const loaded = await loadPolicy([source], profile);
  return isFailure(loaded) ? brokenBy(path, policyFailureText(loaded)) : undefined;
}

function brokenBy(where: string, why: string): PolicyHarm {
  return { kind: 'broken', text: `${where} was broken during the run: ${shown(why)}` };
}

function wordsFor(sources: readonly PolicySource[]): string {
  return sources.map(({ path }) => path).join(' or ');
}

function shown(text: string): string {
  return visible(text, SHOWN_MAX);
}
