// Calls by any combination of filters, newest first. The filter that narrows most picks the index;
// all values are bound.
import type { CallSubject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import {
  type CallDetail,
  type CallFilter,
  type CallRow,
  cursorOf,
  likePattern,
  limitOf,
  type Page,
  type PageRequest,
  type Position,
  pageOf,
  positionOf,
} from '../store/query.ts';
import { FLAGS, HINTS, TOOL_CALLS } from '../store/tables.ts';
import { accessFor, conditionsOf } from './call-conditions.ts';
import { callsWithText } from './calls-with-text.ts';
import { type Connection, inOneView } from './connection.ts';
import type { SqlRow } from './load.ts';
import { namedConditions } from './name-conditions.ts';
import { PREVIEW_COLUMNS, previewsOf, textTest } from './previews.ts';
import {
  integerCell,
  integerOrNull,
  readRow,
  textCell,
  textOrNull,
  textsOf,
  where,
} from './rows.ts';
import { NEWEST_FIRST, placeOf, type Search, scanCalls } from './scan-calls.ts';

const COLUMNS = [
  ...Object.keys(TOOL_CALLS.columns).map((column) => `c.${column}`),
  PREVIEW_COLUMNS,
  'p.redaction_flags',
  'r.principal',
  'r.client',
  `(SELECT json_group_array(DISTINCT a.decided_by) FROM approvals a WHERE a.run_id = c.run_id
    AND a.call_id = c.call_id AND a.state = 'approved' AND a.decided_by IS NOT NULL) AS approved_by`,
].join(', ');
const JOINED = `LEFT JOIN previews p ON p.id = c.id
  LEFT JOIN runs r ON r.run_id = c.run_id`;
const TEXT_COLUMNS = [
  'c.tool_name',
  'c.server_name',
  'c.model',
  'c.provider',
  'c.summary',
  'c.error_message',
];

export async function searchCalls(
  connection: Connection,
  filter: CallFilter,
  request: PageRequest,
): Promise<Page<CallRow>> {
  const limit = limitOf(request);
  const { withArgs = false } = request;
  const { text, path, args } = filter;
  const search = searchFor(connection, filter, positionOf(request));
  if (text === undefined && path === undefined && args === undefined) {
    return pageOf(select(connection, { ...search, withArgs }, limit), limit, endOf);
  }
  const { ids, next, unseen } = await searchTexts(connection, search, { filter, limit });
  const rows = select(connection, { ...byId(ids), withArgs }, limit);
  const page = { rows, next: next === undefined ? null : cursorOf(next) };
  return unseen === undefined ? page : { ...page, unseen };
}

export interface TextSearch {
  readonly filter: CallFilter;
  /** How many calls are wanted. */
  readonly limit: number;
}

export interface FoundCalls {
  readonly ids: readonly number[];
  /** Where to go on, unless all calls were looked at. */
  readonly next: Position | undefined;
  /** Of a search in arguments. */
  readonly unseen?: number;
}

/** The calls whose texts and arguments fit, as far as one search looks. */
export async function searchTexts(
  connection: Connection,
  search: Search,
  asked: TextSearch,
): Promise<FoundCalls> {
  const { text, path, args } = asked.filter;
  if (path !== undefined || args !== undefined) {
    const { searchArgs } = await import('./search-args.ts');
    return searchArgs(connection, search, asked);
  }
  const hasText = textSearch(text ?? '');
  const found: Position[] = [];
  const lookAt = ({ access, conditions }: Search) => {
    const { sql: matching, values } = where(conditions);
    const sql = `SELECT c.created_at, c.id, ${hasText.columns} FROM tool_calls c ${access}
      LEFT JOIN previews p ON p.id = c.id WHERE ${matching} ${NEWEST_FIRST}`;
    const fits = hasText.testFor(connection);
    for (const row of connection.all(sql, ...hasText.values, ...values)) {
      if (fits(row)) found.push(placeOf(row));
      if (found.length >= asked.limit) return true;
    }
    return false;
  };
  const look = (piece: Search) => inOneView(connection, () => lookAt(piece));
  const ids = await callsWithText(connection, text ?? '');
  const among = ids === undefined ? search : amongIds(search, ids);
  const next = await scanCalls(connection, among, { look });
  const isFull = found.length >= asked.limit;
  return { ids: found.map(({ id }) => Number(id)), next: isFull ? found.at(-1) : next };
}

/** What indexes and columns can tell. */
export function searchFor(connection: Connection, filter: CallFilter, after?: Position): Search {
  const conditions = [...conditionsOf(filter, after), ...namedConditions(connection, filter)];
  return { access: accessFor(connection, filter), conditions };
}

export function byId(ids: readonly number[]): Search {
  return amongIds({ access: '', conditions: [] }, ids);
}

function amongIds({ conditions }: Search, ids: readonly number[]): Search {
  const condition = ['c.id IN (SELECT value FROM json_each(?))', JSON.stringify(ids)] as const;
  // The id is the key of the table, which needs no index.
  return { access: 'NOT INDEXED', conditions: [...conditions, condition] };
}

function endOf(row: CallRow): Position {
  return { atMs: row.created_at_ms, id: String(row.id) };
}

/** Looks for a text in the columns that SQL has, then in the lines with the previews. */
export function textSearch(text: string) {
  const pattern = likePattern(text);
  const like = TEXT_COLUMNS.map((column) => String.raw`${column} LIKE ? ESCAPE '\'`).join(' OR ');
  const hasText = textTest(text);
  return {
    columns: `(${like}) AS is_named, ${PREVIEW_COLUMNS}`,
    /** Of the columns. */
    values: TEXT_COLUMNS.map(() => pattern),
    testFor: (connection: Connection) => {
      const previews = previewsOf(connection, text);
      return (row: SqlRow): boolean => {
        if (row['is_named'] === 1) return true;
        if (!previews.mayHold(row)) return false;
        return hasText(previews.args(row)) || hasText(previews.result(row));
      };
    },
  };
}

function select(
  connection: Connection,
  { access, conditions, withArgs = false }: Search,
  limit: number,
): readonly CallRow[] {
  const { sql: matching, values } = where(conditions);
  const sql = `SELECT ${COLUMNS} FROM tool_calls c ${access} ${JOINED}
    WHERE ${matching} ${NEWEST_FIRST} LIMIT ?`;
  return inOneView(connection, () => {
    const rows = connection.all(sql, ...values, limit);
    const previews = previewsOf(connection);
    return rows.map((row) => ({
      ...callOf(row),
      ...(withArgs && { args_preview: previews.args(row) }),
    }));
  });
}

export function findCall(
  connection: Connection,
  runId: string,
  callId: string,
): CallDetail | undefined {
  const sql = `SELECT ${COLUMNS} FROM tool_calls c ${JOINED} WHERE c.run_id = ? AND c.call_id = ?`;
  const row = connection.get(sql, runId, callId);
  if (row === undefined) return undefined;
  const previews = previewsOf(connection);
  const hint = connection.get(
    'SELECT * FROM hints WHERE run_id = ? AND call_id = ?',
    runId,
    callId,
  );
  return {
    ...callOf(row),
    args_preview: previews.args(row),
    result_preview: previews.result(row),
    redaction_flags: flagsOf(row),
    hint: hint === undefined ? null : readRow(HINTS, hint),
  };
}

export interface NamedCalls {
  readonly limit: number;
  /** Only calls of this run. */
  readonly runId?: string | undefined;
}

/** An id itself, else calls whose id begins or ends with it. */
export function callsNamed(
  connection: Connection,
  id: string,
  { limit, runId }: NamedCalls,
): readonly { readonly run_id: string; readonly call_id: string }[] {
  const [ofRun, run] = runId === undefined ? ['', []] : [' AND run_id = ?', [runId]];
  const found = (condition: string, ...values: readonly (string | number)[]) =>
    connection.all(
      `SELECT run_id, call_id FROM tool_calls WHERE (${condition})${ofRun} ORDER BY id DESC LIMIT ?`,
      ...values,
      ...run,
      limit,
    );
  const exact = found('call_id = ?', id);
  const { length } = id;
  const part = 'substr(call_id, 1, ?) = ? OR substr(call_id, -?) = ?';
  const rows = exact.length > 0 ? exact : found(part, length, id, length, id);
  return rows.map((row) => ({
    run_id: textCell(row, 'run_id'),
    call_id: textCell(row, 'call_id'),
  }));
}

function callOf(row: SqlRow): CallRow {
  return {
    ...readRow(TOOL_CALLS, row),
    ...subjectOf(row),
    preview_truncated: isTruncated(row),
    principal: textOrNull(row, 'principal'),
    client: textOrNull(row, 'client'),
    approved_by: textsOf(parseJson(textCell(row, 'approved_by'))),
  };
}

function subjectOf(row: SqlRow): CallSubject {
  if (textCell(row, 'kind') === 'turn') {
    return { kind: 'turn', provider: textCell(row, 'provider'), model: textCell(row, 'model') };
  }
  return {
    kind: 'tool_call',
    server_name: textCell(row, 'server_name'),
    tool_name: textCell(row, 'tool_name'),
    args_hash: textCell(row, 'args_hash'),
  };
}

/** A refused call has no answer that could have been cut, whatever its end says. */
function flagsOf(row: SqlRow): number {
  const flags = integerOrNull(row, 'redaction_flags') ?? 0;
  return isRefused(row) ? flags & ~FLAGS.resultTruncated : flags;
}

function isTruncated(row: SqlRow): boolean {
  if (isRefused(row)) return (flagsOf(row) & FLAGS.argsTruncated) !== 0;
  return integerCell(row, 'preview_truncated') !== 0;
}

function isRefused(row: SqlRow): boolean {
  return (textOrNull(row, 'decision') ?? 'ALLOW') !== 'ALLOW';
}
