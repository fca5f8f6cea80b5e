// Whether a policy was loosened while the run went on: one that came into force, or one that was only
// written and waits for the next start. Either way somebody may have freed the agent, or tried to.
import { parseAs, SNAPSHOT_FILE, type SnapshotDocument } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import { loadPolicy, sourcesNow } from '../shim/policy.ts';
import { firstLoosening } from '../shim/reload.ts';
import type { Gathered, LoadedPolicy } from './gather.ts';
import type { RunOptions } from './options.ts';

interface Looking {
  readonly options: Pick<RunOptions, 'policySources' | 'paths' | 'config'>;
  /** The policy that the run began with. */
  readonly snapshot: Snapshot;
  readonly gathered: Gathered | undefined;
}

const SHOWN_MAX = 400;

/** One sentence for each way; empty when nothing was loosened. */
async function looseningsOf(looking: Looking): Promise<readonly string[]> {
  const { gathered } = looking;
  const applied = gathered === undefined ? undefined : appliedIn(gathered, looking.snapshot);
  const written = await writtenNow(looking);
  const isHeldBack = (gathered?.heldBack ?? 0) > 0;
  return [
    ...(applied === undefined
      ? []
      : [`a policy that lets more pass came into force during the run (${shown(applied)}).`]),
    ...(isHeldBack && written === undefined
      ? [
          'the policy was changed during the run so that it would let more pass; that was not taken.',
        ]
      : []),
    ...(written === undefined ? [] : [written]),
  ];
}

/** By what each shim told of its policies: the first is what it began with. */
function appliedIn({ loads }: Gathered, { document, ref }: Snapshot): string | undefined {
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

/** What cannot be compared may be anything. */
function looseningBetween(
  before: SnapshotDocument | undefined,
  after: SnapshotDocument | undefined,
): string | undefined {
  if (before === undefined || after === undefined) return 'its events do not tell what it says';
  return firstLoosening({ document: before }, { document: after });
}

function documentOf({ snapshot, policy_hash }: LoadedPolicy): SnapshotDocument | undefined {
  const parsed = parseAs(SNAPSHOT_FILE, { snapshot, policy_hash });
  return parsed.ok ? parsed.value.snapshot : undefined;
}

/** The files of the policy as the run has left them. */
async function writtenNow({ options, snapshot }: Looking): Promise<string | undefined> {
  const { policySources, paths, config } = options;
  if (policySources.length === 0) return undefined;
  const loaded = await loadPolicy(sourcesNow(policySources, paths.home), config.profile);
  const where = policySources.map(({ path }) => path).join(' or ');
  if (!loaded.ok) return `${where} was changed during the run and cannot be used any more.`;
  const found = firstLoosening(snapshot, loaded.snapshot);
  if (found === undefined) return undefined;
  return `${where} was changed during the run and lets more pass now (${shown(found)}).`;
}

function shown(text: string): string {
  return visible(text, SHOWN_MAX);
}

export { looseningsOf };
