// What all channels share: each request is told once, whoever runs and however often they are
// started; what did not work is tried again; and whoever was told hears of the end.

import { isFailure } from '@subluminal/contracts';
import type { Desk } from '../../stores/approvals/desk.ts';

import type { Ended, Entry } from '../../stores/approvals/queue.ts';
import type { Stop } from '../../stores/approvals/watch.ts';
import { CLAIM_MS, type Claims, claimsOf } from './claims.ts';

export type Told =
  /** A person was told; the value is what is needed to find it again. */
  | { readonly kind: 'told'; readonly value: unknown }
  /** It did not work, and may later. */
  | { readonly kind: 'later' }
  /** It did not work, and will not. */
  | { readonly kind: 'never' };

export interface Telling {
  tell(entry: Entry): Promise<Told>;
  /** A person knows of it: since now, or since before this process began. */
  known?(entry: Entry, value: unknown): void;
  /** It is over. True when whoever was told knows that. */
  ended?(ended: Ended, value: unknown): Promise<boolean>;
  /** Whether the end is told, too, where a process died before it knew that a person was told. */
  readonly isEndOfUnsureTold?: boolean;
}

/** Ends of that age are still told to whoever was told of the request, by a new process. */
const CATCH_UP_MS = 86_400_000;

export class Teller {
  readonly #desk: Desk;
  readonly #telling: Telling;
  readonly #claims: Claims;
  readonly #endClaims: Claims;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #underWay = new Set<Promise<void>>();
  #following: Stop | undefined;
  #isStopped = false;

  constructor(desk: Desk, name: string, telling: Telling) {
    this.#desk = desk;
    this.#telling = telling;
    this.#claims = claimsOf(desk.queue, desk.ports, name);
    this.#endClaims = claimsOf(desk.queue, desk.ports, `${name}-end`);
  }

  begin(): void {
    const { queue } = this.#desk;
    this.#following = queue.follow({
      onRequest: (entry) => this.#look(entry),
      onEnd: (ended) => this.#over(ended),
    });
    if (this.#telling.ended !== undefined) this.#catchUp();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#following?.stop();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await Promise.all(this.#underWay);
  }

  /** What ended while nobody ran this channel. */
  #catchUp(): void {
    const { queue, ports } = this.#desk;
    const all = queue.list();
    if (isFailure(all)) return;
    const sinceMs = ports.nowMs() - CATCH_UP_MS;
    for (const entry of all.found) {
      if (entry.outcome === null || Date.parse(entry.outcome.at) <= sinceMs) continue;
      const { id } = entry.request;
      const isUnsure = this.#claims.done(id) === undefined && this.#claims.isBegun(id);
      if (isUnsure && this.#telling.isEndOfUnsureTold === true) this.#end(entry, id, undefined);
      else this.#over(entry);
    }
  }

  #look(entry: Entry): void {
    if (this.#isStopped) return;
    const { id } = entry.request;
    const done = this.#claims.done(id);
    if (done !== undefined) return this.#telling.known?.(entry, done.value);
    const claim = this.#claims.claim(id);
    if (claim.kind === 'mine') this.#start(this.#tell(entry));
    else if (claim.kind === 'taken') this.#later(entry, claim.againMs);
    else if (claim.kind === 'spent') {
      this.#desk.ports.warn?.(`It was tried too often to tell of ${id}; see \`sub approvals\`.`);
    }
  }

  async #tell(entry: Entry): Promise<void> {
    const { id } = entry.request;
    const told = await this.#telling.tell(entry);
    if (told.kind === 'later') return this.#later(entry, CLAIM_MS);
    if (told.kind === 'never') return;
    this.#claims.markDone(id, told.value);
    this.#telling.known?.(entry, told.value);
    // It may have ended meanwhile, when nobody had been told yet.
    const now = this.#desk.queue.get(id);
    if (now.kind !== 'request' || now.outcome !== null) {
      this.#over(now.kind === 'missing' ? { kind: 'missing', id } : now);
    }
  }

  #later(entry: Entry, afterMs: number): void {
    if (this.#isStopped) return;
    const { id } = entry.request;
    clearTimeout(this.#timers.get(id));
    const again = () => {
      this.#timers.delete(id);
      const now = this.#desk.queue.get(id);
      if (now.kind === 'request' && now.state === 'pending') this.#look(now);
    };
    this.#timers.set(id, setTimeout(again, afterMs));
  }

  #over(ended: Ended): void {
    const id = ended.kind === 'request' ? ended.request.id : ended.id;
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const done = this.#claims.done(id);
    if (done !== undefined) this.#end(ended, id, done.value);
  }

  #end(ended: Ended, id: string, value: unknown): void {
    const telling = this.#telling;
    if (this.#isStopped || telling.ended === undefined) return;
    if (this.#endClaims.claim(id).kind !== 'mine') return;
    this.#start(
      telling.ended(ended, value).then((isKnown) => {
        if (isKnown) this.#endClaims.markDone(id, {});
      }),
    );
  }

  #start(work: Promise<void>): void {
    const done = work
      .catch((cause: unknown) => {
        // A defect of a channel must not end the process that runs the others.
        const name = cause instanceof Error ? cause.name : 'unknown';
        this.#desk.ports.warn?.(`Somebody could not be told of a request (${name}).`);
      })
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }
}
