// People who can be asked, and rules that ask them; for tests only.
import type { Rule } from '@subluminal/contracts';
import type { ApprovalWanted, Approver } from './types.ts';

export function approvalRule(rule_id: string, wait: 'hold' | 'hint', tool: string): Rule {
  return {
    rule_id,
    kind: 'approval',
    enabled: true,
    match: { tool_name: { glob: [tool] } },
    effect: { approval: { wait, timeout_ms: 1_000 } },
    severity: 'warn',
  };
}

/** People who can be asked, and who have granted what is in the list. */
export function people(granted: string[] = [], asked: ApprovalWanted[] = []): Approver {
  const isGranted = (rule: string) => granted.includes(rule);
  return {
    granted: (_query, rules) => rules.filter(isGranted),
    take: (_query, rules) =>
      rules.every(isGranted)
        ? rules.map((rule_id) => {
            granted.splice(granted.indexOf(rule_id), 1);
            return { rule_id, grant_id: 'grant', id: 'request', by: 'ann', channel: 'terminal' };
          })
        : undefined,
    ask: (wanted) => ({ id: `request-${asked.push(wanted)}`, advice: 'Ask Ann.' }),
  };
}
