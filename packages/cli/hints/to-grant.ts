// A hint of a rule that asks people becomes a grant for the rest of its run.
import { type Failure, type Grant, isFailure, parseEventLine } from '@subluminal/contracts';
import {
  type ArgsWish,
  type Desk,
  type Entry,
  type GrantWish,
  grantFor,
} from '@subluminal/plane/approvals';
import type { StoreReader } from '@subluminal/plane/ledger';
import { TERMINAL, undecidedFailure, userName } from '../approvals/desk.ts';
import { type Hinted, promoteFailure } from './find.ts';

const PAGE_EVENTS = 1_000;
const PAGES_MAX = 10_000;

/** The request that people were asked with; undefined when the rule asks nobody. */
export async function requestOf(
  reader: Pick<StoreReader, 'events'>,
  { run_id, call_id }: Hinted,
): Promise<string | undefined> {
  let afterSeq = 0;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const rows = await reader.events({ afterSeq, limit: PAGE_EVENTS, runId: run_id });
    for (const { line } of rows) {
      const id = line?.includes(call_id) === true ? askedBy(line, call_id) : undefined;
      if (id !== undefined) return id;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_EVENTS) return undefined;
    afterSeq = last.seq;
  }
  return undefined;
}

function askedBy(line: string, callId: string): string | undefined {
  const parsed = parseEventLine(line);
  if (!parsed.ok || parsed.event.type !== 'approval') return undefined;
  const { call, approval } = parsed.event;
  return call.call_id === callId ? approval.id : undefined;
}

interface GrantPlan {
  readonly kind: 'plan';
  readonly entry: Entry;
  readonly grant: Grant;
  readonly wish: GrantWish;
}

interface Wanted {
  readonly call: Hinted;
  readonly request: string | undefined;
  readonly args: ArgsWish;
}

export function planGrant(desk: Desk, { call, request, args }: Wanted): GrantPlan | Failure {
  if (request === undefined) {
    const message = `the rule \`${call.rule_id ?? ''}\` refuses, and asks nobody: no grant answers it.`;
    return promoteFailure(message, 'Add --policy for a rule that holds for this run only.');
  }
  const entry = desk.queue.get(request);
  if (entry.kind !== 'request') {
    return promoteFailure('the request of this call is not kept any more.', 'Use --policy.');
  }
  const { run_id, args_hash, rule_id } = entry.request.call;
  // Only what the ledger and the queue agree on.
  if (run_id !== call.run_id || args_hash !== call.args_hash || rule_id !== call.rule_id) {
    return promoteFailure('the request on record is for another call.', 'Use --policy.');
  }
  const wish: GrantWish = { kind: 'run', args };
  const giver = { id: desk.ports.uuid(), by: userName(), channel: TERMINAL, note: NOTE };
  const grant = grantFor(entry.request, wish, { ...giver, nowMs: desk.ports.nowMs() });
  if (isFailure(grant)) return grant;
  return { kind: 'plan', entry, grant, wish };
}

const NOTE = 'promoted from a hint';

/** Gives the grant; a request that still waits is approved with it. */
export function giveGrant(desk: Desk, { entry, grant, wish }: GrantPlan): Grant | Failure {
  if (entry.state === 'pending') {
    const { sha256, request } = entry;
    const verdict = { by: userName(), channel: TERMINAL, note: NOTE, wish, sha256 };
    const decided = desk.decide(request.id, { state: 'approved', ...verdict });
    if (decided.kind === 'ended') {
      if (decided.grant !== null) return decided.grant;
      return promoteFailure(
        `it is approved, but nothing lasts: ${decided.lost ?? ''}`,
        'Try again.',
      );
    }
    if (decided.kind !== 'already') return undecidedFailure(decided);
  }
  const kept = desk.grants.add(grant);
  if (kept === undefined) return grant;
  if (isFailure(kept)) return kept;
  return promoteFailure('the grant cannot be kept.', 'Revoke some of `sub grants`.');
}
