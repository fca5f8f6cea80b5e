// The hooks of an agent that no run has started. A shim may have started their host, which does not know the policy
// of the hooks: the first hook tells it.
import { type Failure, isFailure, NO_CALLS, type ShimSummary } from '@subluminal/contracts';
import { dialectOf } from '@subluminal/core/hooks';
import { eventNameIn, HOOK_LIMITS } from './hook-desk.ts';
import { type AskedHook, openHookListener } from './hook-listener.ts';
import type { RunDesk } from './run-hooks.ts';

export interface HostHooksOptions {
  readonly socketPath: string;
  /** A text says why nothing can be decided. */
  readonly openDesk: (hook: Pick<AskedHook, 'cwd' | 'policy'>) => Promise<RunDesk | string>;
}

export interface HostHooks {
  /** How many sessions of clients are open. */
  sessions(): number;
  /** Ends all sessions; what they did comes back. */
  end(): Promise<ShimSummary>;
}

export async function openHostHooks({
  socketPath,
  openDesk,
}: HostHooksOptions): Promise<HostHooks | Failure> {
  let opening: Promise<RunDesk | string> | undefined;
  let opened: RunDesk | undefined;
  const deskFor = async (hook: AskedHook): Promise<RunDesk | string> => {
    const mine = (opening ??= openDesk(hook));
    const desk = await mine;
    if (typeof desk !== 'string') opened = desk;
    // What was wrong may be mended before the next hook.
    else if (opening === mine) opening = undefined;
    return desk;
  };
  const listener = await openHookListener({
    socketPath,
    takesPosts: false,
    bodyBytesMax: HOOK_LIMITS.bodyBytesMax,
    handle: async (hook, signal) => {
      const { client, body } = hook;
      const desk = await deskFor(hook);
      if (typeof desk !== 'string') return desk.desk.handle(client, body, signal);
      const plain = { stdout: '', stderr: `${desk}\n`, exitCode: 2 } as const;
      return dialectOf(client)?.refuseUnread(eventNameIn(body), desk) ?? plain;
    },
  });
  if (isFailure(listener)) return listener;
  return {
    sessions: () => opened?.desk.sessions ?? 0,
    end: async () => {
      const desk = await opening;
      const summary = typeof desk === 'object' ? await desk.end() : NO_CALLS;
      await listener.close();
      return summary;
    },
  };
}
