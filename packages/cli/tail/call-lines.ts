// The lines of `sub tail`: one per call, in columns, and one per notice.
import { type ContentOutcome, subjectNames } from '@subluminal/contracts';
import { eventMember, type NoticeText } from '@subluminal/plane/ledger';
import { ACTION_WORDS } from '../ledger/views.ts';
import { decisionMark, decisionPaint, type Paint } from '../terminal/decision-look.ts';
import type { Colors } from '../terminal/io.ts';
import {
  displayWidth,
  fitted,
  fittedInside,
  harmless,
  localIso,
  padded,
} from '../terminal/text.ts';
import { type Cells, layoutFor, type Seen } from './columns.ts';
import { lastOf } from './filter.ts';
import type { Folded, FoldedCall, FoldedNotice } from './fold.ts';

export interface LineOptions {
  readonly colors: Colors;
  /** How wide the terminal is; a function where that may change. */
  readonly width: number | (() => number);
  /** A line of its own names the day when it differs from that of this time or of the line before. */
  readonly nowMs: number;
}

interface Look {
  readonly mark: string;
  readonly word: string;
  readonly paint: (colors: Colors) => Paint;
}

/** The decision was made before the first event that was read. */
const UNKNOWN: Look = { mark: '·', word: 'ended', paint: ({ dim }) => dim };
const PENDING: Look = { mark: '…', word: 'waiting', paint: ({ dim }) => dim };
const SPARED = '!';
const GAP = '  ';

/** Formats calls and notices in the order in which they are shown. */
export function lineFormatter({ width, colors, nowMs }: LineOptions) {
  const seen: Seen = { tool: 0, argument: 0, rule: 0 };
  let lastDay = dayOf(new Date(nowMs));
  return (folded: Folded): readonly string[] => {
    const cells = Math.max(1, typeof width === 'number' ? width : width());
    const at = new Date(folded.kind === 'call' ? lastOf(folded) : folded.event.ts);
    const line =
      folded.kind === 'call'
        ? callLine(folded, { at, cells, colors, seen })
        : noticeLine(folded, { at, cells, colors });
    const lines = [line, ...argsLine(folded, { at, cells, colors })];
    const day = dayOf(at);
    if (day === lastDay) return lines;
    lastDay = day;
    return [colors.dim(fitted(`── ${day} ──`, cells)), ...lines];
  };
}

interface LineFormat {
  readonly at: Date;
  readonly cells: number;
  readonly colors: Colors;
}

function callLine(
  call: FoldedCall,
  { at, cells, colors, seen }: LineFormat & { readonly seen: Seen },
): string {
  const look = lookOf(call);
  const spared = call.would !== null && call.decision === 'ALLOW';
  const paint = spared ? colors.yellow : look.paint(colors);
  const rule = call.rule_id ?? call.would?.rule_id ?? '';
  const name = subjectNames(call.subject).join('/');
  const argument = call.args_preview === undefined ? (call.argument ?? '') : '';
  const layout = layoutFor({ cells, name, argument, rule }, seen);
  const { text, isBad } = detailOf(call);
  const parts: readonly (readonly [string, keyof Cells, Paint])[] = [
    [timeText(at, layout.time), 'time', colors.dim],
    [`${spared ? SPARED : look.mark} ${look.word}`, 'decision', paint],
    [name, 'tool', plain],
    [argument, 'argument', plain],
    [latencyText(call.latency_ms), 'latency', isBad ? colors.red : colors.dim],
    [shortRun(call.run_id), 'run', colors.dim],
    [rule, 'rule', plain],
    [text, 'detail', isBad ? colors.red : plain],
  ];
  return joined(parts, layout, Number.isFinite(cells));
}

const INDENT = '    ';

/** All arguments, where they are asked for. */
function argsLine(folded: Folded, { cells, colors }: LineFormat): readonly string[] {
  if (folded.kind !== 'call' || folded.args_preview === undefined) return [];
  if (folded.subject.kind === 'turn') return [];
  const text = `${INDENT}${folded.args_preview ?? '(arguments not kept)'}`;
  return [colors.dim(Number.isFinite(cells) ? fitted(text, cells) : harmless(text))];
}

function joined(
  parts: readonly (readonly [text: string, column: keyof Cells, paint: Paint])[],
  layout: Cells,
  isCut: boolean,
): string {
  const shown = parts.filter(([, column]) => layout[column] > 0);
  const cells = shown.map(([text, column, paint]) => {
    if (column === 'detail') return text === '' ? '' : paint(fitted(text, layout.detail));
    // Where there is no terminal, names and arguments are whole.
    if (!isCut && displayWidth(text) > layout[column]) return paint(harmless(text));
    const whole = column === 'argument' ? fittedInside(text, layout.argument) : text;
    return paint(padded(whole, layout[column], column === 'latency' ? 'right' : 'left'));
  });
  return cells.join(GAP).trimEnd();
}

