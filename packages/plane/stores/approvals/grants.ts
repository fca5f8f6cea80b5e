// Grants as files: each can be listed and revoked, and a grant for one call is used up by exactly
// one call.
import {
  type Failure,
  failure,
  type Grant,
  type GrantEnd,
  isFailure,
  parseGrant,
  parseGrantEnd,
} from '@subluminal/contracts';
import { unsafeFolder } from './files.ts';
import { covers, type GrantedCall } from './match.ts';
import { type ApprovalPorts, timeText } from './ports.ts';
import { type Damaged, type Listing, type Missing, Records } from './records.ts';
import type { RecordSeal } from './sealed-record.ts';

export type GrantState = 'active' | 'used' | 'revoked' | 'expired';

export interface GrantEntry {
  readonly kind: 'grant';
  readonly grant: Grant;
  readonly state: GrantState;
  readonly end: GrantEnd | null;
}

export type GrantChange =
  | { readonly kind: 'done'; readonly entry: GrantEntry }
  /** It was used up or revoked before. */
  | { readonly kind: 'already'; readonly entry: GrantEntry }
  | Missing
  | Damaged
  | Failure;

export type Grants = Pick<FileGrants, keyof FileGrants>;

interface GrantsOptions {
  readonly folder: string;
  readonly ports: ApprovalPorts;
  readonly seal: RecordSeal;
  readonly grantsMax?: number;
  /** Whether a stored grant counts yet; it is written before its approval. */
  readonly isGiven?: (grant: Grant) => boolean;
}

const GRANTS_MAX = 1_000;
const FILES_MAX = 10_000;

/** The grants in that folder. Nothing is made until one is given. */
export function openGrants(options: GrantsOptions): Grants | Failure {
  return unsafeFolder(options.folder) ?? new FileGrants(options);
}

class FileGrants {
  readonly #records: Records<Grant, GrantEnd>;
  readonly #ports: ApprovalPorts;
  readonly #grantsMax: number;
  readonly #isGiven: (grant: Grant) => boolean;

  constructor(options: GrantsOptions) {
    const { folder, ports, seal, grantsMax = GRANTS_MAX, isGiven = () => true } = options;
    this.#ports = ports;
    this.#grantsMax = grantsMax;
    this.#isGiven = isGiven;
    const parsers = { parseRecord: parseGrant, parseEnd: parseGrantEnd };
    this.#records = new Records({ folder, ports, seal, filesMax: FILES_MAX, ...parsers });
  }

  list(): Listing<GrantEntry> | Failure {
    const all = this.#records.all('all');
    if (isFailure(all)) return all;
    const nowMs = this.#ports.nowMs();
    const found = all.found.map(({ record, end }) => entryOf(record, end, nowMs));
    return {
      ...all,
      found: found.filter(({ grant, end }) => end !== null || this.#isGiven(grant)),
    };
  }

  get(id: string): GrantEntry | Damaged | Missing {
    const found = this.#records.get(id);
    if (found.kind !== 'found') return found;
    return entryOf(found.record, found.end, this.#ports.nowMs());
  }

  /** Undefined when it is kept; why not, otherwise. */
  add(grant: Grant): Failure | undefined {
    const all = this.#records.ids();
    if (isFailure(all)) return all;
    if (all.cut || this.#openCount(all.ids) >= this.#grantsMax) {
      return notKept('there are too many grants; revoke some.');
    }
    const written = parseGrant(grant).ok ? this.#records.create(grant) : 'too_large';
    if (written === 'taken') throw new Error('a new id was taken');
    if (isFailure(written)) return written;
    return written === 'written' ? undefined : notKept('the grant is too large to be kept.');
  }

  /** The grant that covers this call; it is not used up yet. */
  findGrant(call: GrantedCall, nowMs: number): Grant | undefined {
    return this.#fitting(call, nowMs)[0];
  }

  /** Finds a grant and takes it: of several calls that want the same one, exactly one gets it. */
  takeGrant(call: GrantedCall, nowMs: number): Grant | undefined {
    // Lasting grants come first: a grant for one call is kept for when nothing else covers it.
    for (const grant of this.#fitting(call, nowMs)) {
      if (grant.kind !== 'once') return grant;
      const end = { state: 'used', by: call.agent.agent_id.slice(0, 256) } as const;
      if (this.#end(grant.id, { ...end, call_id: call.call_id }) === 'written') return grant;
    }
    return undefined;
  }

  revoke(id: string, by: string): GrantChange {
    const entry = this.get(id);
    if (entry.kind !== 'grant') return entry;
    if (entry.end !== null) return { kind: 'already', entry };
    const written = this.#end(id, { state: 'revoked', by });
    if (typeof written !== 'string') return written;
    const now = this.get(id);
    if (now.kind !== 'grant') return now;
    return { kind: written === 'written' ? 'done' : 'already', entry: now };
  }

  /** Takes back a grant that was never given. */
  remove(id: string): void {
    this.#records.remove(id);
  }

  /** Removes what ended before that time, or was written then and never given; how many. */
  sweep(olderThanMs: number): number {
    const all = this.#records.all('all');
    if (isFailure(all)) return 0;
    const isOld = (at: string | null) => at !== null && Date.parse(at) < olderThanMs;
    const old = all.found.filter(({ record, end }) => {
      if (isOld(end?.at ?? record.expires_at)) return true;
      return end === null && isOld(record.created_at) && !this.#isGiven(record);
    });
    for (const { record } of old) this.#records.remove(record.id);
    this.#records.sweepRemains();
    return old.length;
  }

  #fitting(call: GrantedCall, nowMs: number): readonly Grant[] {
    const all = this.#records.ids();
    if (isFailure(all)) {
      this.#ports.warn?.(all.message);
      return [];
    }
    const fitting: Grant[] = [];
    for (const [id, isEnded] of all.ids) {
      if (isEnded) continue;
      const found = this.#records.get(id);
      if (found.kind === 'damaged') this.#ports.warn?.(`${found.file}: ${found.why}.`);
      if (found.kind !== 'found' || found.end !== null) continue;
      if (!covers(found.record, call, nowMs) || !this.#isGiven(found.record)) continue;
      fitting.push(found.record);
    }
    return fitting.toSorted((one, other) => RANK[one.kind] - RANK[other.kind]);
  }

  #end(id: string, how: Pick<GrantEnd, 'state' | 'by' | 'call_id'>) {
    const at = timeText(this.#ports.nowMs());
    const parsed = parseGrantEnd({ v: 1, id, at, ...how });
    if (!parsed.ok) throw new Error('the end of a grant is malformed');
    return this.#records.end(parsed.value);
  }

  /** Only a folder that looks full is read through. */
  #openCount(ids: ReadonlyMap<string, boolean>): number {
    const open = [...ids].filter(([, isEnded]) => !isEnded);
    if (open.length < this.#grantsMax) return open.length;
    return open.filter(([id]) => {
      const entry = this.get(id);
      return entry.kind !== 'grant' || entry.state === 'active';
    }).length;
  }
}

function notKept(message: string): Failure {
  return failure('SUB_APPROVAL_STORE', message, 'Approve the call without a lasting grant.');
}

const RANK = { always: 0, minutes: 1, run: 2, once: 3 } as const;

function entryOf(grant: Grant, end: GrantEnd | null, nowMs: number): GrantEntry {
  const isOver = grant.expires_at !== null && Date.parse(grant.expires_at) <= nowMs;
  const state = end?.state ?? (isOver ? 'expired' : 'active');
  return { kind: 'grant', grant, state, end };
}
