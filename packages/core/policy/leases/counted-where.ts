// Who counts a call: a process that knows only its own calls, or all of a run together.
import {
  type CompiledRule,
  candidatesFor,
  policiesIn,
  type Snapshot,
} from '../compile/snapshot.ts';
import type { Call } from '../model/call.ts';

/** It follows from the names of a call alone, so each counter is kept in one place. */
export type CountedWhere =
  /** No rule counts it together with calls of other servers. */
  | { readonly kind: 'here' }
  /** Where it is decided, by calls that were leased of the shared counters of these rules. */
  | { readonly kind: 'leased'; readonly rules: readonly CompiledRule[] }
  /** In the one place that knows all calls of the run. */
  | { readonly kind: 'together' };

const HERE: CountedWhere = { kind: 'here' };
const TOGETHER: CountedWhere = { kind: 'together' };
/** By the list of rules that names can match, which never changes. */
const known = new WeakMap<readonly CompiledRule[], CountedWhere>();

export function countedWhere(
  snapshot: Snapshot,
  call: Pick<Call, 'server_name' | 'tool_name' | 'subject'>,
): CountedWhere {
  const candidates = candidatesFor(snapshot, call);
  if (snapshot.tightenedBy !== undefined) {
    return countedBy(policiesIn(snapshot).flatMap((policy) => candidatesFor(policy, call)));
  }
  const remembered = known.get(candidates);
  if (remembered !== undefined) return remembered;
  const where = countedBy(candidates);
  known.set(candidates, where);
  return where;
}

function countedBy(candidates: readonly CompiledRule[]): CountedWhere {
  const shared = candidates.filter(({ rule, kind }) => kind.countsAcrossServers?.(rule) === true);
  if (shared.length === 0) return HERE;
  // A call that waits for a person is decided again later, with what is left then.
  const isAsked = candidates.some(({ kind }) => kind.role === 'asks');
  const isLeased = shared.every(({ rule, kind }) => kind.leasing?.allows(rule) === true);
  return isLeased && !isAsked ? { kind: 'leased', rules: shared } : TOGETHER;
}
