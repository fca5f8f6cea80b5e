import { definedFields, type Failure } from '@subluminal/contracts';
import {
  type CallFilter,
  type ListedCall,
  listedCall,
  namePattern,
  type Page,
  type PageRequest,
  type RunFilter,
  type RunRow,
  type StoreReader,
} from '@subluminal/plane/ledger';
import { CALL_FILTER_OPTIONS, readCallFilters } from '../input/call-filters.ts';
import {
  badUsage,
  choice,
  defineCommand,
  type OptionValues,
  type Outcome,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { numberOption, timeOption } from '../input/read-option.ts';
import { DECISION_FILTERS, NO_LEDGER } from '../input/shared-options.ts';
import { findRun, gatherPages, readFreshLedger } from '../ledger/user-ledger.ts';
import { callView, runView, type View } from '../ledger/views.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { csvText, tableText } from '../terminal/table.ts';
import { plural } from '../terminal/text.ts';

interface Span {
  readonly fromMs?: number;
  readonly toMs?: number;
}

const CALLS_ONLY = [
  ...(['server', 'tool', 'kind', 'provider', 'model', 'approved-by'] as const),
  ...(['decision', 'rule', 'args-hash', 'path', 'text'] as const),
];

const CALL_STATUSES = ['OK', 'ERROR', 'TIMEOUT', 'CANCELLED', 'LOST', 'FAILED', 'PENDING'] as const;
const RUN_STATUSES = ['SUCCEEDED', 'FAILED', 'TERMINATED', 'CANCELLED', 'LOST', 'RUNNING'] as const;
const OPTIONS = {
  runs: 'List runs instead of calls',
  run: textOption('id', 'Only this run; `last` is the newest run in the ledger'),
  agent: textOption('id', 'Only this agent'),
  ...CALL_FILTER_OPTIONS,
  'approved-by': textOption('name', 'Only calls that this person approved; may be a glob'),
  kind: choice(['tool_call', 'turn'], 'Only calls of tools, or only turns of models'),
  provider: textOption('name', 'Only turns of this model provider'),
  model: textOption('name', 'Only turns of this model'),
  decision: choice(
    [...DECISION_FILTERS, 'ASKED'],
    'Only this decision; REFUSED is any decision except ALLOW, ASKED needed a person or waits for one',
  ),
  status: choice(
    [...new Set([...CALL_STATUSES, ...RUN_STATUSES])],
    'Only this status; FAILED is any end except OK, also of refused calls; PENDING and RUNNING have not ended',
  ),
  degraded: 'Only runs that were decided or recorded by less than they should be; needs --runs',
  rule: textOption('id', 'Only calls that this rule decided'),
  since: textOption('time', 'From this time on: 2026-01-31T12:00:00Z, or 15m, 2h, 3d ago'),
  until: textOption('time', 'Before this time'),
  'args-hash': textOption('hash', 'Only calls with these arguments'),
  text: textOption('words', 'Only rows with this text in a name, a reason, an error or a preview'),
  args: 'Show all arguments of each call, not only the one that tells most',
  limit: textOption('count', 'Maximum number of rows, up to 10000 (default: 50)'),
  after: textOption('cursor', 'Continue after the previous page'),
  csv: 'Print comma-separated values',
};
type QueryOptions = OptionValues<typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Lists the calls, or the runs, that match all filters, newest first: who made each call, what was decided, and the argument that tells most. `sub show` has the rest. A refused call ends with ERROR for its agent and is listed as REFUSED; the ERRORS of a run are calls that passed and failed.',
  options: OPTIONS,
  examples: [
    'sub query --decision REFUSED --since 2h',
    'sub query --run last --server files --tool write_file --json',
    'sub query --path src/x.ts --since 7d',
    "sub query --tool 'write_*' --principal 'ci:*' --args",
    'sub query --kind turn --run last',
    'sub query --runs',
  ],
  exitCodes: { 0: 'the rows are printed; there may be none', 2: NO_LEDGER },
  run: async ({ options }, io) => {
    if (options.json && options.csv)
      return badUsage('--json and --csv exclude each other.', 'Give one.');
    const span = spanOf(options);
    const limit = numberOption('limit', options.limit, { min: 1, max: 10_000 }) ?? 50;
    orThrow(wrongOptions(options));
    return readFreshLedger(io, async (reader) => {
      const runId = orThrow(
        options.run === undefined ? undefined : await findRun(reader, options.run),
      );
      const query = { options, span, limit, ...(runId !== undefined && { runId }) };
      if (options.runs) {
        const page = await runsOf(reader, query);
        return pagePrintout(page, runView(page.rows), { options, io });
      }
      const page = await callsOf(reader, query);
      return pagePrintout(page, callView(page.rows, options.args), { options, io });
    });
  },
});

