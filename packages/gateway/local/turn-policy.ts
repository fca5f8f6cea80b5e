// The policy that turns are decided by. It follows its files as the policy of the calls does.
import {
  type Failure,
  type FullContentSection,
  failure,
  POLICY_HELD_BACK,
} from '@subluminal/contracts';
import { identityOf, type Snapshot, sealSnapshot, sectionsFor } from '@subluminal/core/policy';
import type { Config, HomePaths } from '@subluminal/plane/config';
import { fingerprintsIn } from '@subluminal/plane/governor/fingerprints';
import { followPolicy, POLICY_BROKEN } from '@subluminal/plane/policy/follow';
import type { GovernedRun } from './open-governor.ts';
import { RequestScanner } from './scan-request.ts';

export interface TurnPolicy {
  readonly snapshot: Snapshot;
  /** None where the policy has no content section for this agent. */
  readonly scanner: RequestScanner | undefined;
}

export interface TurnPolicies {
  /** The policy in force. */
  readonly current: () => TurnPolicy;
  /** Takes changes of the files from now on; `prepare` comes before a changed policy takes force, `taken` after. */
  follow(on: PolicyChanges): void;
  /** Puts a changed policy in force. */
  use(snapshot: Snapshot): Promise<void>;
  stop(): void;
}

interface PolicyChanges {
  readonly prepare: (snapshot: Snapshot) => Promise<void>;
  readonly taken: (snapshot: Snapshot) => void;
}

interface PolicyOptions {
  readonly config: Config;
  readonly paths: HomePaths;
  readonly tell: (text: string) => void;
}

export async function openTurnPolicies(
  { config, paths, tell }: PolicyOptions,
  told: Pick<GovernedRun, 'hub' | 'producer' | 'snapshot' | 'policyFiles' | 'degraded'>,
): Promise<TurnPolicies | Failure> {
  const { hub, producer, policyFiles: files, degraded } = told;
  const policyOf = (snapshot: Snapshot): TurnPolicy => ({
    snapshot,
    scanner: scannerFor(snapshot, { producer, home: paths.home }),
  });
  const isTaken = async (snapshot: Snapshot): Promise<boolean> => {
    const answer = await hub.policy(sealSnapshot(snapshot));
    return !('kind' in answer) && answer.accepted;
  };
  if (!(await isTaken(told.snapshot))) {
    const message = 'The hub of the run did not take its policy, so no turn could be decided.';
    return failure('SUB_MODELS_POLICY', message, 'Check the policy with `sub policy lint`.');
  }
  let current = policyOf(told.snapshot);
  let watch: { stop(): void } | undefined;
  let changes: PolicyChanges | undefined;
  const use = async (snapshot: Snapshot): Promise<void> => {
    await changes?.prepare(snapshot);
    // A hub that does not know a policy denies all that is asked under it.
    if (!(await isTaken(snapshot))) tell('the hub of the run did not take the changed policy');
    current = policyOf(snapshot);
    changes?.taken(snapshot);
  };
  return {
    current: () => current,
    use,
    follow(on) {
      changes = on;
      watch = followPolicy({
        files,
        reload: config['policy.reload'],
        profile: config.profile,
        current: () => current.snapshot,
        use,
        heldBack: (reason) => {
          tell(`model calls: ${reason}`);
          degraded(POLICY_HELD_BACK);
        },
        broken: (reason) => {
          tell(`model calls: ${POLICY_BROKEN}: ${reason}`);
          degraded(POLICY_BROKEN);
        },
      });
    },
    stop: () => watch?.stop(),
  };
}

/** Scanners by what they look for: conversations of one agent have much in common, which is looked through once. */
const SCANNERS = new WeakMap<FullContentSection, Map<string, RequestScanner>>();

/** The content section that holds for this agent, as a scanner. */
function scannerFor(
  snapshot: Snapshot,
  { producer, home }: { readonly producer: GovernedRun['producer']; readonly home: string },
): RequestScanner | undefined {
  const { content, mode } = sectionsFor(snapshot, identityOf(producer));
  if (content === undefined) return undefined;
  const isEnforced = mode !== 'observe' && snapshot.profile === 'production';
  const known = SCANNERS.get(content) ?? new Map<string, RequestScanner>();
  SCANNERS.set(content, known);
  const key = `${isEnforced} ${home}`;
  const fingerprint = fingerprintsIn(home).of;
  const scanner =
    known.get(key) ?? new RequestScanner({ section: content, isEnforced, fingerprint });
  known.set(key, scanner);
  return scanner;
}
