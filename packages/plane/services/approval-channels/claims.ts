// What processes that run the same channel tell each other about requests, as marks beside them.
import { isObject } from '@subluminal/contracts';
import type { ApprovalPorts, Owner } from '../../stores/approvals/ports.ts';
import type { Queue } from '../../stores/approvals/queue.ts';

/** How often one thing is begun, over all processes and all starts. */
const CLAIMS_MAX = 20;
/** Who has claimed a request and has not told anybody within this time has died. */
export const CLAIM_MS = 60_000;

type Claim =
  /** This process shall do it now. */
  | { readonly kind: 'mine' }
  /** It is done. */
  | { readonly kind: 'done' }
  /** Another process is at it; look again then. */
  | { readonly kind: 'taken'; readonly againMs: number }
  /** It was begun too often. */
  | { readonly kind: 'spent' };

export interface Claims {
  claim(id: string): Claim;
  /** Says that it is done, and what is needed to find it again. */
  markDone(id: string, value: unknown): void;
  done(id: string): { readonly value: unknown } | undefined;
  /** Whether anybody ever began it. */
  isBegun(id: string): boolean;
}

export function claimsOf(queue: Queue, ports: ApprovalPorts, name: string): Claims {
  const done = (id: string) => queue.marked(id, `${name}-sent`);
  const begin = (id: string, turn: number): Claim => {
    const value = { at_ms: ports.nowMs(), ...(ports.self !== undefined && { by: ports.self }) };
    const isFirst = queue.mark(id, `${name}-${turn}`, value);
    return isFirst ? { kind: 'mine' } : { kind: 'taken', againMs: CLAIM_MS };
  };
  return {
    claim(id) {
      if (done(id) !== undefined) return { kind: 'done' };
      for (let turn = 1; turn <= CLAIMS_MAX; turn++) {
        const last = queue.marked(id, `${name}-${turn}`);
        if (last === undefined) return begin(id, turn);
        const leftMs = leftOf(last.value, ports);
        if (leftMs > 0) return { kind: 'taken', againMs: leftMs };
      }
      return { kind: 'spent' };
    },
    markDone: (id, value) => void queue.mark(id, `${name}-sent`, value),
    done,
    isBegun: (id) => queue.marked(id, `${name}-1`) !== undefined,
  };
}

/** How long a claim must still be heeded. */
function leftOf(value: unknown, ports: ApprovalPorts): number {
  const { at_ms: atMs, by } = isObject(value) ? value : {};
  const owner = ownerOf(by);
  if (owner !== undefined && ports.isGone !== undefined) {
    // One of our own that is over did not work; whoever lives tries again by itself.
    const isOver = isSame(owner, ports.self) || ports.isGone(owner);
    return isOver ? 0 : CLAIM_MS;
  }
  return typeof atMs === 'number' ? Math.min(CLAIM_MS, atMs + CLAIM_MS - ports.nowMs()) : 0;
}

function ownerOf(value: unknown): Owner | undefined {
  if (!isObject(value)) return undefined;
  const { pid, start } = value;
  return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined;
}

function isSame(one: Owner, other: Owner | undefined): boolean {
  return one.pid === other?.pid && one.start === other.start;
}
