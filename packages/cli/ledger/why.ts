// Why a call was decided as it was: in one sentence, and by the gates that said something.
import type { ApiCallRecord } from '@subluminal/contracts';
import type { CallDetail } from '@subluminal/plane/ledger';
import type { CallRecord } from './call-record.ts';

const VERBS: { readonly [action: string]: string } = {
  ALLOW: 'Allowed',
  BLOCK: 'Blocked',
  THROTTLE: 'Told to wait',
  REJECT_WITH_HINT: 'Refused with a hint',
  TERMINATE_RUN: 'Refused, and the run was ended',
};

/** What was decided, by what, and why. */
export function whySentence(record: CallRecord): string {
  const { call, approvals, decision } = record;
  const { rule_id, would_action, would_rule_id } = call;
  const asked = approvals.find(({ approval }) => approval.state === 'asked')?.approval;
  if (call.decision === null) {
    if (call.status !== null) return 'No decision is on record.';
    const by = asked === undefined ? '' : `: ${deciderName(asked.rule_id)} asks for an approval`;
    return asked === undefined ? 'Nothing is decided yet.' : `Waits for a person${by}.`;
  }
  const verb = VERBS[call.decision] ?? call.decision;
  const summary = closedText(call.summary ?? '');
  if (call.decision !== 'ALLOW') return `${verb} by ${deciderName(rule_id)}: ${summary}`;
  if (would_action !== null && would_action !== 'ALLOW') {
    const would = (VERBS[would_action] ?? would_action).toLowerCase();
    const reason = closedText(decision?.decision.would?.summary ?? '');
    return `Allowed, because the policy only observes: enforced, it would be ${would} by ${deciderName(would_rule_id)}: ${reason}`;
  }
  const approved = approvals.findLast(({ approval }) => approval.state === 'approved')?.approval;
  if (approved !== undefined) {
    const by = approved.by === undefined ? 'a person' : approved.by;
    const grant = approved.grant_id === undefined ? '' : ' by a grant';
    return `Allowed, because ${by} approved it${grant}, as ${deciderName(approved.rule_id)} asks.`;
  }
  return rule_id === null
    ? `Allowed: ${summary}`
    : `Allowed by ${deciderName(rule_id)}: ${summary}`;
}

function deciderName(ruleId: string | null): string {
  if (ruleId === null) return 'no rule';
  const [, kind, name = ''] = /^(gate|cedar):(.+)$/s.exec(ruleId) ?? [];
  if (kind === 'gate') return `the gate ${name}`;
  return kind === 'cedar' ? `the Cedar policy ${name}` : `rule ${ruleId}`;
}

function closedText(text: string): string {
  return text === '' ? 'no reason is on record.' : /[.!?…]$/.test(text) ? text : `${text}.`;
}

type GateRecord = ApiCallRecord['gates'][number];

const OUTCOMES: { readonly [action: string]: GateRecord['outcome'] } = {
  tag: 'tagged',
  redact: 'redacted',
  ask: 'asked',
  block: 'stopped',
};

/** What gates found in the arguments and in the result, and the gate that decided. */
export function gateRecords({ call, decision }: CallRecord): readonly GateRecord[] {
  const found = [
    ...foundIn(call.args_content, 'arguments'),
    ...foundIn(call.result_content, 'result'),
  ];
  const isRefused = call.decision !== null && call.decision !== 'ALLOW';
  const isAsked = decision?.decision.approval !== undefined;
  const deciding = isRefused
    ? gateNamed(call.rule_id, isAsked ? 'asked' : 'stopped')
    : gateNamed(call.would_rule_id, 'would_stop');
  return [...deciding.filter(({ gate }) => found.every((one) => one.gate !== gate)), ...found];
}

function gateNamed(ruleId: string | null, outcome: GateRecord['outcome']): readonly GateRecord[] {
  const [, kind, name = ''] = /^(gate|cedar):(.+)$/s.exec(ruleId ?? '') ?? [];
  if (kind === undefined) return [];
  const findings = kind === 'cedar' ? [name] : [];
  return [{ gate: kind === 'cedar' ? kind : name, about: 'call', outcome, findings }];
}

/** Findings of taint stand beside those of content. */
function foundIn(
  content: CallDetail['args_content'],
  about: GateRecord['about'],
): readonly GateRecord[] {
  if (content === undefined) return [];
  const isTaint = (finding: string) => finding.startsWith('taint:');
  const outcome = OUTCOMES[content.action] ?? 'tagged';
  const parts = [
    ['taint', content.findings.filter(isTaint)],
    ['content', content.findings.filter((finding) => !isTaint(finding))],
  ] as const;
  return parts.flatMap(([gate, findings]) =>
    findings.length === 0 ? [] : [{ gate, about, outcome, findings }],
  );
}
