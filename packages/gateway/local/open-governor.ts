// The governor of one run: its policy, which follows its files, the people who are asked, and what models cost.
import { type Failure, isFailure, type ModelPrice } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { LIST_PRICES, priceBook } from '@subluminal/core/routing';
import type { Config, HomePaths } from '@subluminal/plane/config';
import { policyLoaded } from '@subluminal/plane/policy/follow';
import type { ModelsTold } from '@subluminal/plane/run';
import { pricesOf } from '../config/written-prices.ts';
import { LocalGovernor } from './governor.ts';
import { People } from './people.ts';
import type { TurnRecorder } from './record-turns.ts';
import { openTurnPolicies } from './turn-policy.ts';

export interface GovernorSettings {
  readonly config: Config;
  readonly paths: HomePaths;
  /** What models cost for this user; the list prices hold for all others. */
  readonly prices: readonly ModelPrice[];
  /** Something besides a terminal of this machine may answer requests for approval. */
  readonly hasChannel: boolean;
  /** Tells the person in front of the machine, on one line. */
  readonly tell: (text: string) => void;
}

export interface GovernedRun
  extends Pick<ModelsTold, 'producer' | 'snapshot' | 'policyFiles' | 'degraded'> {
  readonly hub: Pick<ModelsTold['hub'], 'evaluate' | 'settle' | 'policy'>;
  readonly recorder: TurnRecorder;
}

export interface OpenGovernor {
  readonly kind: 'open_governor';
  readonly governor: LocalGovernor;
  usePolicy(snapshot: Snapshot): Promise<void>;
  /** Nobody is asked any more, and the files of the policy are not followed. */
  close(): void;
}

export async function openLocalGovernor(
  settings: GovernorSettings,
  run: GovernedRun,
): Promise<OpenGovernor | Failure> {
  const { config, paths, prices, hasChannel, tell } = settings;
  const { producer, snapshot, hub, recorder } = run;
  const policies = await openTurnPolicies(settings, run);
  if (isFailure(policies)) return policies;
  const people = await People.open({
    home: paths.home,
    producer,
    snapshot,
    hasChannel,
    warn: tell,
    record: (body) => recorder.record('approval', body),
  });
  policies.follow({
    prepare: (changed) => people.prepare(changed),
    taken: (changed) => recorder.record('policy_loaded', policyLoaded(changed, true)),
  });
  const governor = new LocalGovernor({
    producer,
    profile: config.profile,
    policy: policies.current,
    hub,
    recorder,
    people,
    prices: priceBook([
      ...pricesOf({ prices, cost_source_default: 'provider_usage' }),
      ...LIST_PRICES,
    ]),
  });
  const close = () => {
    policies.stop();
    people.close();
  };
  const usePolicy = (changed: Snapshot) => policies.use(changed);
  return { kind: 'open_governor', governor, usePolicy, close };
}
