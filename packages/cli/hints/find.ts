// Hints as the ledger has them: calls that were refused, each with the hint that the agent got.
import { definedFields, type Failure, failure } from '@subluminal/contracts';
import { findId } from '@subluminal/plane/approvals';
import type { CallDetail, CallRow, RunRow, StoreReader } from '@subluminal/plane/ledger';
import { orThrow } from '../input/command.ts';
import { findRun, gatherPages } from '../ledger/user-ledger.ts';

/** Hints are about the arguments of a tool; a turn gets none. */
export type Hinted = Extract<CallDetail, { readonly kind: 'tool_call' }> & {
  readonly hint: NonNullable<CallDetail['hint']>;
};

/** How many of the newest hints are searched for an id. */
const SEARCHED_MAX = 10_000;

/** The newest hints, of one run or of all. */
export async function listHints(
  reader: StoreReader,
  run: string | undefined,
  limit: number,
): Promise<readonly Hinted[]> {
  return hintsOf(reader, await refusedCalls(reader, run, limit));
}

/** Those of the calls that have a hint, with it. */
export async function hintsOf(
  reader: Pick<StoreReader, 'call'>,
  rows: readonly CallRow[],
): Promise<readonly Hinted[]> {
  const hints: Hinted[] = [];
  for (const { run_id, call_id } of rows) {
    const call = await reader.call(run_id, call_id);
    if (call !== undefined && isHinted(call)) hints.push(call);
  }
  return hints;
}

async function refusedCalls(
  reader: StoreReader,
  run: string | undefined,
  limit: number,
): Promise<readonly CallRow[]> {
  const runId = run === undefined ? undefined : orThrow(await findRun(reader, run));
  const filter = definedFields({ decision: 'REJECT_WITH_HINT' as const, runId });
  return (await gatherPages((request) => reader.calls(filter, request), limit)).rows;
}

export function isHinted(call: CallDetail): call is Hinted {
  return call.kind === 'tool_call' && call.hint !== null;
}

/** The hint with this id, or with a unique start or end of it. */
export async function findHint(
  reader: StoreReader,
  id: string,
  run: string | undefined,
): Promise<Hinted | Failure> {
  const rows = await refusedCalls(reader, run, SEARCHED_MAX);
  const ids = [...new Set(rows.map(({ call_id }) => call_id))];
  const found = ids.includes(id) ? ({ kind: 'id', id } as const) : findId(ids, id);
  if (found.kind === 'several') return severalHints(id, found.ids);
  const matching = found.kind === 'id' ? rows.filter(({ call_id }) => call_id === found.id) : [];
  const runs = matching.map(({ run_id }) => `--run ${run_id}`);
  if (runs.length > 1) return severalHints(id, runs);
  const [first] = matching;
  const call = first && (await reader.call(first.run_id, first.call_id));
  if (call !== undefined && isHinted(call)) return call;
  return unknownHint(id);
}

export function unknownHint(id: string): Failure {
  return failure('SUB_HINT_UNKNOWN', `there is no hint \`${id}\`.`, 'See `sub hints`.');
}

export interface FoundHint {
  readonly call: Hinted;
  readonly run: RunRow;
  /** The request for approval; undefined when the rule asks nobody, or it does not matter. */
  readonly request: string | undefined;
}

/** What holds for a run only is of no use once the run has ended. */
export function requirePromotable({ run }: FoundHint, isForRun: boolean): Failure | undefined {
  if (!isForRun || run.status === null) return undefined;
  const message = `the run ${run.run_id} has ended: nothing would come of it.`;
  return promoteFailure(message, 'Use --policy without --session.');
}

function severalHints(id: string, others: readonly string[]): Failure {
  const message = `\`${id}\` fits ${others.length} hints.`;
  return failure('SUB_HINT_UNKNOWN', message, `Give more of it, like ${others[0]}.`);
}

export function promoteFailure(message: string, fix: string): Failure {
  return failure('SUB_HINT_PROMOTE', message, fix);
}
