// The options of `sub tail`, and which calls and notices they select.
import { definedFields } from '@subluminal/contracts';
import { type CallFilter, nameTest } from '@subluminal/plane/ledger';
import { CALL_FILTER_OPTIONS, readCallFilters } from '../input/call-filters.ts';
import { badUsage, choice, type OptionValues, orThrow, textOption } from '../input/command.ts';
import { numberOption, timeOption } from '../input/read-option.ts';
import { DECISION_FILTERS } from '../input/shared-options.ts';
import type { Folded, FoldedCall } from './fold.ts';

export const TAIL_OPTIONS = {
  run: textOption('id', 'Only this run; `last` is the newest run in the ledger'),
  agent: textOption('id', 'Only this agent'),
  ...CALL_FILTER_OPTIONS,
  decision: choice(DECISION_FILTERS, 'Only this decision; REFUSED is any decision except ALLOW'),
  backlog: textOption('count', 'Start with this many matching past calls (default: 10)'),
  since: textOption('time', 'Start at this time instead: 2026-01-31T12:00:00Z, or 15m, 2h, 3d ago'),
  args: 'Print all arguments of each call in a line below it',
  'no-follow': 'Print what the ledger has, and end',
  json: 'Print one JSON object per line: one per call, and one per notice',
};

export type TailFilter = Pick<
  CallFilter,
  | ('runId' | 'agentId' | 'principal' | 'fromMs')
  | ('serverName' | 'toolName' | 'decision' | 'path' | 'args')
>;

/** Filters about calls leave calls only; those about runs leave what happens in those runs. */
export function shownBy(filter: TailFilter): (folded: Folded) => boolean {
  const { serverName, toolName, decision, path, args } = filter;
  const wanted = [serverName, toolName, decision, path, args];
  const isAboutCalls = wanted.some((one) => one !== undefined);
  const isPrincipal = nameTest(filter.principal);
  const isCall = callTest(filter);
  return (folded) => {
    const { principal } = folded.kind === 'call' ? folded : folded.event;
    if (filter.principal !== undefined && !isPrincipal(principal ?? '')) return false;
    return folded.kind === 'call'
      ? isInRun(folded, filter) && isSince(lastOf(folded), filter) && isCall(folded)
      : !isAboutCalls && isInRun(folded.event, filter) && isSince(folded.event.ts, filter);
  };
}

function isInRun(
  { run_id, agent_id }: { readonly run_id: string; readonly agent_id: string },
  filter: TailFilter,
): boolean {
  const { runId = run_id, agentId = agent_id } = filter;
  return run_id === runId && agent_id === agentId;
}

function callTest(filter: TailFilter): (call: FoldedCall) => boolean {
  const { serverName, toolName } = filter;
  const isServer = nameTest(serverName);
  const isTool = nameTest(toolName);
  return (call) => {
    if (!isDecided(call, filter) || !call.fits_args) return false;
    if (serverName === undefined && toolName === undefined) return true;
    const { subject } = call;
    return (
      subject.kind === 'tool_call' && isServer(subject.server_name) && isTool(subject.tool_name)
    );
  };
}

/** A call without a decision is neither allowed nor refused. */
function isDecided({ decision }: FoldedCall, { decision: wanted }: TailFilter): boolean {
  if (wanted === undefined) return true;
  return wanted === 'REFUSED' ? decision !== null && decision !== 'ALLOW' : decision === wanted;
}

export function lastOf({ ended_at, decided_at, started_at }: FoldedCall): string {
  return ended_at ?? decided_at ?? started_at ?? '';
}

/** A time that cannot be read hides nothing. */
function isSince(ts: string, { fromMs }: TailFilter): boolean {
  return fromMs === undefined || !(Date.parse(ts) < fromMs);
}

export interface TailRequest {
  readonly filter: TailFilter;
  /** How many past calls that match come first. */
  readonly backlog: number;
}

const BACKLOG_DEFAULT = 10;
const BACKLOG_MAX = 10_000;

/** Throws its failure. */
export function readTailOptions(
  options: OptionValues<typeof TAIL_OPTIONS>,
  nowMs: number,
): TailRequest {
  const { run, agent, decision, since, backlog } = options;
  if (since !== undefined && backlog !== undefined) {
    orThrow(badUsage('--since and --backlog exclude each other.', 'Give one.'));
  }
  const fromMs = timeOption('since', since, nowMs);
  const count = numberOption('backlog', backlog, { min: 0, max: BACKLOG_MAX });
  const own = definedFields({ runId: run, agentId: agent, decision, fromMs });
  const filter = { ...readCallFilters(options), ...own };
  return { filter, backlog: count ?? BACKLOG_DEFAULT };
}
