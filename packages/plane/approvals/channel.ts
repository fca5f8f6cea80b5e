// A way to reach a person. Several processes may run the same channel over the same queue: claims
// keep them from asking twice.
import type { Desk } from './desk.ts';
import type { Queue } from './queue.ts';

interface RunningChannel {
  /** Resolves when nothing of it is under way any more. */
  stop(): Promise<void>;
}

interface Channel<C> {
  readonly name: string;
  start(desk: Desk, config: C): RunningChannel;
}

const CLAIMS_MAX = 5;
/** Who has claimed a request and has not told anybody within this time has died. */
const CLAIM_MS = 60_000;

/** What processes that run the same channel tell each other about requests. */
interface Claims {
  /** True for the one that shall tell of this request now. */
  claim(id: string, nowMs: number): boolean;
  /** Says that a person was told, and what is needed to find it again. */
  markSent(id: string, value: unknown): void;
  sent(id: string): { readonly value: unknown } | undefined;
}

function claimsOf(queue: Queue, channel: string): Claims {
  const sent = (id: string) => queue.marked(id, `${channel}-sent`);
  return {
    claim(id, nowMs) {
      if (sent(id) !== undefined) return false;
      for (let turn = 1; turn <= CLAIMS_MAX; turn++) {
        const last = queue.marked(id, `${channel}-${turn}`);
        if (last === undefined) return queue.mark(id, `${channel}-${turn}`, { at_ms: nowMs });
        if (nowMs - claimedMs(last.value) < CLAIM_MS) return false;
      }
      return false;
    },
    markSent: (id, value) => void queue.mark(id, `${channel}-sent`, value),
    sent,
  };
}

function claimedMs(value: unknown): number {
  const atMs = typeof value === 'object' && value !== null && 'at_ms' in value ? value.at_ms : 0;
  return typeof atMs === 'number' ? atMs : 0;
}

export type { Channel, Claims, RunningChannel };
export { claimsOf };
