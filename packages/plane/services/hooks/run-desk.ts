// What decides about the hooks of one run. It is loaded with the first hook, because most agents send none.
import type { ShimSummary } from '@subluminal/contracts';
import { dialectOf } from '@subluminal/core/hooks';
import type { Snapshot } from '@subluminal/core/policy';
import {
  followPolicy,
  POLICY_BROKEN,
  type PolicyFiles,
} from '../../stores/policy/follow-policy.ts';
import { CLIENT_HOOKS } from '../clients/hooks/registry.ts';
import type { Hub } from '../hub/index.ts';
import { sharedSink } from '../sink/index.ts';
import { type HookClient, HookDesk, type HookDeskOptions } from './hook-desk.ts';
import type { HookSenders } from './hook-senders.ts';

export interface RunDeskOptions
  extends Omit<HookDeskOptions, 'clients' | 'policy' | 'hub' | 'shimServers'> {
  readonly hub: Hub;
  readonly snapshot: Snapshot;
  readonly policyFiles: PolicyFiles;
  /** Tells who sends hooks, and who has started a shim; everybody counts as the client unless given. */
  readonly senders?: HookSenders;
}

export interface RunDesk {
  readonly desk: HookDesk;
  /** Takes what the files of the policy say by now, as far as `policy.reload` lets them. */
  look(): Promise<void>;
  /** Ends all sessions; what they did comes back. */
  end(): Promise<ShimSummary>;
}

/** Those whose hooks are understood. */
function hookClients(): readonly HookClient[] {
  return CLIENT_HOOKS.flatMap((hooks) => {
    const dialect = dialectOf(hooks.client);
    if (dialect === undefined) return [];
    const { platform } = process;
    const settings: HookClient['settings'] = ({ cwd: project, userHome, env }) =>
      hooks.settingsFiles({ platform, userHome, project, env });
    const answerer: HookClient['answerer'] = (place) => hooks.answererIn?.(settings(place));
    return [{ dialect, settings, answerer }];
  });
}

/** Decides by this policy, and by what becomes of its files. */
export function openRunDesk(options: RunDeskOptions): RunDesk {
  const { hub, sink, snapshot, policyFiles: files, config, degraded, warn, senders } = options;
  let inForce = { snapshot, files };
  const desk = new HookDesk({
    ...options,
    clients: hookClients(),
    // It outlives each session.
    sink: sharedSink(sink),
    policy: () => inForce,
    shimServers: () => liveServers(hub).filter((server) => senders?.hasShim(server) !== false),
  });
  const following = followPolicy({
    files,
    reload: config['policy.reload'],
    profile: config.profile,
    current: () => inForce.snapshot,
    use: async (changed) => {
      inForce = { ...inForce, snapshot: changed };
      await desk.usePolicy(changed);
    },
    // The shims of the run record it, and the run says so at its end.
    heldBack: () => {},
    broken: (reason) => {
      warn(`${POLICY_BROKEN}: ${reason}`);
      degraded(POLICY_BROKEN);
    },
  });
  const end = async (): Promise<ShimSummary> => {
    following?.stop();
    await desk.close();
    return desk.summary;
  };
  return { desk, look: async () => following?.look(), end };
}

/** Servers whose shims have said that they are there, and not gone since. */
function liveServers({ shims }: Hub): readonly string[] {
  const live = shims.list().filter(({ state }) => state === 'live');
  return live.map(({ serverId }) => serverId);
}
