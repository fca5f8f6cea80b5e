// The hooks of the agent of one run: listened for beside its hub, and decided by its policy.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure, type ShimSummary } from '@subluminal/contracts';
import { dialectOf } from '@subluminal/core/hooks';
import type { Snapshot } from '@subluminal/core/policy';
import { systemCode, writePrivateFile } from '../../os/index.ts';
import {
  followPolicy,
  POLICY_BROKEN,
  type PolicyFiles,
} from '../../stores/policy/follow-policy.ts';
import { CLIENT_HOOKS } from '../clients/hooks/registry.ts';
import type { Hub } from '../hub/index.ts';
import type { AgentHooks, AgentLaunch, LaunchFolder } from '../run/options.ts';
import { sharedSink } from '../sink/index.ts';
import { HOOK_LIMITS, type HookClient, HookDesk, type HookDeskOptions } from './hook-desk.ts';
import { type HookListener, openHookListener } from './hook-listener.ts';
import { HookSenders } from './hook-senders.ts';

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
  /** Ends all sessions; what they did comes back. */
  end(): Promise<ShimSummary>;
}

export interface RunHooksOptions extends RunDeskOptions {
  readonly socketPath: string;
  /** The client posts its hooks, or may. */
  readonly takesPosts: boolean;
}

export interface RunHooks extends RunDesk {
  readonly kind: 'open';
  readonly listener: HookListener;
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

/** An agent whose hooks come here. */
export interface HookedAgent extends AgentLaunch {
  /** Whether any hook has come. */
  readonly hasHeard: () => boolean;
  /** Ends all sessions; what the agent's own tools did comes back. */
  readonly end: () => Promise<ShimSummary>;
}

interface HookableStart extends Omit<RunHooksOptions, 'takesPosts' | 'trustsPrompts' | 'senders'> {
  readonly command: readonly string[];
  readonly cwd: string;
}

/**
 * Listens for the hooks of an agent, and says how it is started so that they come here. Without `hooks` it is
 * started as it is: the settings of a client that it starts may hold some.
 */
export async function hookAgent(
  hooks: AgentHooks | undefined,
  start: HookableStart,
): Promise<HookedAgent | Failure> {
  const { command, cwd, env, socketPath: socket, degraded } = start;
  const isHooked = hooks !== undefined;
  // The agent is started by this process.
  const senders = new HookSenders({ root: process.pid, isClient: false, degraded });
  const trusts = { takesPosts: isHooked, trustsPrompts: isHooked };
  const opened = await openRunHooks({ ...start, ...trusts, senders });
  if (isFailure(opened)) return opened;
  const { desk, listener } = opened;
  const { http } = listener;
  const ready: ReturnType<AgentHooks['begin']> =
    hooks === undefined || http === undefined
      ? { command, env }
      : hooks.begin({
          http: { ...http, url: `${http.url}/${hooks.client}` },
          ...{ socket, command, env, cwd },
        });
  const folder = isFailure(ready) ? undefined : ready.folder;
  const made = folder === undefined ? ready : (makeFolder(folder) ?? ready);
  if (isFailure(made)) {
    await opened.end();
    return made;
  }
  const end = (): Promise<ShimSummary> => {
    if (hooks !== undefined && !desk.hasHeard) degraded(silentWords(hooks.client));
    if (folder !== undefined) rmSync(folder.path, { recursive: true, force: true });
    return opened.end();
  };
  return { ...made, hasHeard: () => desk.hasHeard, end: once(end) };
}

/** What is in its place already was left by a run that was killed. */
function makeFolder({ path, files }: LaunchFolder): Failure | undefined {
  try {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { mode: 0o700 });
    for (const [name, text] of Object.entries(files)) writePrivateFile(join(path, name), text);
    return undefined;
  } catch (cause) {
    const message = `the hooks of the agent cannot be written to ${path} (${systemCode(cause)}).`;
    return failure('SUB_FILE_WRITE', message, 'Free some space, or check the permissions.');
  }
}

function silentWords(client: string): string {
  return `no hook of ${client} was called: if it has used tools of its own, nothing has decided about them`;
}

function once<T>(act: () => T): () => T {
  let done: { readonly result: T } | undefined;
  return () => (done ??= { result: act() }).result;
}

export async function openRunHooks(options: RunHooksOptions): Promise<RunHooks | Failure> {
  const { socketPath, takesPosts, senders } = options;
  const opened = openRunDesk(options);
  const { desk } = opened;
  const listener = await openHookListener({
    socketPath,
    takesPosts,
    ...(senders && { senders }),
    bodyBytesMax: HOOK_LIMITS.bodyBytesMax,
    handle: ({ client, body, ageMs }, signal) => desk.handle(client, body, { signal, ageMs }),
  });
  if (isFailure(listener)) {
    await opened.end();
    return listener;
  }
  const end = async (): Promise<ShimSummary> => {
    const summary = await opened.end();
    await listener.close();
    return summary;
  };
  return { kind: 'open', listener, desk, end: once(end) };
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
  return { desk, end };
}

/** Servers whose shims have said that they are there, and not gone since. */
function liveServers({ shims }: Hub): readonly string[] {
  const live = shims.list().filter(({ state }) => state === 'live');
  return live.map(({ serverId }) => serverId);
}
