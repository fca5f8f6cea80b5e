// Where a person's decision takes effect: the request ends, and the grant that they wish for is given.
// Every channel, the commands and the HTTP API decide through here.
import { join } from 'node:path';
import {
  type ApprovalEnd,
  definedFields,
  type Failure,
  type Grant,
  isFailure,
} from '@subluminal/contracts';
import { homeSeal } from '../../os/crypto/index.ts';
import { type Grants, openGrants } from './grants.ts';
import { type GrantedCall, sameCall } from './match.ts';
import type { ApprovalPorts } from './ports.ts';
import { type GrantWish, grantFor } from './propose.ts';
import { type Ended, type EndResult, type Entry, openQueue, type Queue } from './queue.ts';
import { recordSeal } from './sealed-record.ts';

export interface PersonVerdict {
  readonly state: 'approved' | 'rejected';
  readonly by: string;
  readonly channel: string;
  readonly note?: string | undefined;
  /** The request that was seen. */
  readonly sha256?: string | undefined;
  /** What shall last. A call that may be tried again is granted once without it. */
  readonly wish?: GrantWish | undefined;
}

export type Decided =
  | {
      readonly kind: 'ended';
      readonly entry: Entry;
      readonly outcome: ApprovalEnd;
      readonly grant: Grant | null;
      /** Approved, but nothing lasts: why the grant could not be kept. */
      readonly lost: string | null;
    }
  | Exclude<EndResult, { readonly kind: 'ended' }>;

export interface Desk {
  readonly queue: Queue;
  readonly grants: Grants;
  readonly ports: ApprovalPorts;
  decide(id: string, verdict: PersonVerdict): Decided;
}

interface DeskOptions {
  /** `$SUB_HOME`. */
  readonly home: string;
  readonly ports: ApprovalPorts;
  readonly pollMs?: number;
}

const NOTE_LENGTH_MAX = 2_000;
const WHO_LENGTH_MAX = 256;

export function openDesk({ home, ports, pollMs }: DeskOptions): Desk | Failure {
  const key = homeSeal(home);
  const place = (name: string) => {
    return { folder: join(home, name), ports, seal: recordSeal(key, name) };
  };
  const queue = openQueue({ ...place('approvals'), limits: definedFields({ pollMs }) });
  if (isFailure(queue)) return queue;
  const isGiven = (grant: Grant) => isNamedIn(queue, grant);
  const grants = openGrants({ ...place('grants'), isGiven });
  if (isFailure(grants)) return grants;
  const parts = { queue, grants, ports };
  return { ...parts, decide: (id, verdict) => decide(parts, id, verdict) };
}

/**
 * Written before the end of its request, it counts when that end is an approval that names it. A
 * lasting grant outlives its request: `FileGrants.sweep` removes first what was never given.
 */
function isNamedIn(queue: Queue, { id, kind, request }: Grant): boolean {
  const entry = queue.get(request);
  if (entry.kind === 'missing') return kind !== 'once';
  if (entry.kind !== 'request' || entry.outcome?.state !== 'approved') return false;
  return entry.outcome.grant === id;
}

function decide(
  { queue, grants, ports }: Omit<Desk, 'decide'>,
  id: string,
  verdict: PersonVerdict,
) {
  const entry = queue.get(id);
  if (entry.kind !== 'request') return entry;
  const said = {
    by: verdict.by.slice(0, WHO_LENGTH_MAX) || 'unknown',
    channel: verdict.channel,
    ...(verdict.note && { note: verdict.note.slice(0, NOTE_LENGTH_MAX) }),
  };
  const wish = wishOf(verdict, entry);
  const nowMs = ports.nowMs();
  const grant = wish && grantFor(entry.request, wish, { id: ports.uuid(), ...said, nowMs });
  if (grant?.kind === 'failure') return grant;
  // Written before the end, and counts from the end on: an agent that goes on the moment the end is
  // there must find it. A crash in between leaves a grant that covers nothing.
  const kept = grant && grants.add(grant);
  const ended = queue.end(id, {
    state: verdict.state,
    ...said,
    sha256: verdict.sha256 ?? entry.sha256,
    ...(grant !== undefined && { grant: grant.id }),
  });
  if (ended.kind !== 'ended') {
    if (grant !== undefined) grants.remove(grant.id);
    return ended;
  }
  const lost = kept?.message ?? null;
  return { ...ended, grant: lost === null ? (grant ?? null) : null, lost };
}

function wishOf({ state, wish }: PersonVerdict, { request }: Entry): GrantWish | undefined {
  if (state === 'rejected') return undefined;
  return wish ?? (request.wait === 'hint' ? { kind: 'once' } : undefined);
}

/**
 * Whether the end of a request lets this call pass: it was approved, whole, and for exactly this
 * call. Everything else, damage included, does not.
 */
export function approves(ended: Ended, call: Omit<GrantedCall, 'agent' | 'args'>): boolean {
  if (ended.kind !== 'request' || ended.outcome?.state !== 'approved') return false;
  return sameCall(ended.request.call, call) && ended.request.call.call_id === call.call_id;
}
