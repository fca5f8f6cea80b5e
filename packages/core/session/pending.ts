// Requests that wait for their answer, by id. Bounded: when there is no room, new ones are refused.
import type { CallRef } from '@subluminal/contracts';
import type { Call, TraceStep } from '../policy/index.ts';

/** A forwarded call: what its end needs to be recorded. */
export interface OpenCall {
  readonly ref: CallRef;
  readonly call: Call;
  readonly trace: readonly TraceStep[];
  /** The hub decided it, and keeps its counters. */
  readonly shared: boolean;
}

export interface Open {
  readonly method: string;
  readonly sinceMs: number;
  readonly call: OpenCall | undefined;
  /** The call that waits for a person; the server has not seen it. */
  readonly heldAs: string | undefined;
}

/** Why nobody waits for a request any more, though it has no answer. */
type EndedBy = 'cancelled' | 'lost';

/** A request of the table. Its id stays taken until the answer comes, whoever waits for it. */
export interface Pending extends Open {
  /** The JSON of its id, as it was written. */
  readonly idJson: string;
  /** Set when its end is on record: a late answer still passes, and no second end is recorded. */
  readonly endedBy: EndedBy | undefined;
  readonly endedAtMs: number;
}

interface OpenLimits {
  /** How many may wait, and how many may have ended without an answer. */
  readonly openMax: number;
  /** How long the id of a request that ended without an answer stays taken at least. */
  readonly idTakenMs: number;
}

/** Digits from which on a number may be rounded by a reader that uses doubles. */
const EXACT_DIGITS_MAX = 15;

export class OpenRequests {
  private readonly waiting = new Map<string, Pending>();
  /** Ended without an answer, the first to end first. */
  private readonly ended = new Map<string, Pending>();
  private readonly limits: OpenLimits;

  constructor(limits: OpenLimits) {
    this.limits = limits;
  }

  /** How many wait for their answer. */
  get size(): number {
    return this.waiting.size;
  }

  /** The request whose id this is, whether or not anybody still waits for its answer. */
  get(idJson: string): Pending | undefined {
    const key = keyOf(idJson);
    return this.waiting.get(key) ?? this.ended.get(key);
  }

  /** True when another request finds room; forgets an id that was taken for long enough to make some. */
  makeRoom(nowMs: number): boolean {
    const { openMax, idTakenMs } = this.limits;
    if (this.waiting.size >= openMax) return false;
    // Every request that waits may end without an answer, and must find room then.
    if (this.waiting.size + this.ended.size < 2 * openMax) return true;
    for (const [key, { endedAtMs }] of this.ended) {
      if (nowMs - endedAtMs < idTakenMs) return false;
      this.ended.delete(key);
      return true;
    }
    return false;
  }

  add(idJson: string, open: Open): void {
    const { method, sinceMs, call, heldAs } = open;
    const pending = { idJson, method, sinceMs, call, heldAs, endedBy: undefined, endedAtMs: 0 };
    this.waiting.set(keyOf(idJson), pending);
  }

  /** Nobody waits for this request any more; its id stays taken. */
  end({ idJson }: Pending, endedBy: EndedBy, nowMs: number): void {
    const key = keyOf(idJson);
    const pending = this.waiting.get(key);
    if (pending === undefined) return;
    this.waiting.delete(key);
    this.ended.set(key, { ...pending, endedBy, endedAtMs: nowMs });
  }

  /** Takes a request out: it has its answer. */
  take(idJson: string): Pending | undefined {
    const key = keyOf(idJson);
    const pending = this.waiting.get(key) ?? this.ended.get(key);
    if (pending !== undefined && !this.waiting.delete(key)) this.ended.delete(key);
    return pending;
  }

  /** The requests that wait, from the oldest on. */
  entries(): Iterable<Pending> {
    return this.waiting.values();
  }

  /** The methods that an answer may belong to. */
  methods(): ReadonlySet<string> {
    const methods = new Set<string>();
    for (const { method, heldAs } of this.waiting.values())
      if (heldAs === undefined) methods.add(method);
    for (const { method } of this.ended.values()) methods.add(method);
    return methods;
  }

  clear(): void {
    this.waiting.clear();
    this.ended.clear();
  }
}

/**
 * Many peers read a number as a double and send back a rounded one: two ids that round to the same
 * are one id, or the answer to the one would be taken for the answer to the other.
 */
function keyOf(idJson: string): string {
  if (idJson.length <= EXACT_DIGITS_MAX || idJson.startsWith('"')) return idJson;
  return String(Number(idJson));
}
