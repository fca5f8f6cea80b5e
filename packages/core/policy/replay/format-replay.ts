// A replay for people: how it came out, then every call that came out differently.

import { plural } from '../../text/plural.ts';
import { visible } from '../../text/visible.ts';
import { sectionLines } from '../explain/explain.ts';
import type { ReplayedCall, ReplayNotes, ReplayResult, ReplayVerdict } from './types.ts';

const NAME_LENGTH_MAX = 60;
const LINES_MAX = 200;

const MARKS: { readonly [V in ReplayVerdict]: string } = {
  looser: '!',
  stricter: '~',
  undetermined: '?',
  different_rule: '·',
  unrecorded: '·',
  same: ' ',
};
const NOTE_WORDS: { readonly [N in keyof ReplayNotes]: string } = {
  decisions_without_start: 'decisions without the start of their call',
  ends_without_start: 'ends without the start of their call',
  late_starts: 'starts after the decision of their call',
  repeated_starts: 'repeated starts, which were left out',
  repeated_decisions: 'later decisions on the same call, which were left out',
  out_of_order: 'calls out of order',
  calls_missing: 'calls missing, so counters may stand too low',
  bad_times: 'times that could not be read',
  calls_forgotten: 'calls given up while still open',
  runs_forgotten: 'runs given up to make room; if they went on, their counters began anew',
  calls_left_out: 'calls counted but not listed',
  rules_left_out: 'decisions that name more rules than are counted',
  beside_rules: 'decisions made beside the rules, which are not replayed',
  turns_left_out: 'turns of models, which are not replayed',
};

export function formatReplay(result: ReplayResult): string {
  const { policy, summary } = result;
  const counts = Object.entries(summary.verdicts)
    .map(([verdict, count]) => `${count} ${verdictWords(verdict)}`)
    .join(', ');
  const head = `${plural(summary.calls, 'call')} of ${plural(summary.runs, 'run')}`;
  const ref = `${name(policy.policy_id)} ${name(policy.policy_version)}`;
  return [
    `${head} replayed with ${ref}: ${counts}.`,
    ...section('', callLines(result.calls)),
    ...section('rules', ruleLines(summary.rules)),
    ...section('notes', noteLines(result.notes)),
    ...sectionLines(result.not_evaluated),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return ['', ...(title === '' ? [] : [`${title}:`]), ...lines];
}

function callLines(calls: readonly ReplayedCall[]): readonly string[] {
  const differing = calls.filter(({ verdict }) => verdict !== 'same');
  return firstLines(differing.map(callLine));
}

function callLine(call: ReplayedCall): string {
  const { run_id, seq, server_name, tool_name, verdict } = call;
  const place = `${name(run_id)} #${seq ?? '?'}`;
  const was = decided(call.recorded, 'no decision');
  const is = decided(call.replayed, 'needs arguments that were not recorded');
  const words = verdictWords(verdict).padEnd(verdictWords('different_rule').length);
  return `${MARKS[verdict]} ${words}  ${place}  ${name(server_name)} / ${name(tool_name)}  ${was} → ${is}`;
}

function decided(decision: ReplayedCall['recorded'], otherwise: string): string {
  if (decision === null) return otherwise;
  return decision.action + (decision.rule_id === null ? '' : ` by ${name(decision.rule_id)}`);
}

function ruleLines(rules: ReplayResult['summary']['rules']): readonly string[] {
  const shown = rules.slice(0, LINES_MAX);
  const width = Math.max(0, ...shown.map(({ rule_id }) => name(rule_id).length));
  return firstLines(
    rules.map(
      ({ rule_id, recorded, replayed }) =>
        `  ${name(rule_id).padEnd(width)}  recorded ${recorded}, replayed ${replayed}`,
    ),
  );
}

function firstLines(lines: readonly string[]): readonly string[] {
  const more = lines.length - LINES_MAX;
  return more > 0 ? [...lines.slice(0, LINES_MAX), `  … and ${more} more`] : lines;
}

function noteLines(notes: ReplayNotes): readonly string[] {
  const words: { readonly [note: string]: string } = NOTE_WORDS;
  const found = Object.entries(notes).filter(([, count]) => count > 0);
  return found.map(([note, count]) => `  ${words[note]}: ${count}`);
}

function verdictWords(verdict: string): string {
  return verdict === 'different_rule' ? 'by another rule' : verdict;
}

function name(value: string): string {
  return visible(value, NAME_LENGTH_MAX);
}
