// Looks into the arguments of calls. SQL leaves out most calls that cannot fit; what is left is read.
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import { callArgsTest } from '../args/match-args.ts';
import { isPathWanted } from '../args/parse-filters.ts';
import { readArgs } from '../args/read-args.ts';
import type { CallFilter, PathFilter, Position } from '../store/query.ts';
import { FLAGS } from '../store/tables.ts';
import { type Connection, inOneView } from './connection.ts';
import type { SqlRow } from './load.ts';
import { PREVIEW_COLUMNS, previewsOf, textTest } from './previews.ts';
import { integerOrNull, textOrNull, where } from './rows.ts';
import { NEWEST_FIRST, placeOf, type Search, scanCalls } from './scan-calls.ts';
import { type FoundCalls, type TextSearch, textSearch } from './search.ts';

/** The arguments of a call as they are on record, and what is known of its run. */
interface Recorded {
  readonly args: string | null;
  /** Not the whole arguments. */
  readonly isCut: boolean;
  readonly metadata: string;
}

type Sieve = (call: Recorded & { readonly args: string }) => boolean;

/** JSON may spell any letter as `\u002e`, and a URI as `%2e`. */
const IS_SPELLED = /\\u/;
const IS_URI = /file:/i;
const IS_IN_HOME = /[~$]/;
/** What JSON may write with a backslash. */
const ESCAPED = /["\\/\p{Cc}]/u;

export async function searchArgs(
  connection: Connection,
  search: Search,
  { filter, limit }: TextSearch,
): Promise<FoundCalls> {
  const fits = testOf(filter);
  const sieves = mayFit(filter);
  const text = filter.text === undefined ? undefined : textSearch(filter.text);
  const found: Position[] = [];
  let unseen = 0;
  const lookAt = ({ access, conditions }: Search) => {
    const { sql: matching, values } = where([...conditions, ["c.kind = 'tool_call'"]]);
    const sql = `SELECT c.id, c.created_at, p.redaction_flags, r.metadata_json,
        ${text?.columns ?? PREVIEW_COLUMNS}
      FROM tool_calls c ${access}
      LEFT JOIN previews p ON p.id = c.id LEFT JOIN runs r ON r.run_id = c.run_id
      WHERE ${matching} ${NEWEST_FIRST}`;
    const previews = previewsOf(connection);
    const hasText = text?.testFor(connection);
    for (const row of connection.all(sql, ...(text?.values ?? []), ...values)) {
      if (hasText?.(row) === false) continue;
      const call = recordedOf(row, previews.args(row));
      if (fits(call, sieves)) found.push(placeOf(row));
      else if (call.isCut) unseen++;
      if (found.length === limit) return true;
    }
    return false;
  };
  const look = (piece: Search) => inOneView(connection, () => lookAt(piece));
  const next = await scanCalls(connection, search, { look });
  const ids = found.map(({ id }) => Number(id));
  return { ids, unseen, next: found.length === limit ? found.at(-1) : next };
}

/** What every call passes that may fit; cheap, where reading the arguments is not. */
function mayFit({ path, args = [] }: CallFilter): readonly Sieve[] {
  return [
    ...(path === undefined ? [] : [mayNamePath(path)]),
    ...args.map(({ name }) => mayHaveKey(name.replace(/\..*$/s, '') || name)),
  ];
}

function mayHaveKey(key: string): Sieve {
  if (ESCAPED.test(key)) return () => true;
  const mentions = textTest(key);
  return ({ args, isCut }) => isCut || mentions(args) || IS_SPELLED.test(args);
}

/** The last part of the path stands in the arguments, unless what names begin in is below it. */
function mayNamePath(filter: PathFilter): Sieve {
  const { paths, home, folder } = filter;
  const bases = [...new Set(paths.map((path) => path.slice(path.lastIndexOf('/') + 1)))];
  if (bases.some((base) => base === '' || ESCAPED.test(base))) return () => true;
  const mentions = bases.map((base) => textTest(base));
  const isHomeBelow = isPathWanted(filter, home);
  const isFolderBelow = isPathWanted(filter, folder);
  return ({ args, isCut, metadata }) =>
    isCut ||
    mentions.some((mentioned) => mentioned(args) || mentioned(metadata)) ||
    IS_SPELLED.test(args) ||
    IS_URI.test(args) ||
    (isHomeBelow && IS_IN_HOME.test(args)) ||
    // Its repository is not known.
    (isFolderBelow && !metadata.includes('"repo_path"'));
}

function testOf(filter: CallFilter): (call: Recorded, sieves: readonly Sieve[]) => boolean {
  const fits = callArgsTest(filter) ?? (() => true);
  return ({ args, isCut, metadata }, sieves) => {
    if (args === null || !sieves.every((may) => may({ args, isCut, metadata }))) return false;
    const value = readArgs(args);
    return value !== undefined && fits(value, folderOf(metadata));
  };
}

/** The repository that the run worked in. */
function folderOf(text: string): string | undefined {
  const metadata = parseJson(text);
  const workload = isObject(metadata) ? metadata['workload'] : undefined;
  const folder = isObject(workload) ? workload['repo_path'] : undefined;
  return typeof folder === 'string' && folder.startsWith('/') ? folder : undefined;
}

function recordedOf(row: SqlRow, args: string | null): Recorded {
  const flags = integerOrNull(row, 'redaction_flags') ?? 0;
  const isCut = args === null || (flags & FLAGS.argsTruncated) !== 0;
  return { args, isCut, metadata: textOrNull(row, 'metadata_json') ?? '' };
}
