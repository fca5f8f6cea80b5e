// The summary as a page for people. Names and messages come from agents and servers: they are shown
// as code, where Markdown renders no link, no mention, no picture and no HTML.
import { visible } from '@subluminal/core/policy';
import type { FailedCall, RunSummary, Violation } from './summary.ts';

const TEXT_LENGTH_MAX = 200;
const ROWS_MAX = 50;
const HASH_SHOWN = 12;

export function summaryMarkdown(summary: RunSummary): string {
  const parts = [
    `# Run ${code(summary.run_id ?? 'unknown')}`,
    table(['', ''], facts(summary)),
    '## Decisions',
    table(
      ['decision', 'calls'],
      Object.entries(summary.decisions).map(([action, count]) => [action, String(count)]),
    ),
    ...section('Policies', policies(summary), isByOne(summary) ? 0 : summary.policies.length),
    ...section('Violations', violations(summary.violations), summary.violations_total),
    ...section('Would have been refused', violations(summary.spared), summary.spared_total),
    ...section('Errors', errors(summary.errors), summary.totals.errors_total),
    ...section('Rules', rules(summary), summary.rules.length),
    ...section('Tools', tools(summary), summary.tools.length),
  ];
  return `${parts.join('\n\n')}\n`;
}

function facts(summary: RunSummary): readonly string[][] {
  const { totals, policy } = summary;
  const version = policy === null ? '' : `${policy.policy_id} ${policy.policy_version}`;
  const others = isByOne(summary) ? '' : ', not alone: see Policies';
  return [
    ['Status', summary.status ?? 'no end on record'],
    ['Agent', code(summary.agent_id ?? '')],
    ['Client, environment', `${summary.client ?? 'unknown'}, ${summary.env ?? 'unknown'}`],
    ['Policy', `${code(version)}${others}`],
    ['Mode', summary.mode ?? 'unknown'],
    ['Started', summary.started_at ?? 'unknown'],
    ['Duration', `${(totals.duration_ms / 1_000).toFixed(3)} s`],
    ['Calls', String(totals.calls_total)],
    ['Allowed', String(totals.calls_allowed)],
    ['Blocked', String(totals.calls_blocked)],
    ['Throttled', String(totals.calls_throttled)],
    ['Without a decision', String(summary.calls_undecided)],
    ['Answers held back', String(summary.answers_held_back)],
    ['Errors', String(totals.errors_total)],
  ];
}

/** Whether the policy of the run is the only one that was in force. */
function isByOne({ policy, policies: list }: RunSummary): boolean {
  return list.every(({ policy_hash }) => policy_hash === policy?.policy_hash);
}

function policies({ policies: list }: RunSummary): Section {
  return {
    head: ['policy', 'version', 'hash', 'calls', 'refused'],
    rows: list
      .slice(0, ROWS_MAX)
      .map((one) => [
        code(one.policy_id),
        code(one.policy_version),
        code(one.policy_hash.slice(0, HASH_SHOWN)),
        String(one.calls),
        String(one.refused),
      ]),
  };
}

interface Section {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

function section(title: string, { head, rows }: Section, total: number): readonly string[] {
  if (total === 0) return [];
  const shown = rows.slice(0, ROWS_MAX);
  const more = total > shown.length ? [`… and ${total - shown.length} more.`] : [];
  return [`## ${title}`, table(head, shown), ...more];
}

function violations(list: readonly Violation[]): Section {
  return {
    head: ['time', 'server', 'tool', 'decision', 'rule', 'reason', 'summary'],
    rows: list
      .slice(0, ROWS_MAX)
      .map((one) => [
        one.ts,
        code(one.server_name),
        code(one.tool_name),
        one.action,
        code(one.rule_id ?? ''),
        code(one.reason_code),
        code(one.summary),
      ]),
  };
}

function errors(list: readonly FailedCall[]): Section {
  return {
    head: ['time', 'server', 'tool', 'status', 'class', 'message'],
    rows: list
      .slice(0, ROWS_MAX)
      .map((one) => [
        one.ts,
        code(one.server_name),
        code(one.tool_name),
        one.status,
        one.class,
        code(one.message),
      ]),
  };
}

function rules({ rules: list }: RunSummary): Section {
  return {
    head: ['rule', 'decisions'],
    rows: list.slice(0, ROWS_MAX).map((one) => [code(one.rule_id), String(one.count)]),
  };
}

function tools({ tools: list }: RunSummary): Section {
  return {
    head: ['server', 'tool', 'calls', 'refused', 'errors'],
    rows: list
      .slice(0, ROWS_MAX)
      .map((one) => [
        code(one.server_name),
        code(one.tool_name),
        String(one.calls),
        String(one.refused),
        String(one.errors),
      ]),
  };
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A code span that its text cannot end: its fence is longer than any run of backticks inside. */
function code(text: string): string {
  const shown = visible(text, TEXT_LENGTH_MAX).replaceAll('|', String.raw`\|`);
  if (shown.trim() === '') return '—';
  const runs = shown.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  return `${fence} ${shown} ${fence}`;
}