const NO_NAMES = { name: '', argument: '', rule: '' };
const NO_NOTICE: NoticeText = { mark: '·', text: '', isBad: false };

function plain(text: string): string {
  return text;
}

function noticeLine(
  { event, server_name }: FoldedNotice,
  { at, cells, colors }: LineFormat,
): string {
  const { time } = layoutFor({ cells, ...NO_NAMES }, { tool: 0, argument: 0, rule: 0 });
  const head = time === 0 ? '' : `${timeText(at, time)}${GAP}`;
  const notice = (runName: string): NoticeText =>
    eventMember(event.type).notice?.(event, { runName, serverName: server_name }) ?? NO_NOTICE;
  const whole = notice(event.run_id);
  // The end of a notice says more than the whole id of its run.
  const isTooLong = head.length + whole.mark.length + 1 + whole.text.length > cells;
  const { mark, text, isBad } = isTooLong ? notice(shortRun(event.run_id)) : whole;
  const paint = isBad ? colors.yellow : colors.dim;
  return paint(fitted(`${head}${mark} ${text}`, cells));
}

function lookOf({ decision, ended_at }: FoldedCall): Look {
  if (decision === null) return ended_at === null ? PENDING : UNKNOWN;
  if (decision === 'ALLOW' && ended_at === null) return PENDING;
  return {
    mark: decisionMark(decision),
    word: ACTION_WORDS[decision],
    paint: (colors) => decisionPaint(decision, colors),
  };
}

/** The start of the summary of a decision that was not enforced; the line shows that already. */
const SPARED_WORDS = /^Would be refused: /;

interface Detail {
  readonly text: string;
  readonly isBad: boolean;
}

const CONTENT_WORDS = { tag: 'tagged', redact: 'redacted', ask: 'asked about', block: 'blocked' };
const FINDINGS_SHOWN_MAX = 3;

/** The findings in the call and in its answer, then the reason. */
function detailOf(call: FoldedCall): Detail {
  const { text, isBad } = reasonOf(call);
  const found = [
    contentText(call.args_content, ''),
    contentText(call.result_content, ' in the answer'),
  ];
  return { text: [...found, text].filter((part) => part !== '').join('; '), isBad };
}

function contentText(content: ContentOutcome | null, where: string): string {
  if (content === null) return '';
  const { action, findings } = content;
  const shown = findings
    .slice(0, FINDINGS_SHOWN_MAX)
    .map((finding) => finding.replace(/ \(tag\)$/, ' (only tagged)'))
    .join(', ');
  const more = findings.length - FINDINGS_SHOWN_MAX;
  return `${CONTENT_WORDS[action]} ${shown}${more > 0 ? ` and ${more} more` : ''}${where}`;
}

/** The reason for a person: the hint of the agent, the decision that was spared, or the error. */
function reasonOf(call: FoldedCall): Detail {
  const { decision, status, error, would, hint, summary, backoff_ms } = call;
  if (decision === 'REJECT_WITH_HINT') return { text: hint ?? summary ?? '', isBad: false };
  if (decision === 'THROTTLE') {
    const wait = backoff_ms === null ? '' : `wait ${latencyText(backoff_ms)}: `;
    return { text: `${wait}${summary ?? ''}`, isBad: false };
  }
  if (decision !== null && decision !== 'ALLOW') return { text: summary ?? '', isBad: false };
  if (status !== null && status !== 'OK') {
    return { text: error === null ? status : `${status}: ${error}`, isBad: true };
  }
  if (would === null) return { text: '', isBad: false };
  const reason = (summary ?? '').replace(SPARED_WORDS, '');
  return { text: `would ${ACTION_WORDS[would.action]}: ${reason}`, isBad: false };
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Short enough for a column: 12 ms, 1.2 s, 3 min. */
function latencyText(latencyMs: number | null): string {
  if (latencyMs === null) return '';
  if (latencyMs < SECOND_MS) return `${latencyMs} ms`;
  if (latencyMs < MINUTE_MS) return `${(latencyMs / SECOND_MS).toFixed(1)} s`;
  return `${Math.round(latencyMs / MINUTE_MS)} min`;
}

const RUN_LENGTH_MAX = 9;

/** The end of an id: ids that sort by time begin alike. */
function shortRun(runId: string): string {
  return runId.length <= RUN_LENGTH_MAX ? runId : `…${runId.slice(1 - RUN_LENGTH_MAX)}`;
}

/** The local time, with or without its milliseconds. */
function timeText(at: Date, cells: number): string {
  return localIso(at).slice(11, 11 + cells);
}

function dayOf(at: Date): string {
  return localIso(at).slice(0, 10);
}
