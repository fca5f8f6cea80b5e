// Calls that wait for a person, as files: they outlive every process, and need none to be there.
// A request is written once, its end is written once, and the first end wins.
import { statSync } from 'node:fs';
import {
  type Approval,
  type ApprovalAbout,
  type ApprovalAgent,
  type ApprovalCall,
  type ApprovalEnd,
  type Failure,
  isFailure,
  parseApproval,
  parseApprovalEnd,
} from '@subluminal/contracts';
import { unsafeFolder } from './files.ts';
import { sameCall } from './match.ts';
import { type ApprovalPorts, type Owner, timeText } from './ports.ts';
import { type Damaged, type FoundRecord, type Listing, type Missing, Records } from './records.ts';
import type { RecordSeal } from './sealed-record.ts';
import { type Follower, QueueWatch, type Stoppable } from './watch.ts';

type EndState = ApprovalEnd['state'];
export type EntryState = 'pending' | EndState;

export interface Entry {
  readonly kind: 'request';
  readonly request: Approval;
  /** Of the request, byte for byte: a decision names the request that was seen. */
  readonly sha256: string;
  readonly state: EntryState;
  /** Null while it waits, and when its time is up but no process has recorded that yet. */
  readonly outcome: ApprovalEnd | null;
}

/** How a request that is watched has ended. Only an entry that is approved lets a call pass. */
export type Ended = Entry | Damaged | (Missing & { readonly id: string });

export interface Question {
  readonly call: ApprovalCall;
  readonly agent: ApprovalAgent;
  readonly wait: Approval['wait'];
  readonly timeoutMs: number;
  readonly askedBy: Owner;
  /** Others ask beside this principal: it leaves half of the queue to them. */
  readonly isOneOfMany?: boolean | undefined;
  readonly about?: ApprovalAbout | undefined;
}

export type Asked =
  | { readonly kind: 'asked'; readonly id: string; readonly request: Approval }
  /** The same call waits already: nobody is asked twice. */
  | { readonly kind: 'waiting'; readonly id: string; readonly request: Approval }
  | { readonly kind: 'refused'; readonly why: 'full' | 'too_large' | 'malformed' }
  | Failure;

export interface Ending {
  readonly state: EndState;
  readonly by: string;
  readonly channel: string;
  readonly note?: string;
  readonly grant?: string;
  /** The request that was seen; another one under the same id is not ended. */
  readonly sha256?: string;
}

export type EndResult =
  | { readonly kind: 'ended'; readonly entry: Entry; readonly outcome: ApprovalEnd }
  | { readonly kind: 'already'; readonly entry: Entry; readonly outcome: ApprovalEnd }
  /** The request is not the one that was seen. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'too_large' }
  | Missing
  | Damaged
  | Failure;

export type Queue = Pick<FileQueue, keyof FileQueue>;

interface QueueLimits {
  readonly pendingMax: number;
  readonly timeoutMsMax: number;
  /** How often the folder is polled where the system reports no changes, or loses one. */
  readonly pollMs: number;
}

interface QueueOptions {
  readonly folder: string;
  readonly ports: ApprovalPorts;
  readonly seal: RecordSeal;
  readonly limits?: Partial<QueueLimits>;
}

const LIMITS: QueueLimits = { pendingMax: 256, timeoutMsMax: 7 * 86_400_000, pollMs: 2_000 };
const FILES_MAX = 50_000;
const CLOCK = { by: 'time', channel: 'clock' } as const;

/** The queue in that folder. Nothing is made until something is asked. */
export function openQueue(options: QueueOptions): Queue | Failure {
  return unsafeFolder(options.folder) ?? new FileQueue(options);
}

class FileQueue {
  readonly #records: Records<Approval, ApprovalEnd>;
  readonly #ports: ApprovalPorts;
  readonly #limits: QueueLimits;
  readonly #watch: QueueWatch;