function spanOf({ since, until }: QueryOptions): Span {
  const nowMs = Date.now();
  const fromMs = timeOption('since', since, nowMs);
  const toMs = timeOption('until', until, nowMs);
  if (fromMs !== undefined && toMs !== undefined && toMs <= fromMs) {
    const message = `--until \`${until ?? ''}\` is not after --since \`${since ?? ''}\`.`;
    orThrow(badUsage(message, 'Give the earlier time to --since.'));
  }
  return definedFields({ fromMs, toMs });
}

/** What is wrong with options that are right only for calls, or only for runs. */
function wrongOptions(options: QueryOptions): Failure | undefined {
  const { runs, run, status, 'args-hash': hash } = options;
  const given = CALLS_ONLY.find((name) => options[name] !== undefined);
  const stray = runs ? (given ?? strayArgs(options)) : undefined;
  if (stray !== undefined) return badUsage(`--${stray} is about calls.`, 'Leave out --runs.');
  if (options.degraded && !runs) return badUsage('--degraded is about runs.', 'Add --runs.');
  if (hash !== undefined && !SHA256.test(hash)) {
    const fix = 'Write 64 digits of 0-9 and a-f, as `sub query --json` has them.';
    return badUsage(`--args-hash \`${hash}\` is not a SHA-256 hash.`, fix);
  }
  const statuses: readonly string[] = runs ? RUN_STATUSES : CALL_STATUSES;
  if (status !== undefined && !statuses.includes(status)) {
    const message = `no ${runs ? 'run' : 'call'} ends with ${status}.`;
    return badUsage(message, `Write one of ${statuses.join(', ')}.`);
  }
  return run === '' ? badUsage('--run is empty.', 'Give an id, or last.') : undefined;
}

function strayArgs({ args, arg }: QueryOptions): string | undefined {
  if (args) return 'args';
  return arg.length > 0 ? 'arg' : undefined;
}

const SHA256 = /^[0-9a-f]{64}$/;

function callFilter({ options, span, runId }: LedgerQuery): CallFilter {
  const { agent, kind, provider, model, decision, rule, text } = options;
  const status = CALL_STATUSES.find((one) => one === options.status);
  return {
    ...span,
    ...readCallFilters(options),
    ...definedFields({ runId, agentId: agent, approvedBy: namePattern(options['approved-by']) }),
    ...definedFields({ kind, provider, model, decision, status }),
    ...definedFields({ ruleId: rule, argsHash: options['args-hash'], text }),
  };
}

interface LedgerQuery {
  readonly options: QueryOptions;
  readonly span: Span;
  readonly limit: number;
  readonly runId?: string;
}

function callsOf(reader: StoreReader, query: LedgerQuery): Promise<Page<ListedCall>> {
  const filter = callFilter(query);
  const { args, after } = query.options;
  const ask = async (request: PageRequest) => {
    const page = await reader.calls(filter, { ...request, withArgs: true });
    // Only the rows of one page are in memory with all of their arguments.
    return { ...page, rows: page.rows.map((row) => listedCall(row, args)) };
  };
  return gatherPages(ask, query.limit, after);
}

async function runsOf(reader: StoreReader, query: LedgerQuery): Promise<Page<RunRow>> {
  const { span, runId, limit, options } = query;
  if (runId !== undefined) {
    const found = await reader.run(runId);
    return { rows: found === undefined ? [] : [found], next: null };
  }
  const status = RUN_STATUSES.find((one) => one === options.status);
  const principal = namePattern(options.principal);
  const filter: RunFilter = {
    ...span,
    ...definedFields({ agentId: options.agent, principal, status }),
    ...(options.degraded && { isDegraded: true }),
  };
  return gatherPages((request) => reader.runs(filter, request), limit, options.after);
}

function pagePrintout<R extends ListedCall | RunRow>(
  { rows, next, unseen = 0 }: Page<R>,
  view: View<R>,
  { options, io }: { readonly options: QueryOptions; readonly io: Io },
): Outcome {
  if (next !== null && !options.json) {
    warn(io, `there is more; go on with --after ${next}`);
  }
  if (unseen > 0 && !options.json) {
    const kept = 'whose arguments were cut or not kept, may be missing here.';
    warn(io, `${plural(unseen, 'call')}, ${kept}`);
  }
  const document = { [view.name]: rows, next, ...(unseen > 0 && { unseen }) };
  if (options.csv) {
    const cells = rows.map((row) => Object.values(view.csv).map((read) => read(row)));
    return printout(document, csvText(Object.keys(view.csv), cells));
  }
  if (rows.length === 0) return printout(document, `No ${view.name} fit.\n`);
  const paint = (line: string, index: number) => {
    const row = rows[index];
    return row === undefined ? line : view.paint(line, row, io.out.colors);
  };
  const width = io.out.columns;
  const cells = rows.map((row) => view.cells(row, Number.isFinite(width)));
  return printout(document, tableText(view.columns, cells, { width, paint }));
}
