// The hooks of an agent that no run has started. A shim may have started their host, which does not know the policy
// of the hooks: the first hook tells it.
import { type Failure, isFailure, NO_CALLS, type ShimSummary } from '@subluminal/contracts';
import { dialectOf } from '@subluminal/core/hooks';
import { visible } from '@subluminal/core/visible';
import { eventNameIn } from './hook-desk.ts';
import { HOOK_LIMITS } from './hook-limits.ts';
import { type AskedHook, type HookListenerOptions, openHookListener } from './hook-listener.ts';
import type { RunDesk } from './run-desk.ts';

const PATH_LENGTH_MAX = 300;

export interface HostHooksOptions extends Pick<HookListenerOptions, 'senders'> {
  readonly socketPath: string;
  /** A text says why nothing can be decided. */
  readonly openDesk: (hook: Pick<AskedHook, 'cwd' | 'policy'>) => Promise<RunDesk | string>;
}

export interface HostHooks {
  /** Whether a session of a client is open, or has ended while a tool of it ran. */
  isNeeded(): boolean;
  /** Ends all sessions; what they did comes back. */
  end(): Promise<ShimSummary>;
}

interface OpeningDesk {
  readonly policy: string | undefined;
  readonly desk: Promise<RunDesk | string>;
}

function otherPolicy(first: string | undefined, other: string | undefined): string {
  const [one, two] = [first, other].map((path) => visible(path ?? 'none', PATH_LENGTH_MAX));
  return `The hooks of this agent name different policies (${one}, ${two}), and only one can decide. Take out the hooks that are not yours, or run \`sub import --hooks\` again, and start the agent again.`;
}

export async function openHostHooks({
  socketPath,
  openDesk,
  senders,
}: HostHooksOptions): Promise<HostHooks | Failure> {
  let opening: OpeningDesk | undefined;
  let opened: RunDesk | undefined;
  const deskFor = async (hook: AskedHook): Promise<RunDesk | string> => {
    const mine = (opening ??= { policy: hook.policy, desk: openDesk(hook) });
    // A project can bring hooks of its own, and they may come first.
    if (mine.policy !== hook.policy) return otherPolicy(mine.policy, hook.policy);
    const desk = await mine.desk;
    if (typeof desk !== 'string') opened = desk;
    // What was wrong may be mended before the next hook.
    else if (opening === mine) opening = undefined;
    return desk;
  };
  const listener = await openHookListener({
    socketPath,
    takesPosts: false,
    ...(senders && { senders }),
    bodyBytesMax: HOOK_LIMITS.bodyBytesMax,
    handle: async (hook, signal) => {
      const { client, body, ageMs } = hook;
      const desk = await deskFor(hook);
      if (typeof desk !== 'string') return desk.desk.handle(client, body, { signal, ageMs });
      const plain = { stdout: '', stderr: `${desk}\n`, exitCode: 2 } as const;
      return dialectOf(client)?.refuseUnread(eventNameIn(body), desk) ?? plain;
    },
  });
  if (isFailure(listener)) return listener;
  return {
    isNeeded: () => opened?.desk.isNeeded ?? false,
    end: async () => {
      const desk = await opening?.desk;
      const summary = typeof desk === 'object' ? await desk.end() : NO_CALLS;
      await listener.close();
      return summary;
    },
  };
}
