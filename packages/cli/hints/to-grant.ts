// A hint of a rule that asks for approval becomes a grant for the rest of its run.
import { type Failure, type Grant, isFailure, parseEventLine } from '@subluminal/contracts';
import { type ArgsWish, type Desk, type Entry, grantFor } from '@subluminal/plane/approvals';
import type { StoreReader } from '@subluminal/plane/ledger';
import { undecidedFailure } from '../approvals/desk.ts';
import { orThrow } from '../input/command.ts';
import { eventRows } from '../ledger/user-ledger.ts';
import { type Hinted, promoteFailure } from './find.ts';

/** The id of the approval request for the call; undefined when its rule asks for no approval. */
export async function requestOf(
  reader: Pick<StoreReader, 'events'>,
  { run_id, call_id }: Hinted,
): Promise<string | undefined> {
  for await (const { line } of eventRows(reader, { runId: run_id })) {
    if (line?.includes(call_id) !== true) continue;
    const parsed = parseEventLine(line);
    if (!parsed.ok || parsed.event.type !== 'approval') continue;
    if (parsed.event.call.call_id === call_id) return parsed.event.approval.id;
  }
  return undefined;
}

interface GrantPlan {
  readonly entry: Entry;
  readonly grant: Grant;
  readonly args: ArgsWish;
}

const note = 'promoted from a hint';

/** Where grants are kept, and who gives this one by which channel. */
interface GrantGiver {
  readonly desk: Desk;
  readonly giver: { readonly by: string; readonly channel: string };
}

/** Throws its failure. */
export function planGrant(
  { desk, giver }: GrantGiver,
  { call, request }: { readonly call: Hinted; readonly request: string | undefined },
  args: ArgsWish,
): GrantPlan {
  if (request === undefined) {
    const message = `the rule \`${call.rule_id ?? ''}\` refuses, and asks nobody: no grant answers it.`;
    const fix = 'Add --policy for a rule that holds for this run only.';
    return orThrow(promoteFailure(message, fix));
  }
  const entry = desk.queue.get(request);
  if (entry.kind !== 'request') {
    const message = 'the request of this call is not kept any more.';
    return orThrow(promoteFailure(message, 'Use --policy.'));
  }
  const { run_id, args_hash, rule_id } = entry.request.call;
  // The ledger and the queue must agree about the call.
  if (run_id !== call.run_id || args_hash !== call.args_hash || rule_id !== call.rule_id) {
    return orThrow(promoteFailure('the request on record is for another call.', 'Use --policy.'));
  }
  const given = { ...giver, note, id: desk.ports.uuid(), nowMs: desk.ports.nowMs() };
  return { entry, grant: orThrow(grantFor(entry.request, { kind: 'run', args }, given)), args };
}

/** Creates the grant; a request that is still pending is approved with it. */
export function giveGrant(
  { desk, giver }: GrantGiver,
  { entry, grant, args }: GrantPlan,
): Grant | Failure {
  if (entry.state === 'pending') {
    const { sha256, request } = entry;
    const verdict = { state: 'approved', wish: { kind: 'run', args }, sha256 } as const;
    const decided = desk.decide(request.id, { ...giver, note, ...verdict });
    if (decided.kind === 'ended') {
      const message = `it is approved, but nothing lasts: ${decided.lost ?? ''}`;
      return decided.grant ?? promoteFailure(message, 'Try again.');
    }
    if (decided.kind !== 'already') return undecidedFailure(decided);
  }
  const kept = desk.grants.add(grant);
  if (kept === undefined) return grant;
  if (isFailure(kept)) return kept;
  return promoteFailure('the grant cannot be kept.', 'Revoke some of `sub grants`.');
}
