// Renders requests and grants as text. An agent, a server or a policy wrote everything in them.
import { type Approval, type ApprovalEnd, type Grant, isObject } from '@subluminal/contracts';
import {
  type Ended,
  type Entry,
  type GrantEntry,
  grantWords,
  shortId,
} from '@subluminal/plane/approvals';
import { mainArgument } from '@subluminal/plane/ledger';
import type { Colors, Output } from '../terminal/io.ts';
import { type Cell, tableText } from '../terminal/table.ts';
import { harmless } from '../terminal/text.ts';

const MINUTE_MS = 60_000;
const LABEL_WIDTH = 9;

const COLUMNS = [
  'ID',
  'STATE',
  { title: 'CALL', widthMin: 16 },
  { title: 'ARGUMENT', widthMin: 16, widthGood: 28, showsEnd: true },
  { title: 'AGENT', widthMin: 8, dropped: 1 },
  { title: 'LEFT', right: true },
  { title: 'WHY', widthMin: 12, widthGood: 24, dropped: 2 },
] as const;

interface ListContext {
  readonly nowMs: number;
  /** Whether the process that asked has ended. */
  readonly isAskerGone: (entry: Entry) => boolean;
}

export function listText(
  entries: readonly Entry[],
  { nowMs, isAskerGone }: ListContext,
  output: Output,
): string {
  const left = (entry: Entry): string => {
    const { request, state } = entry;
    if (state !== 'pending') return '';
    if (request.wait === 'hold' && isAskerGone(entry)) return 'nobody waits';
    return leftText(Date.parse(request.expires_at) - nowMs);
  };
  const rows = entries.map((entry): readonly Cell[] => [
    shortId(entry.request.id),
    entry.state,
    `${entry.request.call.server}/${entry.request.call.tool}`,
    isObject(entry.request.call.args) ? mainArgument(entry.request.call.args) : null,
    entry.request.agent.agent_id,
    left(entry),
    entry.request.call.reason,
  ]);
  const paint = (line: string, index: number) =>
    entries[index]?.state === 'pending' ? line : output.colors.dim(line);
  return tableText(COLUMNS, rows, { width: output.columns, paint });
}

/** How long the request is still open. */
function leftText(leftMs: number): string {
  if (leftMs <= 0) return 'none';
  if (leftMs < MINUTE_MS) return `${Math.ceil(leftMs / 1_000)} s`;
  const minutes = Math.floor(leftMs / MINUTE_MS);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

interface RequestContext {
  readonly nowMs: number;
  readonly isAskerGone: boolean;
  readonly colors: Colors;
}

/** The whole of a request, because a person decides on all of it. */
export function requestText(entry: Entry, { nowMs, isAskerGone, colors }: RequestContext): string {
  const { request, state, outcome } = entry;
  const { call, agent } = request;
  const starter = agent.principal === undefined ? '' : `, started by ${agent.principal}`;
  const part = call.args_complete ? 'all of them,' : 'ONLY A PART of them is shown,';
  const facts: readonly (readonly [string, string])[] = [
    ['call', `${call.server}/${call.tool}`],
    ['why', `${call.reason} (rule ${call.rule_id})`],
    ...aboutFacts(request),
    ['risk', call.risk.length === 0 ? 'none named' : call.risk.join(', ')],
    ['agent', `${agent.agent_id} (${agent.client}, ${agent.env})${starter}`],
    ['run', call.run_id],
    ['asked', `${request.created_at}, ${waitWords(entry, isAskerGone)}`],
    ['state', stateWords(entry, nowMs)],
    ...(outcome === null ? [] : [['end', endWords(outcome)] as const]),
    ['args', `${part} sha256 ${call.args_hash}`],
  ];
  const title = colors.bold(`approval ${request.id}`);
  const lines = facts.map(([label, text]) => `  ${label.padEnd(LABEL_WIDTH)}${harmless(text)}`);
  // Line ends inside of texts stay escaped.
  const args = JSON.stringify(call.args, null, 2).split('\n');
  const shownArgs = args.map((line) => `    ${harmless(line)}`);
  const isOpen = state === 'pending';
  return `${[title, ...(isOpen ? lines : lines.map(colors.dim)), ...shownArgs].join('\n')}\n`;
}

/** What the agent says of its call: nobody has checked it. */
function aboutFacts({ about }: Approval): readonly (readonly [string, string])[] {
  if (about === undefined) return [];
  const { request, reasoning, task, channel, judgements = [] } = about;
  return [
    ...(request === undefined ? [] : [['user', request] as const]),
    ['says', reasoning],
    ['task', `${task} (by ${channel})`],
    ...judgements.map(
      ({ by, verdict, reason }) => ['judged', `${verdict} by ${by}: ${reason}`] as const,
    ),
  ];
}

function waitWords({ request, state }: Entry, isGone: boolean): string {
  const { pid } = request.asked_by;
  if (state !== 'pending') return `by the process ${pid}`;
  if (request.wait === 'hint') return 'and may be tried again once it is approved';
  if (isGone) {
    return `by the process ${pid}, which has ended: nothing will come of an approval`;
  }
  return `and waits (process ${pid})`;
}

function stateWords({ request, state }: Entry, nowMs: number): string {
  if (state !== 'pending') return state;
  return `pending, ${leftText(Date.parse(request.expires_at) - nowMs)} left`;
}

function endWords({ state, by, channel, at, note, grant }: ApprovalEnd): string {
  const why = note === undefined ? '' : `: ${note}`;
  const lasting = grant === undefined ? '' : ` (grant ${shortId(grant)})`;
  return `${state} by ${by} (${channel}) at ${at}${lasting}${why}`;
}

/** One line about how a request has ended. */
export function endLine({ request }: Entry, outcome: ApprovalEnd): string {
  const call = `${request.call.server}/${request.call.tool}`;
  return harmless(`${shortId(request.id)} ${call}: ${endWords(outcome)}`);
}

/** One line about a request that has ended, or whose file is gone or damaged. */
export function endedText(ended: Ended): string {
  if (ended.kind === 'request' && ended.outcome !== null)
    return `${endLine(ended, ended.outcome)}\n`;
  const id = ended.kind === 'request' ? ended.request.id : ended.id;
  return `${harmless(id)} is gone or damaged; it approves nothing.\n`;
}

/** A grant that was just created, or would be. */
export function newGrantText(grant: Grant, colors: Colors): string {
  return grantText({ kind: 'grant', grant, state: 'active', end: null }, colors);
}

/** A grant with all that it covers. */
export function grantText({ grant, state, end }: GrantEntry, colors: Colors): string {
  const ended = end === null ? '' : ` by ${end.by} at ${end.at}`;
  const title = `grant ${shortId(grant.id)}  ${grant.kind}, ${state}${ended}`;
  const why = grant.note === undefined ? '' : `: ${grant.note}`;
  const given = `Given by ${grant.by} (${grant.channel}) at ${grant.created_at}${why}`;
  const lines = [...grantWords(grant), given].map((line) => `  ${harmless(line)}`);
  const head = state === 'active' ? colors.bold(harmless(title)) : colors.dim(harmless(title));
  return `${[head, ...lines].join('\n')}\n`;
}

export function entryJson(entry: Entry, isGone: boolean) {
  const { request, state, sha256, outcome } = entry;
  const asker = isGone ? 'gone' : 'there';
  return { id: request.id, state, asker, request, request_sha256: sha256, outcome };
}
