// The options of `sub tail`, and which calls and notices they select.
import { type Action, definedFields } from '@subluminal/contracts';
import { badUsage, choice, type OptionValues, orThrow, textOption } from '../input/command.ts';
import { numberOption, timeOption } from '../input/read-option.ts';
import { DECISION_FILTERS } from '../input/shared-options.ts';
import type { Folded, FoldedCall } from './fold.ts';

export const TAIL_OPTIONS = {
  run: textOption('id', 'Only this run; `last` is the newest run in the ledger'),
  agent: textOption('id', 'Only this agent'),
  server: textOption('name', 'Only calls to this server'),
  tool: textOption('name', 'Only calls of this tool'),
  decision: choice(DECISION_FILTERS, 'Only this decision; REFUSED is any decision except ALLOW'),
  backlog: textOption('count', 'Start with this many matching past calls (default: 10)'),
  since: textOption('time', 'Start at this time instead: 2026-01-31T12:00:00Z, or 15m, 2h, 3d ago'),
  'no-follow': 'Print what the ledger has, and end',
  json: 'Print one JSON object per line: one per call, and one per notice',
};

export interface TailFilter {
  readonly runId?: string;
  readonly agentId?: string;
  readonly serverName?: string;
  readonly toolName?: string;
  /** `REFUSED` is every decision but ALLOW. */
  readonly decision?: Action | 'REFUSED';
  /** Only what happened from this time on. */
  readonly fromMs?: number;
}

/** Filters about calls leave calls only; those about runs leave what happens in those runs. */
export function shownBy(filter: TailFilter): (folded: Folded) => boolean {
  const { serverName, toolName, decision } = filter;
  const isAboutCalls = [serverName, toolName, decision].some((wanted) => wanted !== undefined);
  return (folded) =>
    folded.kind === 'call'
      ? isInRun(folded, filter) && isSince(lastOf(folded), filter) && isCall(folded, filter)
      : !isAboutCalls && isInRun(folded.event, filter) && isSince(folded.event.ts, filter);
}

function isInRun(
  { run_id, agent_id }: { readonly run_id: string; readonly agent_id: string },
  filter: TailFilter,
): boolean {
  const { runId = run_id, agentId = agent_id } = filter;
  return run_id === runId && agent_id === agentId;
}

function isCall(call: FoldedCall, filter: TailFilter): boolean {
  const { serverName, toolName } = filter;
  if (!isDecided(call, filter)) return false;
  if (serverName === undefined && toolName === undefined) return true;
  const { subject } = call;
  if (subject.kind !== 'tool_call') return false;
  const { server_name, tool_name } = subject;
  return server_name === (serverName ?? server_name) && tool_name === (toolName ?? tool_name);
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
  const { run, agent, server, tool, decision, since, backlog } = options;
  if (since !== undefined && backlog !== undefined) {
    orThrow(badUsage('--since and --backlog exclude each other.', 'Give one.'));
  }
  const names = { runId: run, agentId: agent, serverName: server, toolName: tool };
  const fromMs = timeOption('since', since, nowMs);
  const count = numberOption('backlog', backlog, { min: 0, max: BACKLOG_MAX });
  const filter = definedFields({ ...names, decision, fromMs });
  return { filter, backlog: count ?? BACKLOG_DEFAULT };
}
