// Requests that wait for their answer, by id. Bounded: what nobody waits for any more goes first.
import type { CallRef } from '@subluminal/contracts';
import type { Call, TraceStep } from '../policy/index.ts';

/** A forwarded call: what its end needs to be recorded. */
interface OpenCall {
  readonly ref: CallRef;
  readonly call: Call;
  readonly trace: readonly TraceStep[];
  /** The hub decided it, and keeps its counters. */
  readonly shared: boolean;
}

interface Open {
  readonly method: string;
  readonly sinceMs: number;
  readonly call: OpenCall | undefined;
  /** The call that waits for a person; the server has not seen it. */
  readonly heldAs: string | undefined;
  /** Its end is on record: a late answer still passes, and nothing more is told of it. */
  settled: boolean;
}

class OpenRequests {
  private readonly byId = new Map<string, Open>();
  private readonly openMax: number;

  constructor(openMax: number) {
    this.openMax = openMax;
  }

  get size(): number {
    return this.byId.size;
  }

  get(id: string): Open | undefined {
    return this.byId.get(id);
  }

  /** Whether another request finds room. */
  hasRoom(): boolean {
    if (this.byId.size < this.openMax) return true;
    for (const [id, { settled }] of this.byId) {
      if (settled) {
        this.byId.delete(id);
        return true;
      }
    }
    return false;
  }

  add(id: string, open: Open): void {
    // A settled namesake must not keep the new request's place in the order.
    this.byId.delete(id);
    this.byId.set(id, open);
  }

  /** Takes a request out: it has its answer. */
  take(id: string): Open | undefined {
    const open = this.byId.get(id);
    if (open !== undefined) this.byId.delete(id);
    return open;
  }

  /** The requests from the oldest on. */
  entries(): Iterable<[string, Open]> {
    return this.byId;
  }

  clear(): void {
    this.byId.clear();
  }
}

export type { Open, OpenCall };
export { OpenRequests };
