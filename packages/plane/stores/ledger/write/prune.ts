// Retention that keeps the chain whole: a pruned event leaves its hash and the digest of its line,
// and a signed record covers all that is left of all pruned events.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from '@subluminal/contracts';
import { previewHolder } from '../chain/event-line.ts';
import { digestOf, GENESIS, hex, remainsHash } from '../chain/hash-chain.ts';
import {
  OWN_PRODUCER,
  type PolicyRecord,
  type PruneRecord,
  readPolicy,
  readPrune,
} from '../chain/ledger-events.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type { StoreTransaction } from '../sqlite/transaction.ts';
import {
  type EventRow,
  eventPages,
  type PrunedEvent,
  type TableRow,
  type Tip,
  tableRows,
} from '../store/stored-rows.ts';
import { append, type NewEvent, ownEvent } from './append.ts';

export interface PruneRequest {
  /** Runs whose last event is older. */
  readonly olderThanMs?: number;
  /** All but so many of the newest runs; with `olderThanMs`, those that are both. */
  readonly keepRuns?: number;
  /** `previews` leaves the events without what arguments and results looked like; `all`. */
  readonly what?: 'all' | 'previews';
  /** What asks for it: the retention of the configuration, or a person. */
  readonly by?: 'retention' | 'request';
}

export interface PruneResult {
  readonly runs: number;
  readonly events: number;
}

interface PruneState {
  readonly tip: Tip;
  readonly request: PruneRequest;
  readonly nowMs: number;
}

interface Pruned extends PruneResult {
  /** Undefined when nothing was there to prune. */
  readonly tip: Tip | undefined;
  readonly more: boolean;
}

const RUNS_PER_TURN = 500;
const STRAYS_PER_TURN = 10_000;
const MARKS_MAX = 64;

/** As much as one transaction takes. Whole runs only, so that the rows still agree with the events. */
export async function pruneOnce(transaction: StoreTransaction, state: PruneState): Promise<Pruned> {
  const { request, nowMs, tip } = state;
  const previews = request.what === 'previews';
  const recorded = await ownRecords(transaction);
  requireRecorded(await remainsOf(transaction), recorded.prune);
  const runIds = await transaction.staleRuns({
    beforeMs: request.olderThanMs,
    keepRuns: request.keepRuns,
    withPreviews: previews,
    limit: RUNS_PER_TURN,
  });
  let events = 0;
  for (const runId of runIds) events += await pruneRun(transaction, runId, previews);
  if (previews) await transaction.dropPreviews(runIds);
  else await transaction.dropRuns(runIds);
  const strays = previews ? 0 : await pruneStrays(transaction, request);
  events += strays;
  const more = runIds.length === RUNS_PER_TURN || strays === STRAYS_PER_TURN;
  if (events === 0) return { runs: runIds.length, events, tip: undefined, more };
  const after = await remainsOf(transaction);
  const by = request.by ?? 'request';
  const prune = { reason: reasonOf(request), by, runs: runIds.length, events, ...after };
  const own = [
    ...(previews ? [] : await policyEvents(transaction, recorded.policies, nowMs)),
    ownEvent({ type: 'ledger_prune', prune }, nowMs),
  ];
  return { runs: runIds.length, events, tip: await append(transaction, tip, own), more };
}

async function pruneRun(
  transaction: StoreTransaction,
  runId: string,
  previews: boolean,
): Promise<number> {
  let changed = 0;
  // The store answers at once: whoever asks meanwhile gets a turn here.
  await nextTurn();
  for await (const rows of eventPages(transaction, { runId })) {
    const replaced = rows
      .filter(({ producer }) => producer !== OWN_PRODUCER)
      .flatMap((row) => (previews ? withoutPreview(row) : withoutLine(row)));
    await transaction.replaceLines(replaced);
    changed += replaced.length;
  }
  return changed;
}

async function pruneStrays(
  transaction: StoreTransaction,
  { olderThanMs, keepRuns }: PruneRequest,
): Promise<number> {
  if (olderThanMs === undefined || keepRuns !== undefined) return 0;
  const rows = await transaction.strayEvents(olderThanMs, STRAYS_PER_TURN);
  await transaction.replaceLines(rows.flatMap(withoutLine));
  return rows.length;
}

