import { definedFields, type Failure } from '@subluminal/contracts';
import type {
  CallFilter,
  CallRow,
  Page,
  RunFilter,
  RunRow,
  StoreReader,
} from '@subluminal/plane/ledger';
import {
  badUsage,
  choice,
  defineCommand,
  type OptionValues,
  type Outcome,
  orThrow,
  printout,
  readLimit,
  textOption,
} from '../input/command.ts';
import { momentMs } from '../input/moment.ts';
import { DECISION_FILTERS, NO_LEDGER } from '../input/shared-options.ts';
import { findRun, readFreshLedger } from '../ledger/user-ledger.ts';
import { CALL_VIEW, RUN_VIEW, type View } from '../ledger/views.ts';
import type { Io } from '../terminal/io.ts';
import { csvText, tableText } from '../terminal/table.ts';

interface Span {
  readonly fromMs?: number;
  readonly toMs?: number;
}

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 10_000;
const PAGE_MAX = 1_000;
/** A search for text gives short pages, so their number is bounded as well. */
const PAGES_MAX = 10_000;
const CALLS_ONLY = [
  ...(['server', 'tool', 'provider', 'model'] as const),
  ...(['decision', 'rule', 'args-hash', 'text'] as const),
];

const CALL_STATUSES = ['OK', 'ERROR', 'TIMEOUT', 'CANCELLED', 'FAILED', 'PENDING'] as const;
const RUN_STATUSES = ['SUCCEEDED', 'FAILED', 'TERMINATED', 'CANCELLED', 'RUNNING'] as const;
const OPTIONS = {
  runs: 'List runs instead of calls',
  run: textOption('id', 'Only this run; `last` is the newest run in the ledger'),
  agent: textOption('id', 'Only this agent'),
  server: textOption('name', 'Only this server'),
  tool: textOption('name', 'Only this tool'),
  provider: textOption('name', 'Only turns of this model provider'),
  model: textOption('name', 'Only turns of this model'),
  decision: choice(DECISION_FILTERS, 'Only this decision; REFUSED is any decision except ALLOW'),
  status: choice(
    [...new Set([...CALL_STATUSES, ...RUN_STATUSES])],
    'Only this status; FAILED is any end except OK, also of refused calls; PENDING and RUNNING have not ended',
  ),
  rule: textOption('id', 'Only calls that this rule decided'),
  since: textOption('time', 'From this time on: 2026-01-31T12:00:00Z, or 15m, 2h, 3d ago'),
  until: textOption('time', 'Before this time'),
  'args-hash': textOption('hash', 'Only calls with these arguments'),
  text: textOption('words', 'Only rows with this text in a name, a reason, an error or a preview'),
  limit: textOption('count', 'Maximum number of rows, up to 10000 (default: 50)'),
  after: textOption('cursor', 'Continue after the previous page'),
  csv: 'Print comma-separated values',
};
type QueryOptions = OptionValues<typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Lists the calls, or the runs, that match all filters, newest first. A refused call ends with ERROR for its agent and is listed as REFUSED; the ERRORS of a run are calls that passed and failed.',
  options: OPTIONS,
  examples: [
    'sub query --decision REFUSED --since 2h',
    'sub query --run last --server files --tool write_file --json',
    'sub query --runs',
  ],
  exitCodes: { 0: 'the rows are printed; there may be none', 2: NO_LEDGER },
  run: async ({ options }, io) => {
    if (options.json && options.csv)
      return badUsage('--json and --csv exclude each other.', 'Give one.');
    const span = orThrow(spanOf(options));
    const limit = orThrow(readLimit(options.limit ?? String(LIMIT_DEFAULT), LIMIT_MAX));
    orThrow(options.runs ? wrongForRuns(options) : wrongForCalls(options));
    if (options.run === '') return badUsage('--run is empty.', 'Give an id, or last.');
    return readFreshLedger(io, async (reader) => {
      const runId = orThrow(
        options.run === undefined ? undefined : await findRun(reader, options.run),
      );
      const query = { options, span, limit, ...(runId !== undefined && { runId }) };
      return options.runs
        ? pagePrintout(await runsOf(reader, query), RUN_VIEW, { options, io })
        : pagePrintout(await callsOf(reader, query), CALL_VIEW, { options, io });
    });
  },
});

