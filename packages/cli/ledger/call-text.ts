// One call as text. Agents, servers and policies wrote everything in it.
import { type ContentOutcome, type EventOf, subjectNames } from '@subluminal/contracts';
import { shortId } from '@subluminal/plane/approvals';
import { readArgs } from '@subluminal/plane/ledger';
import { decisionMark } from '../terminal/decision-look.ts';
import type { Output } from '../terminal/io.ts';
import { type Cell, tableText } from '../terminal/table.ts';
import { durationText, harmless, sizeText } from '../terminal/text.ts';
import { type CallRecord, judgementsIn, whyNotWhole } from './call-record.ts';
import { countText, usageText } from './turn-text.ts';

type Fact = readonly [label: string, text: string];

const LABEL_WIDTH = 11;

export function callText(record: CallRecord, output: Output): string {
  const { call } = record;
  const { bold } = output.colors;
  const facts = [...whatHappened(record), ...whatWasDecided(record)];
  const lines = [
    bold(`call ${harmless(call.call_id)}`),
    ...facts.map(([label, text]) => `  ${label.padEnd(LABEL_WIDTH)}${harmless(text)}`),
    ...titled('rules', ruleLines(record, output), bold),
    ...titled('approval', record.approvals.map(approvalLine), bold),
    ...titled('hint', hintLines(record), bold),
    ...titled('asked for', toolCallLines(record), bold),
    ...titled(
      call.kind === 'turn' ? 'request' : 'arguments',
      valueLines(call.args_preview, whyNotWhole(record, 'args')),
      bold,
    ),
    ...(call.kind === 'turn'
      ? []
      : titled('result', valueLines(call.result_preview, whyNotWhole(record, 'result')), bold)),
    ...titled('events', eventLines(record, output), bold),
  ];
  return `${lines.join('\n')}\n`;
}

function titled(
  title: string,
  lines: readonly string[],
  bold: (text: string) => string,
): readonly string[] {
  return lines.length === 0 ? [] : [bold(title), ...lines.map((line) => `  ${line}`)];
}

function whatHappened({ call, run, turnEnd, askedBy }: CallRecord): readonly Fact[] {
  const { status, latency_ms, bytes_in, bytes_out } = call;
  const took = latency_ms === null ? '' : ` in ${durationText(latency_ms)}`;
  const sizes = [
    ...(bytes_in === null ? [] : [`${sizeText(bytes_in)} in`]),
    ...(bytes_out === null ? [] : [`${sizeText(bytes_out)} out`]),
  ];
  const end = [`${status ?? 'PENDING'}${took}`, ...sizes].join(', ');
  const by = [call.client, run?.env].filter((part) => (part ?? '') !== '').join(', ');
  const error =
    call.error_message === null ? [] : [call.error_class ?? 'error', call.error_message];
  return [
    [call.kind === 'turn' ? 'model' : 'tool', subjectNames(call).join('/')],
    ['when', new Date(call.created_at_ms).toISOString()],
    ['who', `${call.principal ?? 'unknown'}, agent ${call.agent_id}${by === '' ? '' : ` (${by})`}`],
    ['run', call.run_id],
    ...(askedBy === undefined ? [] : [['turn', `${askedBy.turnId} (${askedBy.id})`] as const]),
    ['end', end],
    ...usageFacts(turnEnd),
    ...(error.length === 0 ? [] : [['error', error.join(': ')] as const]),
    ...(call.risk_class.length === 0 ? [] : [['risk', call.risk_class.join(', ')] as const]),
  ];
}

/** What a turn used, where the provider or we have counted it. */
function usageFacts(turnEnd: CallRecord['turnEnd']): readonly Fact[] {
  const { usage } = turnEnd ?? {};
  if (usage === undefined) return [];
  const { tokens_in, tokens_out, cost_micros = null } = usage;
  const parts = [
    usageText({ tokens_in, tokens_out, cost_micros }),
    ...(usage.cache_read_tokens === undefined
      ? []
      : [`${countText(usage.cache_read_tokens)} from the cache`]),
    ...(usage.cache_write_tokens === undefined
      ? []
      : [`${countText(usage.cache_write_tokens)} to the cache`]),
    ...(cost_micros === null ? ['price not known'] : []),
    ...(usage.estimated === true ? ['estimated'] : []),
  ];
  return [['tokens', parts.join(', ')]];
}

/** The tool calls that the answer of a turn asks for. */
function toolCallLines({ askedCalls }: CallRecord): readonly string[] {
  return askedCalls.map(({ id, name, callId }) =>
    harmless(`${name}  ${id}${callId === null ? '' : `  call ${callId}`}`),
  );
}