function withoutLine({ seq, line, digest }: EventRow): readonly PrunedEvent[] {
  return line === null ? [] : [{ seq, digest: digest ?? digestOf(line), line: null }];
}

function withoutPreview({ seq, line, digest }: EventRow): readonly PrunedEvent[] {
  const lean = line === null ? undefined : leanLine(line);
  if (line === null || lean === undefined) return [];
  return [{ seq, digest: digest ?? digestOf(line), line: lean }];
}

/** The line with a mark where its preview was; undefined when it has none. */
function leanLine(line: string): string | undefined {
  const value: unknown = JSON.parse(line);
  const holder = isObject(value) ? previewHolder(value) : undefined;
  const preview = holder?.['preview'];
  if (holder === undefined || !isObject(preview)) return undefined;
  const { args_preview, result_preview, ...rest } = preview;
  if (args_preview === undefined && result_preview === undefined) return undefined;
  holder['preview'] = { ...rest, pruned: true };
  return JSON.stringify(value);
}

type RemainsRecord = Pick<PruneRecord, 'count' | 'hash' | 'marks'>;

/** What is left of everything that was ever pruned, as one hash. */
async function remainsOf(transaction: StoreTransaction): Promise<RemainsRecord> {
  let hash = GENESIS;
  let count = 0;
  let marks: (readonly [number, string])[] = [];
  let step = 1;
  for await (const rows of eventPages(transaction, { pruned: true })) {
    await nextTurn();
    for (const { seq, line } of rows) {
      hash = remainsHash(hash, { seq, line });
      count += 1;
      if (count % step === 0) marks.push([seq, hex(hash)]);
      if (marks.length > MARKS_MAX) {
        marks = marks.filter((_, index) => index % 2 === 1);
        step *= 2;
      }
    }
  }
  return { count, hash: hex(hash), marks };
}

/** What the ledger itself has recorded so far about pruning and policies. */
interface OwnRecords {
  readonly prune: PruneRecord | undefined;
  /** The policies, as hashes of their records. */
  readonly policies: ReadonlySet<string>;
}

async function ownRecords(transaction: StoreTransaction): Promise<OwnRecords> {
  let prune: PruneRecord | undefined;
  const policies = new Set<string>();
  for await (const rows of eventPages(transaction, { producer: OWN_PRODUCER })) {
    for (const { line } of rows) {
      if (line === null) continue;
      prune = readPrune(line) ?? prune;
      const policy = readPolicy(line);
      if (policy !== undefined) policies.add(policyKey(policy));
    }
  }
  return { prune, policies };
}

function policyKey(policy: PolicyRecord): string {
  return hex(digestOf(JSON.stringify(policy)));
}

/** What was changed since the last record must not be covered by the next one. */
function requireRecorded(found: RemainsRecord, last: PruneRecord | undefined): void {
  if (found.count === (last?.count ?? 0) && found.hash === (last?.hash ?? hex(GENESIS))) return;
  throw ledgerFailure('SUB_LEDGER_TAMPERED', 'What was pruned is not what the record says.');
}

/** A policy that only pruned events name would be lost, so the ledger records it itself. */
async function policyEvents(
  transaction: StoreTransaction,
  recorded: ReadonlySet<string>,
  nowMs: number,
): Promise<readonly NewEvent[]> {
  const events: NewEvent[] = [];
  for await (const row of tableRows(transaction, 'policy_versions')) {
    const policy = policyOf(row);
    if (!recorded.has(policyKey(policy))) {
      events.push(ownEvent({ type: 'ledger_policy', policy }, nowMs));
    }
  }
  return events;
}

function policyOf(row: TableRow): PolicyRecord {
  const text = (column: string) => String(row[column] ?? '');
  const optional = (column: string) => (row[column] === null ? null : text(column));
  return {
    policy_id: text('policy_id'),
    version: text('version'),
    rules_hash: text('rules_hash'),
    mode: optional('mode'),
    rules_json: optional('rules_json'),
    created_at_ms: Number(row['created_at']),
  };
}

function reasonOf({ olderThanMs, keepRuns, what = 'all' }: PruneRequest): string {
  const age = olderThanMs === undefined ? [] : [`before ${new Date(olderThanMs).toISOString()}`];
  const newest = keepRuns === undefined ? [] : [`all but the newest ${keepRuns} runs`];
  return [what, ...age, ...newest].join(', ');
}
