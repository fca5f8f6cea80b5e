// An explanation for people: plain lines, the decision first.
import type { Decision } from '@subluminal/contracts';
import { visible } from '../../text/visible.ts';
import { type ExplainedRule, type Explanation, sectionLines } from './explain.ts';

const NAME_LENGTH_MAX = 60;
const TEXT_LENGTH_MAX = 400;
const JSON_LENGTH_MAX = 2_000;
const HASH_LENGTH = 12;
const LABEL_LENGTH = 'suggested'.length;

export function formatExplanation(explanation: Explanation): string {
  const { decision } = explanation;
  return [
    ...headlines(decision),
    ...adviceOf(decision),
    ...contextOf(explanation),
    '',
    ...ruleLines(explanation.rules),
    ...sectionLines(explanation.not_evaluated),
  ].join('\n');
}

function headlines(decision: Decision): readonly string[] {
  const head = headline(decision, decision.severity);
  if (decision.would === undefined) return [head];
  return [
    `ALLOW, because nothing is enforced here [${name(decision.reason_code)}]`,
    labelled('would be', headline(decision.would, decision.severity)),
  ];
}

function headline(
  decision: Pick<Decision, 'action' | 'rule_id' | 'reason_code' | 'summary'>,
  severity: string,
): string {
  const { action, rule_id, reason_code, summary } = decision;
  const by = rule_id === null ? '' : ` by ${name(rule_id)}`;
  return `${action}${by}: ${text(summary)} [${name(reason_code)}, ${severity}]`;
}

function adviceOf({ hint, backoff_ms, terminate, approval }: Decision): readonly string[] {
  const lines: string[] = [];
  if (hint !== undefined) {
    lines.push(labelled('hint', `${text(hint.hint_text)} [${hint.hint_kind}]`));
    if (hint.suggested_args !== null) {
      const json = visible(JSON.stringify(hint.suggested_args), JSON_LENGTH_MAX);
      lines.push(labelled('suggested', json));
    }
    // Who is held open gets the answer without asking again.
    if (hint.retry_advice !== null && approval?.wait !== 'hold') {
      lines.push(labelled('retry', text(hint.retry_advice)));
    }
  }
  if (backoff_ms !== undefined) lines.push(labelled('wait', `${backoff_ms} ms`));
  if (terminate !== undefined) {
    const { terminate_code, terminate_message } = terminate;
    lines.push(labelled('ends run', `${name(terminate_code)}: ${text(terminate_message)}`));
  }
  if (approval !== undefined) {
    lines.push(labelled('approval', `${approval.wait}, within ${approval.timeout_ms} ms`));
  }
  return lines;
}

function contextOf(explanation: Explanation): readonly string[] {
  const { call, policy, mode, profile, selected, selector, risk_class } = explanation;
  const { tightened_by: second } = explanation;
  const classes = risk_class.map(name).join(', ');
  const hash = policy.policy_hash.slice(0, HASH_LENGTH);
  const version = `${name(policy.policy_id)} ${name(policy.policy_version)}`;
  return [
    labelled('call', `${name(call.server_name)} / ${name(call.tool_name)}`),
    labelled('policy', `${version} (${mode}, ${profile}, ${name(hash)})`),
    ...(second === undefined ? [] : [labelled('and', secondWords(second))]),
    labelled('risk', classes === '' ? 'none' : classes),
    ...(selected ? [] : [labelled('selector', selector)]),
  ];
}

function secondWords(second: NonNullable<Explanation['tightened_by']>): string {
  const { policy_id, policy_version, mode, selected } = second;
  const whom = selected ? 'it may only tighten' : 'it is not for this agent';
  return `${name(policy_id)} ${name(policy_version)} (${mode}); ${whom}`;
}

function ruleLines(rules: readonly ExplainedRule[]): readonly string[] {
  if (rules.length === 0) return ['The policy has no rules.'];
  const rows = rules.map(
    (rule) => [name(rule.rule_id), rule.kind, rule.outcome, rule.why] as const,
  );
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function labelled(label: string, value: string): string {
  return `  ${label.padEnd(LABEL_LENGTH)}  ${value}`;
}

function name(value: string): string {
  return visible(value, NAME_LENGTH_MAX);
}

function text(value: string): string {
  return visible(value, TEXT_LENGTH_MAX);
}
