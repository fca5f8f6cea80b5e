// The ledger of this user, for commands: find it, read it, write it, and find a run in it.
import { readdir } from 'node:fs/promises';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import {
  ensureLedgerd,
  findLedger as findLedgerFor,
  type LedgerHome,
  withWriter as openForWriting,
  withReader,
} from '@subluminal/plane/daemon';
import { createLedgerClient } from '@subluminal/plane/ingest';
import type { ChainReader, Ledger, Page, RunRow, StoreReader } from '@subluminal/plane/ledger';
import { isAnswered } from '@subluminal/plane/os';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless } from '../terminal/text.ts';

export { findVerifier } from '@subluminal/plane/daemon';
export { type LedgerHome, withReader };

/** Finds the ledger by the configuration. Opens and makes nothing. */
export function findLedger(): Promise<LedgerHome | Failure> {
  const notice = (message: string) => void process.stderr.write(`sub: ${message}\n`);
  return findLedgerFor({ env: process.env, cwd: process.cwd(), onProblem: printProblem, notice });
}

/** A configuration may have several problems: one line each, and the last is the failure. */
export function printProblem({ code, message, fix }: Failure): void {
  process.stderr.write(`sub: ${harmless(message)} ${harmless(fix)} [${code}]\n`);
}

/** Runs `work` on the ledger of this user, with the newest events in it. */
export async function readFreshLedger<T>(
  io: Io,
  work: (reader: StoreReader) => Promise<T>,
): Promise<T | Failure> {
  const home = await findLedger();
  if (isFailure(home)) return home;
  await freshen(home, io);
  return withReader(home, work);
}

export interface WriteOptions {
  readonly io: Io;
  /** Make the ledger when there is none. */
  readonly create: boolean;
  /** Continue with a ledger that does not follow from its signed heads, and record that. */
  readonly acceptsRollback?: boolean;
}

/** Runs `work` as the one writer of the ledger, and signs the result. */
export function withWriter<T>(
  home: LedgerHome,
  { io, ...options }: WriteOptions,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T | Failure> {
  return openForWriting(home, { ...options, warn: (text) => warn(io, text) }, work);
}

/** Stands for the run that began last. */
export const LAST = 'last';

/** The id of the run with this id, or of the newest one. */
export async function findRun(reader: StoreReader, name: string): Promise<string | Failure> {
  if (name !== LAST) return (await runNamed(reader, name)) ?? unknownRun(name);
  const [newest] = (await reader.runs({}, { limit: 1 })).rows;
  const none = failure('SUB_LEDGER_QUERY', 'the ledger has no runs yet.', 'Run an agent first.');
  return newest?.run_id ?? none;
}

const PART_LENGTH_MIN = 4;
const RUNS_LOOKED_AT_MAX = 10_000;

/** The run with this id, or the one whose id starts or ends so, among the newest ones; undefined without one. */
export async function runNamed(
  reader: StoreReader,
  part: string,
): Promise<string | Failure | undefined> {
  const known = await reader.run(part);
  if (known !== undefined) return known.run_id;
  if (part.length < PART_LENGTH_MIN) return undefined;
  const ask: AskForPage<RunRow> = (request) => reader.runs({}, request);
  const { rows } = await gatherPages(ask, RUNS_LOOKED_AT_MAX);
  const fitting = rows.map(({ run_id }) => run_id).filter((id) => isPartOf(part, id));
  const [first, ...others] = fitting;
  if (first === undefined || others.length === 0) return first;
  const message = `\`${part}\` fits ${fitting.length} runs.`;
  return failure('SUB_LEDGER_QUERY', message, `Give more of it: ${first}`);
}

function isPartOf(part: string, id: string): boolean {
  return id.startsWith(part) || id.endsWith(part);
}

export function unknownRun(runId: string): Failure {
  const message = `the ledger has no run \`${runId}\`.`;
  return failure('SUB_LEDGER_QUERY', message, 'See `sub query --runs`.');
}

const PAGE_ROWS = 1_000;
/** A search in texts or arguments gives short pages, so their number is bounded as well. */
const PAGES_MAX = 10_000;

type AskForPage<R> = (request: {
  readonly limit: number;
  readonly cursor?: string;
}) => Promise<Page<R>>;

/** Asks for pages until there are `limit` rows; `next` is where the rest begins. */
export async function gatherPages<R>(
  ask: AskForPage<R>,
  limit: number,
  after: string | null = null,
): Promise<Page<R>> {
  const rows: R[] = [];
  let next = after;
  let unseen = 0;
  for (let pages = 0; pages < PAGES_MAX && rows.length < limit; pages++) {
    const pageLimit = Math.min(PAGE_ROWS, limit - rows.length);
    const page = await ask({ limit: pageLimit, ...(next !== null && { cursor: next }) });
    rows.push(...page.rows);
    unseen += page.unseen ?? 0;
    next = page.next;
    if (next === null) break;
  }
  return { rows, next, unseen };
}

interface EventRange {
  readonly afterSeq?: number;
  /** Only the events of this run. */
  readonly runId?: string;
}

/** The events of the ledger in their order, page by page. */
export async function* eventRows(
  reader: Pick<ChainReader, 'events'>,
  { afterSeq: start = 0, ...filter }: EventRange,
) {
  for (let afterSeq = start; ; ) {
    // The store answers at once: in a daemon, others get their turn here.
    await nextTurn();
    const rows = await reader.events({ ...filter, afterSeq, limit: PAGE_ROWS });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    afterSeq = last.seq;
  }
}

const SYNC_MS = 10_000;
const START_MS = 10_000;
/** A shim looks for a daemon every two seconds at least. */
const HAND_OVER_MS = 4_000;
const HAND_OVER_POLL_MS = 50;
/** A file of the spool: complete, or still being written. */
const SPOOLED = /\.jsonl(?:\.\d{1,9}\.part)?$/;

/**
 * Lets the daemon take in the events that are on their way, and starts a daemon when some wait on
 * disk. With `isEvidence` it starts none, because a daemon also prunes. Warns when events may be
 * missing; the ledger can be read all the same.
 */
export async function freshen(home: LedgerHome, io: Io, isEvidence = false): Promise<void> {
  const { config, paths } = home;
  const socketPath = config['ledger.socket'];
  const late = (reason: string) => warn(io, `${reason}: the newest events may be missing.`);
  if (!(await isAnswered(socketPath))) {
    const waiting = await spooledFiles(paths.spool);
    if (waiting.length === 0) return;
    const wait = `events wait in ${paths.spool}`;
    if (isEvidence) {
      return warn(io, `${wait}, and are not checked: \`sub ledgerd\` takes them in.`);
    }
    if (!(await ensureLedgerd({ env: process.env, paths, config }, START_MS))) {
      return warn(io, `${wait}: \`sub ledgerd\` could not be started to take them.`);
    }
    const parts = new Set(waiting.filter((name) => name.endsWith('.part')));
    if (!(await handedOver(paths.spool, parts))) late('a shim has not found the daemon yet');
  }
  const isDone = await createLedgerClient({ socketPath }).sync(SYNC_MS);
  if (!isDone) late('`sub ledgerd` does not answer in time');
}

/** Waits until the running shims have handed over what they wrote to disk. */
async function handedOver(spool: string, parts: ReadonlySet<string>): Promise<boolean> {
  const deadlineMs = performance.now() + HAND_OVER_MS;
  while ((await spooledFiles(spool)).some((name) => parts.has(name))) {
    if (performance.now() > deadlineMs) return false;
    await pause(HAND_OVER_POLL_MS);
  }
  return true;
}

async function spooledFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => SPOOLED.test(name));
}
