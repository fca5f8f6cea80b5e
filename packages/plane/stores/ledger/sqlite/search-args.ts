// Looks into the arguments of calls. SQL leaves out most calls that cannot fit; what is left is read.
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import { callArgsTest } from '../args/match-args.ts';
import { isPathWanted } from '../args/parse-filters.ts';
import { readArgs } from '../args/read-args.ts';
import { type CallFilter, likePattern, type PathFilter, type Position } from '../store/query.ts';
import { FLAGS } from '../store/tables.ts';
import type { Connection } from './connection.ts';
import type { SqlRow } from './load.ts';
import { type Condition, integerOrNull, textOrNull, where } from './rows.ts';
import { NEWEST_FIRST, placeOf, type Search, scanCalls } from './scan-calls.ts';
import type { FoundCalls, TextSearch } from './search.ts';

interface SearchArgsOptions extends TextSearch {
  /** What else texts must hold. */
  readonly texts: readonly Condition[];
}

/** JSON may spell any letter as `\u002e`. */
const IS_SPELLED = String.raw`instr(p.args_preview, '\u') > 0`;
/** A URI may spell it as `%2e`. */
const IS_URI = "p.args_preview LIKE '%file:%'";
const IS_IN_HOME = "p.args_preview GLOB '*[~$]*'";
const NOT_WHOLE = `p.args_preview IS NULL OR p.redaction_flags & ${FLAGS.argsTruncated}`;
const MENTIONS = String.raw`p.args_preview LIKE ? ESCAPE '\'`;
const IS_RUN_IN = String.raw`r.metadata_json LIKE ? ESCAPE '\'`;
/** Its repository is not known. */
const IS_RUN_ANYWHERE = "ifnull(r.metadata_json, '') NOT LIKE '%\"repo_path\"%'";
/** What JSON may write with a backslash. */
const ESCAPED = /["\\/\p{Cc}]/u;
const PATTERN_MAX = 200;

export async function searchArgs(
  connection: Connection,
  search: Search,
  { filter, limit, texts }: SearchArgsOptions,
): Promise<FoundCalls> {
  const fits = testOf(filter);
  const found: Position[] = [];
  let unseen = 0;
  const sieve: readonly Condition[] = [...texts, ["c.kind = 'tool_call'"], ...mayFit(filter)];
  const look = ({ access, conditions }: Search) => {
    const { sql: matching, values } = where([...conditions, ...sieve]);
    const sql = `SELECT c.id, c.created_at, p.args_preview, p.redaction_flags, r.metadata_json
      FROM tool_calls c ${access}
      LEFT JOIN previews p ON p.id = c.id LEFT JOIN runs r ON r.run_id = c.run_id
      WHERE ${matching} ${NEWEST_FIRST}`;
    for (const row of connection.all(sql, ...values)) {
      if (fits(row)) found.push(placeOf(row));
      else if (isCut(row)) unseen++;
      if (found.length === limit) return true;
    }
    return false;
  };
  const next = await scanCalls(connection, search, { look });
  const ids = found.map(({ id }) => Number(id));
  return { ids, unseen, next: found.length === limit ? found.at(-1) : next };
}

/** Conditions that every call meets which may fit. */
function mayFit({ path, args = [] }: CallFilter): readonly Condition[] {
  return [
    ...(path === undefined ? [] : [mayNamePath(path)]),
    ...args.map(({ name }) => mayHaveKey(name.replace(/\..*$/s, '') || name)),
  ];
}

function mayHaveKey(key: string): Condition {
  if (ESCAPED.test(key)) return ['1'];
  const pattern = likePattern(key.slice(0, PATTERN_MAX));
  return [`(${MENTIONS} OR ${IS_SPELLED} OR ${NOT_WHOLE})`, pattern];
}

/** The last part of the path stands in the arguments, unless what names begin in is below it. */
function mayNamePath(filter: PathFilter): Condition {
  const { paths, home, folder } = filter;
  const bases = [...new Set(paths.map((path) => path.slice(path.lastIndexOf('/') + 1)))];
  if (bases.some((base) => base === '' || ESCAPED.test(base))) return ['1'];
  const patterns = bases.map((base) => likePattern(base.slice(0, PATTERN_MAX)));
  const hasBelow = (start: string) => isPathWanted(filter, start);
  const sql = [
    ...patterns.flatMap(() => [MENTIONS, IS_RUN_IN]),
    ...[IS_SPELLED, IS_URI, NOT_WHOLE],
    ...(hasBelow(home) ? [IS_IN_HOME] : []),
    ...(hasBelow(folder) ? [IS_RUN_ANYWHERE] : []),
  ];
  return [`(${sql.join(' OR ')})`, ...patterns.flatMap((pattern) => [pattern, pattern])];
}

function testOf(filter: CallFilter): (row: SqlRow) => boolean {
  const fits = callArgsTest(filter) ?? (() => true);
  return (row) => {
    const preview = textOrNull(row, 'args_preview');
    const value = preview === null ? undefined : readArgs(preview);
    return value !== undefined && fits(value, folderOf(row));
  };
}

/** The repository that the run worked in. */
function folderOf(row: SqlRow): string | undefined {
  const metadata = parseJson(textOrNull(row, 'metadata_json') ?? '');
  const workload = isObject(metadata) ? metadata['workload'] : undefined;
  const folder = isObject(workload) ? workload['repo_path'] : undefined;
  return typeof folder === 'string' && folder.startsWith('/') ? folder : undefined;
}

function isCut(row: SqlRow): boolean {
  if (textOrNull(row, 'args_preview') === null) return true;
  return ((integerOrNull(row, 'redaction_flags') ?? 0) & FLAGS.argsTruncated) !== 0;
}
