// The hooks of the agent of one run: listened for beside its hub, and decided by its policy.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Failure,
  failure,
  isFailure,
  NO_CALLS,
  type ShimSummary,
} from '@subluminal/contracts';
import { systemCode, writePrivateFile } from '../../os/index.ts';
import type { AgentHooks, AgentLaunch, LaunchFolder } from '../run/options.ts';
import { HOOK_LIMITS } from './hook-limits.ts';
import { type HookListener, openHookListener } from './hook-listener.ts';
import { HookSenders } from './hook-senders.ts';
import type { RunDesk, RunDeskOptions } from './run-desk.ts';

export interface RunHooksOptions extends RunDeskOptions {
  readonly socketPath: string;
  /** The client posts its hooks, or may. */
  readonly takesPosts: boolean;
}

export interface RunHooks extends Pick<HookedAgent, 'hasHeard'> {
  readonly kind: 'open';
  readonly listener: HookListener;
  /** Loads what decides, which the first hook does otherwise. */
  prepare(): Promise<unknown>;
  /** Ends all sessions; what they did comes back. */
  end(): Promise<ShimSummary>;
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
  const { listener, hasHeard } = opened;
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
    if (hooks !== undefined && !hasHeard()) degraded(silentWords(hooks.client));
    if (folder !== undefined) rmSync(folder.path, { recursive: true, force: true });
    return opened.end();
  };
  // Its first hook would wait for it, and `sub` may be updated meanwhile.
  if (isHooked) await opened.prepare();
  return { ...made, hasHeard, end: once(end) };
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
  let opening: Promise<RunDesk> | undefined;
  let opened: RunDesk | undefined;
  let isEnded = false;
  const open = async (): Promise<RunDesk> => {
    const { openRunDesk } = await import('./run-desk.ts');
    opened = openRunDesk(options);
    return opened;
  };
  const openLate = async (): Promise<RunDesk> => {
    const late = await open();
    // The files may have changed since the run began.
    await late.look();
    return late;
  };
  const listener = await openHookListener({
    socketPath,
    takesPosts,
    ...(senders && { senders }),
    bodyBytesMax: HOOK_LIMITS.bodyBytesMax,
    handle: async ({ client, body, ageMs }, signal) => {
      if (isEnded && opening === undefined) throw new Error('the run has ended');
      const { desk } = await (opening ??= openLate());
      return desk.handle(client, body, { signal, ageMs });
    },
  });
  if (isFailure(listener)) return listener;
  const end = async (): Promise<ShimSummary> => {
    isEnded = true;
    await opening?.catch(() => undefined);
    const summary = (await opened?.end()) ?? NO_CALLS;
    await listener.close();
    return summary;
  };
  const hasHeard = (): boolean => opened?.desk.hasHeard === true;
  return { kind: 'open', listener, prepare: () => (opening ??= open()), hasHeard, end: once(end) };
}
