// `approval`: stops calls until a person approves them.
import type { RuleOf } from '@subluminal/contracts';
import { type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';
import { decideApproval } from './decide.ts';
import { APPROVAL_FIELDS } from './diff.ts';
import { asksNobody } from './lint.ts';

const TIMEOUT_MS = 300_000;

export const approval: RuleKind<RuleOf<'approval'>> = {
  role: 'asks',
  examples: { approval: '{ wait: hold }', wait: 'hold' },
  normalize: (rule) => {
    const section = { timeout_ms: TIMEOUT_MS, ...rule.effect.approval };
    return {
      ...rule,
      effect: { ...withReason(rule.effect, 'APPROVAL_REQUIRED'), approval: section },
    };
  },
  lint: asksNobody,
  decide: decideApproval,
  fields: APPROVAL_FIELDS,
};
