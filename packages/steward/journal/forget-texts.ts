// What the user has had forgotten goes from the texts of the journal as well; a mark stands in its place.
import { isObject, type JsonValue } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import type { SqlRow } from '@subluminal/plane/sqlite';
import type { TableAccess } from './table-access.ts';

export interface JournalForgetReport {
  /** Texts that held it. */
  readonly changed: number;
  /** Texts of tasks that are under way: they hold it until it is forgotten once more. */
  readonly left: number;
}

interface TextTable {
  readonly table: string;
  readonly keys: readonly string[];
  readonly texts: readonly string[];
  readonly json: readonly string[];
  /** Whose task is under way: what it is about to do must not change under it. */
  readonly open: string;
}

const MARK = '[forgotten]';
const ROWS_AT_ONCE = 200;
const NEVER = '0';
const OPEN_TASK = "(SELECT id FROM tasks WHERE state IN ('waiting', 'running'))";
const OPEN = `coalesce(task IN ${OPEN_TASK}, 0)`;
const TABLES: readonly TextTable[] = [
  { table: 'messages', keys: ['n'], texts: ['text'], json: [], open: OPEN },
  {
    table: 'tasks',
    keys: ['id'],
    texts: ['request', 'reason'],
    json: [],
    open: `id IN ${OPEN_TASK}`,
  },
  { table: 'turns', keys: ['task', 'n'], texts: ['text'], json: ['uses'], open: OPEN },
  {
    ...{ table: 'steps', keys: ['task', 'n'], texts: ['reasoning', 'result'] },
    ...{ json: ['args', 'judgements'], open: OPEN },
  },
  { table: 'schedules', keys: ['id'], texts: ['request'], json: [], open: NEVER },
  {
    ...{ table: 'sub_agents', keys: ['id'], texts: ['request', 'result'], json: [] },
    open: 'ended_at IS NULL',
  },
  { table: 'alerts', keys: ['n'], texts: ['text'], json: [], open: NEVER },
];

/** Within a write. */
export function forgetTexts(
  db: TableAccess['db'],
  forgotten: readonly string[],
): JournalForgetReport {
  const replacers = forgotten.map(replacer);
  const replace = (text: string) => replacers.reduce((rest, one) => one(rest), text);
  const counted = TABLES.map((table) => forgetIn(db, table, replace));
  return {
    changed: counted.reduce((sum, { changed }) => sum + changed, 0),
    left: counted.reduce((sum, { left }) => sum + left, 0),
  };
}

function forgetIn(
  db: TableAccess['db'],
  { table, keys, texts, json, open }: TextTable,
  replace: (text: string) => string,
): JournalForgetReport {
  const columns = [...texts, ...json];
  const order = keys.join(', ');
  const select = `SELECT ${[...keys, ...columns].join(', ')}, ${open} AS is_open FROM ${table}`;
  const page = `ORDER BY ${order} LIMIT ${ROWS_AT_ONCE}`;
  const marks = keys.map(() => '?').join(', ');
  const found = { changed: 0, left: 0 };
  let rows = db.all(`${select} ${page}`);
  while (rows.length > 0) {
    for (const row of rows) {
      for (const column of columns) {
        const before = row[column];
        if (typeof before !== 'string') continue;
        const after = json.includes(column) ? replacedJson(before, replace) : replace(before);
        if (after === before) continue;
        found[row['is_open'] === 0 ? 'changed' : 'left'] += 1;
        if (row['is_open'] !== 0) continue;
        const sql = `UPDATE ${table} SET ${column} = ? WHERE (${order}) = (${marks})`;
        db.run(sql, after, ...keysOf(row, keys));
      }
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    rows = db.all(`${select} WHERE (${order}) > (${marks}) ${page}`, ...keysOf(last, keys));
  }
  return found;
}

function keysOf(row: SqlRow, keys: readonly string[]) {
  return keys.map((key) => {
    const value = row[key];
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  });
}

function replacedJson(text: string, replace: (text: string) => string): string {
  const value = parseJson(text);
  return value === undefined ? replace(text) : JSON.stringify(replacedIn(value, replace));
}

function replacedIn(value: unknown, replace: (text: string) => string): JsonValue {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((one) => replacedIn(one, replace));
  if (!isObject(value))
    return typeof value === 'number' || typeof value === 'boolean' ? value : null;
  const pairs = Object.entries(value).map(([key, one]): [string, JsonValue] => [
    replace(key),
    replacedIn(one, replace),
  ]);
  return Object.fromEntries<JsonValue>(pairs);
}

/** Letters compare as the memory compares them. A text that holds it in other letters goes as a whole. */
function replacer(forgotten: string): (text: string) => string {
  const plain = (text: string) => text.normalize('NFKC').toLowerCase();
  const wanted = plain(forgotten.trim());
  const literal = forgotten.trim().replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`);
  const pattern = new RegExp(literal, 'giu');
  return (text) => {
    if (wanted === '' || !plain(text).includes(wanted)) return text;
    const rest = text.replaceAll(pattern, MARK);
    return plain(rest).includes(wanted) ? MARK : rest;
  };
}