  constructor(options: QueueOptions) {
    const { folder, ports, seal } = options;
    const limits = { ...LIMITS, ...options.limits };
    this.#ports = ports;
    this.#limits = limits;
    const parsers = { parseRecord: parseApproval, parseEnd: parseApprovalEnd };
    this.#records = new Records({ folder, ports, seal, filesMax: FILES_MAX, ...parsers });
    this.#watch = new QueueWatch({
      folder,
      pollMs: limits.pollMs,
      settled: (id) => this.#settled(id),
      waiting: () => this.#waiting(),
      warn: (message) => ports.warn?.(message),
    });
  }

  ask(question: Question): Asked {
    const { call, agent, wait, timeoutMs, askedBy, isOneOfMany, about } = question;
    const nowMs = this.#ports.nowMs();
    const all = this.#records.ids();
    if (isFailure(all)) return all;
    const open = [...all.ids].flatMap(([id, isEnded]) => (isEnded ? [] : [id]));
    // An agent that tries again before anybody has answered must not fill the queue.
    const same = wait === 'hint' ? this.#pendingLike(open, call) : undefined;
    if (same !== undefined) return { kind: 'waiting', id: same.id, request: same };
    const isFull = open.length - this.#overdue(open, nowMs) >= this.#limits.pendingMax;
    const hasShare = isOneOfMany !== true || this.#hasShare(open, agent);
    if (isFull || all.cut || !hasShare) return { kind: 'refused', why: 'full' };
    const patienceMs = Math.min(timeoutMs, this.#limits.timeoutMsMax);
    const parsed = parseApproval({
      v: 1,
      id: this.#ports.uuid(),
      created_at: timeText(nowMs),
      expires_at: timeText(nowMs + Math.max(0, Math.ceil(patienceMs))),
      call,
      agent,
      wait,
      asked_by: { pid: askedBy.pid, start: askedBy.start },
      ...(about !== undefined && { about }),
    });
    if (!parsed.ok) return { kind: 'refused', why: 'malformed' };
    const request = parsed.value;
    const written = this.#records.create(request);
    if (isFailure(written)) return written;
    if (written === 'too_large') return { kind: 'refused', why: 'too_large' };
    if (written === 'taken') throw new Error('a new id was taken');
    return { kind: 'asked', id: request.id, request };
  }

  get(id: string): Entry | Damaged | Missing {
    const found = this.#records.get(id);
    return found.kind === 'found' ? this.#entry(found) : found;
  }

  list({ state }: { readonly state?: EntryState } = {}): Listing<Entry> | Failure {
    return this.#listed('all', state);
  }

  #listed(which: 'all' | 'open', state: EntryState | undefined): Listing<Entry> | Failure {
    const all = this.#records.all(which);
    if (isFailure(all)) return all;
    const found: Entry[] = [];
    const damaged = [...all.damaged];
    for (const one of all.found) {
      const entry = this.#entry(one);
      if (entry.kind === 'damaged') damaged.push(entry);
      else if (state === undefined || entry.state === state) found.push(entry);
    }
    return { found, damaged, cut: all.cut };
  }

  end(id: string, { sha256, ...ending }: Ending): EndResult {
    const entry = this.get(id);
    if (entry.kind !== 'request') return entry;
    if (entry.outcome !== null) return { kind: 'already', entry, outcome: entry.outcome };
    if (sha256 !== undefined && sha256 !== entry.sha256) return { kind: 'changed' };
    const isLate = entry.state === 'expired' && ending.state !== 'expired';
    const own = isLate ? { state: 'expired' as const, ...CLOCK } : ending;
    const at = timeText(this.#ports.nowMs());
    const parsed = parseApprovalEnd({ v: 1, id, request_sha256: entry.sha256, at, ...own });
    if (!parsed.ok) return { kind: 'too_large' };
    const outcome = parsed.value;
    const written = this.#records.end(outcome);
    if (isFailure(written)) return written;
    if (written === 'too_large') return { kind: 'too_large' };
    if (written === 'taken') return this.#winner(id);
    const ended = { ...entry, state: outcome.state, outcome };
    return { kind: isLate ? 'already' : 'ended', entry: ended, outcome };
  }

  /** Calls back once for each id, when it has ended; at once for those that have. */
  watch(ids: readonly string[], onEnd: (ended: Ended) => void): Stoppable {
    return this.#watch.watch(ids, onEnd);
  }

  /** Reports every request that waits, then each new one, and their ends. */
  follow(follower: Follower): Stoppable {
    return this.#watch.follow(follower);
  }

  /** Ends what nobody waits for any more; how many. */
  expireDue(nowMs: number): number {
    const all = this.#records.ids();
    if (isFailure(all)) return 0;
    let count = 0;
    for (const [id, isEnded] of all.ids) {
      if (isEnded) continue;
      const entry = this.get(id);
      if (entry.kind !== 'request' || Date.parse(entry.request.expires_at) > nowMs) continue;
      if (this.end(id, { state: 'expired', ...CLOCK }).kind === 'ended') count++;
    }
    return count;
  }

  /** Removes what ended before that time, and remains of crashes; how many requests. */
  sweep(olderThanMs: number): number {
    const all = this.list();
    if (isFailure(all)) return 0;
    const old = all.found.filter(({ request, state, outcome }) => {
      const endMs = Date.parse(outcome?.at ?? request.expires_at);
      return state !== 'pending' && endMs < olderThanMs;
    });
    const broken = all.damaged.filter(({ file }) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return stats !== undefined && stats.mtimeMs < olderThanMs;
    });
    const ids = [...old.map(({ request }) => request.id), ...broken.map(({ id }) => id)];
    for (const id of ids) this.#records.remove(id);
    this.#records.sweepRemains();
    return ids.length;
  }

  /** Leaves a mark of a channel beside a request; true for the process that was first. */
  mark(id: string, name: string, value: unknown): boolean {
    const written = this.#records.mark(id, name, value);
    if (isFailure(written)) this.#ports.warn?.(written.message);
    return written === 'written';
  }

  marked(id: string, name: string): { readonly value: unknown } | undefined {
    return this.#records.marked(id, name);
  }

  #entry({ record, sha256, end }: FoundRecord<Approval, ApprovalEnd>): Entry | Damaged {
    const entry = { kind: 'request', request: record, sha256 } as const;
    if (end === null) {
      const isDue = Date.parse(record.expires_at) <= this.#ports.nowMs();
      return { ...entry, state: isDue ? 'expired' : 'pending', outcome: null };
    }
    // An end that was written for other bytes, or copied here, approves nothing.
    if (end.request_sha256 === sha256) return { ...entry, state: end.state, outcome: end };
    const file = `${this.#records.folder}/${record.id}.end.json`;
    return { kind: 'damaged', id: record.id, file, why: 'it is the end of another request' };
  }

  /** The end that was written first. */
  #winner(id: string): EndResult {
    const entry = this.get(id);
    if (entry.kind !== 'request') return entry;
    if (entry.outcome === null) return { kind: 'missing' };
    return { kind: 'already', entry, outcome: entry.outcome };
  }

  /** Undefined while there is no end. A request whose time is up ends here, in writing. */
  #settled(id: string): Ended | undefined {
    const entry = this.get(id);
    if (entry.kind === 'missing') return { kind: 'missing', id };
    if (entry.kind === 'damaged' || entry.outcome !== null) return entry;
    if (entry.state === 'pending') return undefined;
    const ended = this.end(id, { state: 'expired', ...CLOCK });
    return ended.kind === 'ended' || ended.kind === 'already' ? ended.entry : entry;
  }

  /** Runs often, so it does not read what has ended, damaged ends included. */
  #waiting(): readonly Entry[] {
    const all = this.#listed('open', 'pending');
    return isFailure(all) ? [] : all.found;
  }

  #pendingLike(open: readonly string[], call: ApprovalCall): Approval | undefined {
    for (const id of open) {
      const entry = this.get(id);
      if (entry.kind !== 'request' || entry.state !== 'pending') continue;
      const { request } = entry;
      if (request.wait === 'hint' && sameCall(request.call, call)) return request;
    }
    return undefined;
  }

  #hasShare(open: readonly string[], { principal }: ApprovalAgent): boolean {
    const share = this.#limits.pendingMax / 2;
    if (open.length < share) return true;
    const own = open.filter((id) => {
      const entry = this.get(id);
      if (entry.kind !== 'request' || entry.state !== 'pending') return false;
      return entry.request.agent.principal === principal;
    });
    return own.length < share;
  }

  /** Only a queue that looks full is read through. */
  #overdue(open: readonly string[], nowMs: number): number {
    return open.length < this.#limits.pendingMax ? 0 : this.expireDue(nowMs);
  }
}
