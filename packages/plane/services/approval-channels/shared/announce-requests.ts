// What all approval channels share. Several processes may run the same channel over the same queue:
// claims, kept as marks beside the requests, make sure that each request is announced once, that a
// failed announcement is tried again, and that the people who were asked learn of its end.
import { definedFields, isFailure, isObject } from '@subluminal/contracts';
import type { Desk } from '../../../stores/approvals/desk.ts';
import type { ApprovalPorts, Owner } from '../../../stores/approvals/ports.ts';
import type { Ended, Entry } from '../../../stores/approvals/queue.ts';
import type { Stoppable } from '../../../stores/approvals/watch.ts';
import type { ApprovalSettings, Env } from '../../../stores/config/index.ts';
import type { CallbackAnswer, CallbackRequest } from './signed-callback.ts';

/** A way to reach people. A further channel is a folder with such a member and a line in `index.ts`. */
export interface ApprovalChannel {
  readonly name: string;
  /** Null when the table `[approvals]` of config.toml does not turn the channel on. */
  configure(settings: ApprovalSettings): ConfiguredChannel | null;
}

interface ConfiguredChannel {
  /** References to the secrets without which it stays off, by their key in its table. */
  readonly secretRefs: { readonly [key: string]: string };
  start(options: {
    readonly desk: Desk;
    /** By the keys of `secretRefs`. */
    readonly secrets: { readonly [key: string]: string };
    readonly env: Env;
  }): { readonly running: RunningChannel; readonly callback?: ChannelCallback };
}

/** Where answers come in over HTTP. */
export interface ChannelCallback {
  readonly path: string;
  readonly bytesMax: number;
  readonly answer: (request: CallbackRequest) => CallbackAnswer | Promise<CallbackAnswer>;
}

export interface RunningChannel {
  /** Resolves when nothing of the channel is under way any more. */
  stop(): Promise<void>;
}

export interface AnnounceResult {
  /** A person was told; it did not work and may later; or it did not work and will not. */
  readonly kind: 'told' | 'later' | 'never';
  /** What is needed to find the announcement again. */
  readonly value?: unknown;
}

interface RequestAnnouncer {
  tell(entry: Entry): Promise<AnnounceResult>;
  /** A person knows of it: since now, or since before this process began. */
  known?(entry: Entry, value: unknown): void;
  /** It is over. True when the people who were told know that. */
  ended?(ended: Ended, value: unknown): Promise<boolean>;
  /** Whether an end is announced even when a process died while it announced the request. */
  readonly isEndOfUnsureTold?: boolean;
}

/** A new process still announces ends of that age to the people who knew of the request. */
const CATCH_UP_MS = 86_400_000;

/** Announces each request that waits, once, and its end. */
export class RequestFollower implements RunningChannel {
  readonly #desk: Desk;
  readonly #telling: RequestAnnouncer;
  readonly #claims: Claims;
  readonly #endClaims: Claims;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #following: Stoppable;
  #isStopped = false;

  constructor(desk: Desk, name: string, telling: RequestAnnouncer) {
    this.#desk = desk;
    this.#telling = telling;
    this.#claims = new Claims(desk, name);
    this.#endClaims = new Claims(desk, `${name}-end`);
    this.#following = desk.queue.follow({
      onRequest: (entry) => this.#look(entry),
      onEnd: (ended) => this.#over(ended),
    });
    if (telling.ended !== undefined) this.#catchUp();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#following.stop();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await Promise.all(this.#underWay);
  }

  /** Announces ends from the time when no process ran this channel. */
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

/** How often one thing is begun, over all processes and all starts. */
const CLAIMS_MAX = 20;
/** A process that has claimed a request and has told nobody within this time has died. */
const CLAIM_MS = 60_000;

type Claim =
  /** This process shall do it now. */
  | { readonly kind: 'mine' }
  /** It is done. */
  | { readonly kind: 'done' }
  /** Another process is at it; look again then. */
  | { readonly kind: 'taken'; readonly againMs: number }
  /** It was begun too often. */
  | { readonly kind: 'spent' };

/** Which process does one thing for each request. */
export class Claims {
  readonly #desk: Desk;
  readonly #name: string;

  constructor(desk: Desk, name: string) {
    this.#desk = desk;
    this.#name = name;
  }

  claim(id: string): Claim {
    if (this.done(id) !== undefined) return { kind: 'done' };
    const { queue, ports } = this.#desk;
    for (let turn = 1; turn <= CLAIMS_MAX; turn++) {
      const mark = `${this.#name}-${turn}`;
      const last = queue.marked(id, mark);
      if (last === undefined) {
        const value = { at_ms: ports.nowMs(), ...definedFields({ by: ports.self }) };
        const isFirst = queue.mark(id, mark, value);
        return isFirst ? { kind: 'mine' } : { kind: 'taken', againMs: CLAIM_MS };
      }
      const leftMs = claimLeftMs(last.value, ports);
      if (leftMs > 0) return { kind: 'taken', againMs: leftMs };
    }
    return { kind: 'spent' };
  }

  /** Records that it is done, with what is needed to find it again. */
  markDone(id: string, value: unknown): void {
    this.#desk.queue.mark(id, `${this.#name}-sent`, value);
  }

  done(id: string): { readonly value: unknown } | undefined {
    return this.#desk.queue.marked(id, `${this.#name}-sent`);
  }

  /** Whether any process ever began it. */
  isBegun(id: string): boolean {
    return this.#desk.queue.marked(id, `${this.#name}-1`) !== undefined;
  }
}

/** How long a claim must still be heeded. */
function claimLeftMs(value: unknown, ports: ApprovalPorts): number {
  const { at_ms: atMs, by } = isObject(value) ? value : {};
  const owner = readOwner(by);
  const { self } = ports;
  if (owner !== undefined && ports.isGone !== undefined) {
    // An own claim that is over has failed; another process that lives tries again by itself.
    const isOwn = owner.pid === self?.pid && owner.start === self.start;
    return isOwn || ports.isGone(owner) ? 0 : CLAIM_MS;
  }
  return typeof atMs === 'number' ? Math.min(CLAIM_MS, atMs + CLAIM_MS - ports.nowMs()) : 0;
}

function readOwner(value: unknown): Owner | undefined {
  if (!isObject(value)) return undefined;
  const { pid, start } = value;
  return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined;
}