function whatWasDecided({ call, decision }: CallRecord): readonly Fact[] {
  const { rule_id, severity, reason_code, summary, would_action, would_rule_id } = call;
  if (call.decision === null) return [['decision', 'none on record']];
  const by = rule_id === null ? 'no rule' : rule_id;
  const policy = decision?.decision.policy;
  const would = would_action !== null && would_action !== call.decision;
  const { would: spared } = decision?.decision ?? {};
  return [
    [
      'decision',
      `${decisionMark(call.decision)} ${call.decision} by ${by}, ${reason_code ?? ''} (${severity ?? ''})`,
    ],
    ['why', summary ?? ''],
    ...judgementFacts(decision),
    ...(would
      ? [
          [
            'would be',
            `${would_action} by ${would_rule_id ?? 'no rule'}: ${spared?.summary ?? ''}`,
          ] as const,
        ]
      : []),
    ...foundFacts('in args', call.args_content),
    ...foundFacts('in result', call.result_content),
    ...(policy === undefined
      ? []
      : [
          [
            'policy',
            `${policy.policy_id} ${policy.policy_version} (${policy.policy_hash.slice(0, 12)}…)`,
          ] as const,
        ]),
  ];
}

/** What the agent has had judged before the call. */
function judgementFacts(decision: CallRecord['decision']): readonly Fact[] {
  return judgementsIn(decision).map(({ by, verdict, reason, model }) => [
    'judged',
    `${verdict} by ${by}${model === undefined ? '' : ` (${model})`}: ${reason}`,
  ]);
}

function foundFacts(
  label: string,
  content: (Pick<ContentOutcome, 'findings'> & { readonly action: string }) | undefined,
): readonly Fact[] {
  return content === undefined
    ? []
    : [[label, `${content.findings.join(', ')}: ${content.action}`]];
}

/** Every rule that matched, as it was recorded. */
function ruleLines({ decision }: CallRecord, { columns }: Output): readonly string[] {
  if (decision === undefined) return [];
  const { trace = [] } = decision;
  if (trace.length === 0) return ['(none matched, or an older sub recorded none)'];
  const rows = trace.map(({ rule_id, kind, outcome, tally, note }): readonly Cell[] => [
    rule_id,
    kind,
    outcome.replaceAll('_', ' '),
    tally === null ? '' : `${tally.count} of ${tally.limit}`,
    note,
  ]);
  const titles = ['RULE', 'KIND', 'OUTCOME', 'COUNT', { title: 'NOTE', widthMin: 12 }];
  return tableLines(tableText(titles, rows, { width: columns - 2 }));
}

function tableLines(table: string): readonly string[] {
  return table.trimEnd().split('\n');
}

function approvalLine({ ts, approval }: EventOf<'approval'>): string {
  const { id, rule_id, state, by, channel, grant_id, waited_ms } = approval;
  const parts = [
    `${ts}  ${state}${by === undefined ? '' : ` by ${by}`}${channel === undefined ? '' : ` (${channel})`}`,
    `rule ${rule_id}`,
    ...(id === undefined ? [] : [`request ${shortId(id)}`]),
    ...(waited_ms === undefined ? [] : [`waited ${durationText(waited_ms)}`]),
    ...(grant_id === undefined ? [] : [`grant ${shortId(grant_id)}`]),
  ];
  return harmless(parts.join(', '));
}

function hintLines({ call: { hint } }: CallRecord): readonly string[] {
  if (hint === null) return [];
  const { hint_text, suggested_args_json, retry_advice } = hint;
  const suggested =
    suggested_args_json === null ? [] : [`suggested arguments: ${suggested_args_json}`];
  return [hint_text, ...suggested, ...(retry_advice === null ? [] : [retry_advice])].map(harmless);
}

/** JSON in lines, when it is whole; else the text as it is kept. */
function valueLines(preview: string | null, why: string | undefined): readonly string[] {
  const note = why === undefined ? [] : [`(${why})`];
  if (preview === null) return note;
  const value = why === undefined ? readArgs(preview) : undefined;
  const text = value === undefined ? preview : JSON.stringify(value, null, 2);
  return [...text.split('\n').map(harmless), ...note];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function eventLines({ events, hasMore }: CallRecord, { columns }: Output): readonly string[] {
  if (events.length === 0) return ['(none on record)'];
  const rows = events.map(({ seq, event }): readonly Cell[] => [
    seq,
    textOf(event['ts']),
    textOf(event['type']),
  ]);
  const table = tableText([{ title: 'SEQ', right: true }, 'TIME', 'TYPE'], rows, {
    width: columns - 2,
  });
  return [
    ...tableLines(table),
    ...(hasMore ? ['(the run has more events than were looked at)'] : []),
  ];
}
