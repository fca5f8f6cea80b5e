// A replay for people: how it came out, then every call that came out differently.
import { visible } from '../visible.ts';
import type { ReplayedCall, ReplayNotes, ReplayResult, Verdict } from './types.ts';

type Named<V> = { readonly [name: string]: V };

const NAME_LENGTH_MAX = 60;
const LINES_MAX = 200;

const MARKS: { readonly [V in Verdict]: string } = {
  looser: '!',
  stricter: '~',
  undetermined: '?',
  different_rule: '·',
  unrecorded: '·',
  same: ' ',
};
const VERDICT_WORDS: { readonly [V in Verdict]: string } = {
  same: 'same',
  stricter: 'stricter',
  looser: 'looser',
  different_rule: 'by another rule',
  undetermined: 'undetermined',
  unrecorded: 'unrecorded',
};
const NOTE_WORDS: { readonly [N in keyof ReplayNotes]: string } = {
  decisions_without_start: 'decisions came without the start of their call',
  ends_without_start: 'ends came without the start of their call',
  late_starts: 'starts came after the decision of their call',
  repeated_starts: 'starts were repeated and left out',
  repeated_decisions: 'later decisions on the same call were left out',
  out_of_order: 'calls came out of order',
  calls_missing: 'calls are missing, so counters may stand too low',
  bad_times: 'times could not be read',
  calls_forgotten: 'calls were given up while still open',
  runs_forgotten: 'runs were given up to make room; if they went on, their counters began anew',
  calls_left_out: 'calls are counted but not listed',
  rules_left_out: 'decisions name more rules than are counted',
};

function formatReplay(result: ReplayResult): string {
  const { policy, summary } = result;
  const counts = worded(summary.verdicts, VERDICT_WORDS).join(', ');
  const head = `${summary.calls} calls of ${summary.runs} runs`;
  const ref = `${name(policy.policy_id)} ${name(policy.policy_version)}`;
  return [
    `${head} replayed with ${ref}: ${counts}.`,
    ...section('', callLines(result.calls)),
    ...section('rules', ruleLines(summary.rules)),
    ...section('notes', noteLines(result.notes)),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return ['', ...(title === '' ? [] : [`${title}:`]), ...lines];
}

function callLines(calls: readonly ReplayedCall[]): readonly string[] {
  const differing = calls.filter(({ verdict }) => verdict !== 'same');
  const lines = differing.slice(0, LINES_MAX).map(callLine);
  const more = differing.length - lines.length;
  return more > 0 ? [...lines, `  … and ${more} more`] : lines;
}

function callLine(call: ReplayedCall): string {
  const { run_id, seq, server_name, tool_name, verdict } = call;
  const place = `${name(run_id)} #${seq ?? '?'}`;
  const was = decided(call.recorded, 'no decision');
  const is = decided(call.replayed, 'needs arguments that were not recorded');
  const words = VERDICT_WORDS[verdict].padEnd(VERDICT_WORDS.different_rule.length);
  return `${MARKS[verdict]} ${words}  ${place}  ${name(server_name)} / ${name(tool_name)}  ${was} → ${is}`;
}

function decided(decision: ReplayedCall['recorded'], otherwise: string): string {
  if (decision === null) return otherwise;
  return decision.action + (decision.rule_id === null ? '' : ` by ${name(decision.rule_id)}`);
}

function ruleLines(rules: ReplayResult['summary']['rules']): readonly string[] {
  const shown = rules.slice(0, LINES_MAX);
  const width = Math.max(0, ...shown.map(({ rule_id }) => name(rule_id).length));
  const lines = shown.map(
    ({ rule_id, recorded, replayed }) =>
      `  ${name(rule_id).padEnd(width)}  recorded ${recorded}, replayed ${replayed}`,
  );
  return rules.length > shown.length
    ? [...lines, `  … and ${rules.length - shown.length} more`]
    : lines;
}

function noteLines(notes: ReplayNotes): readonly string[] {
  const found = Object.entries(notes).filter(([, count]) => count > 0);
  return worded(Object.fromEntries(found), NOTE_WORDS).map((line) => `  ${line}`);
}

/** "3 stricter", for every count. */
function worded(counts: Named<number>, words: Named<string>): readonly string[] {
  return Object.entries(counts).map(([key, count]) => `${count} ${words[key] ?? key}`);
}

function name(value: string): string {
  return visible(value, NAME_LENGTH_MAX);
}

export { formatReplay };
