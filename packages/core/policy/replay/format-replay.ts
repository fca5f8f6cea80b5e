// A replay for people: how it came out, then every call that came out differently.

import { visible } from '../../text/visible.ts';
import { sectionLines } from '../explain/explain.ts';
import type { ReplayedCall, ReplayNotes, ReplayResult, ReplayVerdict } from './types.ts';

type WordsByName<V> = { readonly [name: string]: V };

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
const VERDICT_WORDS: { readonly [V in ReplayVerdict]: string } = {
  same: 'same',
  stricter: 'stricter',
  looser: 'looser',
  different_rule: 'by another rule',
  undetermined: 'undetermined',
  unrecorded: 'unrecorded',
};
/** For one, and for several. */
const NOTE_WORDS: { readonly [N in keyof ReplayNotes]: readonly [string, string] } = {
  decisions_without_start: [
    'decision came without the start of its call',
    'decisions came without the start of their call',
  ],
  ends_without_start: [
    'end came without the start of its call',
    'ends came without the start of their call',
  ],
  late_starts: [
    'start came after the decision of its call',
    'starts came after the decision of their call',
  ],
  repeated_starts: ['start was repeated and left out', 'starts were repeated and left out'],
  repeated_decisions: [
    'later decision on the same call was left out',
    'later decisions on the same call were left out',
  ],
  out_of_order: ['call came out of order', 'calls came out of order'],
  calls_missing: [
    'call is missing, so counters may stand too low',
    'calls are missing, so counters may stand too low',
  ],
  bad_times: ['time could not be read', 'times could not be read'],
  calls_forgotten: ['call was given up while still open', 'calls were given up while still open'],
  runs_forgotten: [
    'run was given up to make room; if it went on, its counters began anew',
    'runs were given up to make room; if they went on, their counters began anew',
  ],
  calls_left_out: ['call is counted but not listed', 'calls are counted but not listed'],
  rules_left_out: [
    'decision names a rule beyond those that are counted',
    'decisions name more rules than are counted',
  ],
  beside_rules: [
    'decision was made beside the rules, which is not replayed',
    'decisions were made beside the rules, which is not replayed',
  ],
};

export function formatReplay(result: ReplayResult): string {
  const { policy, summary } = result;
  const words: WordsByName<string> = VERDICT_WORDS;
  const counts = Object.entries(summary.verdicts)
    .map(([verdict, count]) => `${count} ${words[verdict] ?? verdict}`)
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
  const words: WordsByName<readonly [string, string]> = NOTE_WORDS;
  const found = Object.entries(notes).filter(([, count]) => count > 0);
  return found.map(([note, count]) => `  ${count} ${words[note]?.[count === 1 ? 0 : 1] ?? note}`);
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function name(value: string): string {
  return visible(value, NAME_LENGTH_MAX);
}