function spanOf({ since, until }: QueryOptions): Span | Failure {
  const nowMs = Date.now();
  const times = new Map<string, number>();
  for (const [name, given] of Object.entries({ since, until })) {
    const ms = given === undefined ? undefined : momentMs(given, nowMs);
    if (ms !== undefined) times.set(name, ms);
    else if (given !== undefined) {
      const fix = 'Write 2026-01-31T12:00:00Z, or 15m, 2h, 3d.';
      return badUsage(`--${name} \`${given}\` is not a time.`, fix);
    }
  }
  const [fromMs, toMs] = [times.get('since'), times.get('until')];
  if (fromMs !== undefined && toMs !== undefined && toMs <= fromMs) {
    const message = `--until \`${until ?? ''}\` is not after --since \`${since ?? ''}\`.`;
    return badUsage(message, 'Give the earlier time to --since.');
  }
  return { ...(fromMs !== undefined && { fromMs }), ...(toMs !== undefined && { toMs }) };
}

function wrongForRuns(options: QueryOptions): Failure | undefined {
  const stray = CALLS_ONLY.find((name) => options[name] !== undefined);
  if (stray !== undefined) return badUsage(`--${stray} is about calls.`, 'Leave out --runs.');
  const { status } = options;
  if (status === undefined || isOneOf(RUN_STATUSES, status)) return undefined;
  return badUsage(`no run ends with ${status}.`, `Write one of ${RUN_STATUSES.join(', ')}.`);
}

const SHA256 = /^[0-9a-f]{64}$/;

function wrongForCalls({ status, 'args-hash': hash }: QueryOptions): Failure | undefined {
  if (hash !== undefined && !SHA256.test(hash)) {
    const fix = 'Write 64 digits of 0-9 and a-f, as `sub query --json` has them.';
    return badUsage(`--args-hash \`${hash}\` is not a SHA-256 hash.`, fix);
  }
  if (status === undefined || isOneOf(CALL_STATUSES, status)) return undefined;
  return badUsage(`no call ends with ${status}.`, `Write one of ${CALL_STATUSES.join(', ')}.`);
}

function isOneOf<V extends string>(values: readonly V[], value: string): value is V {
  return values.some((one) => one === value);
}

function callFilter({ options, span, runId }: LedgerQuery): CallFilter {
  const { agent, server, tool, provider, model, decision, status, rule, text } = options;
  const isCallStatus = status !== undefined && isOneOf(CALL_STATUSES, status);
  return {
    ...span,
    ...definedFields({ runId, agentId: agent, serverName: server, toolName: tool }),
    ...definedFields({ provider, model, decision, status: isCallStatus ? status : undefined }),
    ...definedFields({ ruleId: rule, argsHash: options['args-hash'], text }),
  };
}

interface LedgerQuery {
  readonly options: QueryOptions;
  readonly span: Span;
  readonly limit: number;
  readonly runId?: string;
}

function callsOf(reader: StoreReader, query: LedgerQuery): Promise<Page<CallRow>> {
  const filter = callFilter(query);
  return gather((request) => reader.calls(filter, request), query);
}

async function runsOf(reader: StoreReader, query: LedgerQuery): Promise<Page<RunRow>> {
  const { span, runId } = query;
  const { agent, status } = query.options;
  if (runId !== undefined) {
    const found = await reader.run(runId);
    return { rows: found === undefined ? [] : [found], next: null };
  }
  const filter: RunFilter = {
    ...span,
    ...(agent !== undefined && { agentId: agent }),
    ...(status !== undefined && isOneOf(RUN_STATUSES, status) && { status }),
  };
  return gather((request) => reader.runs(filter, request), query);
}

type Ask<R> = (request: { readonly limit: number; readonly cursor?: string }) => Promise<Page<R>>;

/** Pages until there are enough rows. */
async function gather<R>(ask: Ask<R>, { limit, options }: LedgerQuery): Promise<Page<R>> {
  const rows: R[] = [];
  let next = options.after ?? null;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const pageLimit = Math.min(PAGE_MAX, limit - rows.length);
    const page = await ask({ limit: pageLimit, ...(next !== null && { cursor: next }) });
    rows.push(...page.rows);
    next = page.next;
    if (next === null || rows.length >= limit) break;
  }
  return { rows, next };
}

function pagePrintout<R extends CallRow | RunRow>(
  { rows, next }: Page<R>,
  view: View<R>,
  { options, io }: { readonly options: QueryOptions; readonly io: Io },
): Outcome {
  if (next !== null && !options.json) {
    io.err.write(`sub: there is more; go on with --after ${next}\n`);
  }
  const document = { [view.name]: rows, next };
  if (options.csv) {
    const cells = rows.map((row) => Object.values(view.csv).map((read) => read(row)));
    return printout(document, csvText(Object.keys(view.csv), cells));
  }
  if (rows.length === 0) return printout(document, `No ${view.name} fit.\n`);
  const paint = (line: string, index: number) => {
    const row = rows[index];
    return row === undefined ? line : view.paint(line, row, io.out.colors);
  };
  return printout(document, tableText(view.columns, rows.map(view.cells), paint));
}
