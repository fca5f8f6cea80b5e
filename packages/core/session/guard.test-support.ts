// Small guards for tests: they pass everything but what a test says.
import type { Decision } from '@subluminal/contracts';
import type { ContentNote, GateVerdict, Guard, GuardedCall, MessageVerdict } from './guard.ts';

const PASS: GateVerdict = { kind: 'pass' };
export const SAME: MessageVerdict = { kind: 'same' };

export function guardOf(parts: Partial<Guard> = {}): Guard {
  return {
    surface: () => PASS,
    content: () => PASS,
    passed: () => {},
    ended: () => {},
    wants: () => false,
    passing: () => SAME,
    unseen: () => SAME,
    notices: () => [],
    ...parts,
  };
}

/** A gate that says no. */
export function stops(rule_id: string, note?: ContentNote): () => GateVerdict {
  return () => ({ kind: 'stop', decision: refusalBy(rule_id), note });
}

function refusalBy(rule_id: string): Decision {
  return {
    action: 'BLOCK',
    rule_id,
    severity: 'warn',
    reason_code: `BY_${rule_id.replace('gate:', '').toUpperCase()}`,
    summary: 'A gate stops it.',
  };
}

/** A gate that wants a person, until one has agreed. */
export function asksFor(rule_id: string, wait: 'hold' | 'hint' = 'hold') {
  return (call: GuardedCall): GateVerdict => {
    if (call.isApproved(rule_id)) return PASS;
    const retry_advice = 'Try the same call again once it has been approved.';
    const hint = { hint_text: 'Ask.', suggested_args: null, retry_advice, hint_kind: 'SAFETY' };
    const approval = { wait, timeout_ms: 1_000 };
    const base = { ...refusalBy(rule_id), action: 'REJECT_WITH_HINT' } as const;
    return {
      kind: 'stop',
      decision: { ...base, hint: { ...hint, hint_kind: 'SAFETY' }, approval },
    };
  };
}

export function refused(reason_code: string, hint?: string): MessageVerdict {
  return { kind: 'refused', reason_code, summary: 'It may not pass.', hint };
}
