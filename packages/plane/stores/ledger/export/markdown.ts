// The summary as a page for people. Names and messages come from agents and servers: they are shown
// as code, where Markdown renders no link, no mention, no picture and no HTML.
import { visible } from '@subluminal/core/policy';
import type {
  ChangedDefinition,
  FailedCall,
  RunSummary,
  RunWarning,
  Violation,
} from './run-summary.ts';

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
    ...section('Policies', POLICY_COLUMNS, {
      rows: summary.policies,
      total: isByOne(summary) ? 0 : summary.policies.length,
    }),
    ...section('Changed definitions', CHANGE_COLUMNS, {
      rows: summary.definitions_changed,
      total: summary.definitions_changed.length,
    }),
    ...section('Warnings', WARNING_COLUMNS, {
      rows: summary.warnings,
      total: summary.warnings_total,
    }),
    ...section('Violations', VIOLATION_COLUMNS, {
      rows: summary.violations,
      total: summary.violations_total,
    }),
    ...section('Would have been refused', VIOLATION_COLUMNS, {
      rows: summary.spared,
      total: summary.spared_total,
    }),
    ...section('Errors', ERROR_COLUMNS, {
      rows: summary.errors,
      total: summary.totals.errors_total,
    }),
    ...section('Rules', RULE_COLUMNS, { rows: summary.rules, total: summary.rules.length }),
    ...section('Tools', TOOL_COLUMNS, { rows: summary.tools, total: summary.tools.length }),
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

/** By its title, how each column is read. */
type Columns<R> = { readonly [title: string]: (row: R) => string };

const NAMES: Columns<{ readonly server_name: string; readonly tool_name: string }> = {
  server: ({ server_name }) => code(server_name),
  tool: ({ tool_name }) => code(tool_name),
};
const POLICY_COLUMNS: Columns<RunSummary['policies'][number]> = {
  policy: ({ policy_id }) => code(policy_id),
  version: ({ policy_version }) => code(policy_version),
  hash: ({ policy_hash }) => code(policy_hash.slice(0, HASH_SHOWN)),
  calls: ({ calls }) => String(calls),
  refused: ({ refused }) => String(refused),
};
const CHANGE_COLUMNS: Columns<ChangedDefinition> = {
  'first seen': ({ ts }) => ts,
  server: ({ server_name }) => code(server_name),
  'what has changed': ({ tool_name }) => (tool_name === null ? 'instructions' : code(tool_name)),
  calls: ({ enforced }) => (enforced ? 'refused until a person accepts it' : 'not refused'),
};
const WARNING_COLUMNS: Columns<RunWarning> = {
  time: ({ ts }) => ts,
  'decided or recorded by less than it should be': ({ reason }) => code(reason),
};
const VIOLATION_COLUMNS: Columns<Violation> = {
  time: ({ ts }) => ts,
  ...NAMES,
  decision: ({ action }) => action,
  rule: ({ rule_id }) => code(rule_id ?? ''),
  reason: ({ reason_code }) => code(reason_code),
  summary: ({ summary }) => code(summary),
};
const ERROR_COLUMNS: Columns<FailedCall> = {
  time: ({ ts }) => ts,
  ...NAMES,
  status: ({ status }) => status,
  class: (row) => row.class,
  message: ({ message }) => code(message),
};
const RULE_COLUMNS: Columns<RunSummary['rules'][number]> = {
  rule: ({ rule_id }) => code(rule_id),
  decisions: ({ count }) => String(count),
};
const TOOL_COLUMNS: Columns<RunSummary['tools'][number]> = {
  ...NAMES,
  calls: ({ calls }) => String(calls),
  refused: ({ refused }) => String(refused),
  errors: ({ errors }) => String(errors),
};

function section<R>(
  title: string,
  columns: Columns<R>,
  { rows, total }: { readonly rows: readonly R[]; readonly total: number },
): readonly string[] {
  if (total === 0) return [];
  const shown = rows
    .slice(0, ROWS_MAX)
    .map((row) => Object.values(columns).map((cell) => cell(row)));
  const more = total > shown.length ? [`… and ${total - shown.length} more.`] : [];
  return [`## ${title}`, table(Object.keys(columns), shown), ...more];
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
