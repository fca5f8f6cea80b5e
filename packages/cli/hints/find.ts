// Hints as the ledger has them: calls that were refused, each with what the agent was told.

import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { findId, shortId } from '@subluminal/plane/approvals';
import type { CallDetail, StoreReader } from '@subluminal/plane/ledger';
import { findRun } from '../ledger/user-ledger.ts';

/** Hints are about the arguments of a tool; a turn gets none. */
export type Hinted = Extract<CallDetail, { readonly kind: 'tool_call' }> & {
  readonly hint: NonNullable<CallDetail['hint']>;
};

/** So many are looked through for an id. */
const SEARCHED_MAX = 10_000;
const PAGE_MAX = 1_000;

/** The newest hints, of one run or of all. */
export async function hintsOf(
  reader: StoreReader,
  run: string | undefined,
  limit: number,
): Promise<readonly Hinted[] | Failure> {
  const rows = await refusedCalls(reader, run, limit);
  if (isFailure(rows)) return rows;
  const hints: Hinted[] = [];
  for (const { run_id, call_id } of rows) {
    const call = await reader.call(run_id, call_id);
    if (call !== undefined && isHinted(call)) hints.push(call);
  }
  return hints;
}

async function refusedCalls(reader: StoreReader, run: string | undefined, limit: number) {
  const runId = run === undefined ? undefined : await findRun(reader, run);
  if (isFailure(runId)) return runId;
  const filter = { decision: 'REJECT_WITH_HINT' as const, ...(runId !== undefined && { runId }) };
  const rows: { readonly run_id: string; readonly call_id: string }[] = [];
  let cursor: string | undefined;
  while (rows.length < limit) {
    const count = Math.min(PAGE_MAX, limit - rows.length);
    const request = { limit: count, ...(cursor !== undefined && { cursor }) };
    const page = await reader.calls(filter, request);
    rows.push(...page.rows);
    if (page.next === null) break;
    cursor = page.next;
  }
  return rows;
}

function isHinted(call: CallDetail): call is Hinted {
  return call.kind === 'tool_call' && call.hint !== null;
}

/** The one hint that is meant. */
export async function findHint(
  reader: StoreReader,
  id: string,
  run: string | undefined,
): Promise<Hinted | Failure> {
  const rows = await refusedCalls(reader, run, SEARCHED_MAX);
  if (isFailure(rows)) return rows;
  const ids = [...new Set(rows.map(({ call_id }) => call_id))];
  const found = ids.includes(id) ? ({ kind: 'id', id } as const) : findId(ids, id);
  if (found.kind === 'several') return severalHints(id, found.ids);
  const fitting = found.kind === 'id' ? rows.filter(({ call_id }) => call_id === found.id) : [];
  const runs = fitting.map(({ run_id }) => `--run ${run_id}`);
  if (runs.length > 1) return severalHints(id, runs);
  const [first] = fitting;
  const call = first && (await reader.call(first.run_id, first.call_id));
  if (call !== undefined && isHinted(call)) return call;
  return failure('SUB_HINT_UNKNOWN', `there is no hint \`${id}\`.`, 'See `sub hints`.');
}

function severalHints(id: string, others: readonly string[]): Failure {
  const message = `\`${id}\` fits ${others.length} hints.`;
  return failure('SUB_HINT_UNKNOWN', message, `Give more of it, like ${others[0]}.`);
}

export function promoteFailure(message: string, fix: string): Failure {
  return failure('SUB_HINT_PROMOTE', message, fix);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The end of an id is random; ids of others may be anything. */
export function hintId(callId: string): string {
  return UUID.test(callId) ? shortId(callId) : callId;
}
