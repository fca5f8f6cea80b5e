// A search that looks at calls one by one, the newest first, in pieces: between them the process does its other work,
// and after a while the search ends where it is, to be gone on with. What agents have recorded decides how long one
// call takes, so pieces follow the time that the one before took.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position } from '../store/query.ts';
import type { Connection } from './connection.ts';
import type { SqlRow } from './load.ts';
import { type Condition, integerCell, where } from './rows.ts';

export interface Search {
  /** Which index SQLite has to use. */
  readonly access: string;
  readonly conditions: readonly Condition[];
  readonly withArgs?: boolean;
}

interface ScanOptions {
  /** Looks at all calls of a piece; true when it has found enough. */
  readonly look: (piece: Search) => boolean;
  /** Tests have another one. */
  readonly clockMs?: () => number;
}

export const NEWEST_FIRST = 'ORDER BY c.created_at DESC, c.id DESC';
/** How many calls one search looks at, and for how long. */
const CALLS_MAX = 50_000;
const SEARCH_MS = 1_000;
const PIECE_CALLS = { first: 20, max: 1_600 };
const PIECE_MS = 20;

/** Searches of one connection come one after the other, so that many of them take no more of each turn than one. */
const queues = new WeakMap<object, Promise<unknown>>();

/** Where to go on; undefined when all calls were looked at, or enough was found. */
export function scanCalls(
  connection: Pick<Connection, 'get'>,
  search: Search,
  options: ScanOptions,
): Promise<Position | undefined> {
  const before = queues.get(connection) ?? Promise.resolve();
  const scanned = before.then(() => scan(connection, search, options));
  queues.set(
    connection,
    scanned.catch(() => undefined),
  );
  return scanned;
}

async function scan(
  connection: Pick<Connection, 'get'>,
  search: Search,
  { look, clockMs = () => performance.now() }: ScanOptions,
): Promise<Position | undefined> {
  const startMs = clockMs();
  let size = PIECE_CALLS.first;
  let rest = search;
  for (let seen = 0; ; ) {
    await nextTurn();
    const pieceMs = clockMs();
    const last = callAt(connection, rest, size - 1);
    const isEnough = look(last === undefined ? rest : narrowed(rest, '>=', last));
    if (isEnough || last === undefined) return undefined;
    seen += size;
    const nowMs = clockMs();
    if (seen >= CALLS_MAX || nowMs - startMs >= SEARCH_MS) return last;
    const isQuick = nowMs - pieceMs < PIECE_MS;
    size = isQuick ? Math.min(size * 2, PIECE_CALLS.max) : Math.max(1, Math.floor(size / 2));
    rest = narrowed(search, '<', last);
  }
}

function narrowed(search: Search, how: '<' | '>=', { atMs, id }: Position): Search {
  const condition = [`(c.created_at, c.id) ${how} (?, ?)`, atMs, Number(id)] as const;
  return { ...search, conditions: [...search.conditions, condition] };
}

/** Undefined when there are fewer. */
function callAt(
  connection: Pick<Connection, 'get'>,
  { access, conditions }: Search,
  offset: number,
): Position | undefined {
  const { sql: matching, values } = where(conditions);
  const sql = `SELECT c.created_at, c.id FROM tool_calls c ${access}
    WHERE ${matching} ${NEWEST_FIRST} LIMIT 1 OFFSET ?`;
  const row = connection.get(sql, ...values, offset);
  return row && placeOf(row);
}

export function placeOf(row: SqlRow): Position {
  return { atMs: integerCell(row, 'created_at'), id: String(integerCell(row, 'id')) };
}
