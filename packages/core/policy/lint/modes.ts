// Advice on the mode and the defaults of a bundle.
import { quote } from '../read/quote.ts';
import { type Advice, note, type Subject, warning } from './advice.ts';

const READ_CLASS = 'read_like';

export function failsOpen({ bundle }: Subject): readonly Advice[] {
  if (bundle.mode === 'observe' || bundle.defaults.decision_on_error !== 'ALLOW') return [];
  return [
    warning(
      'SUB_LINT_FAIL_OPEN',
      ['defaults', 'decision_on_error'],
      [
        `a rule that cannot be evaluated lets the call pass, although the mode is ${bundle.mode}`,
        'Write `decision_on_error: BLOCK`.',
      ],
    ),
  ];
}

/** Whoever can reach what governs it can end it. */
export function unprotected({ bundle }: Subject): readonly Advice[] {
  if (bundle.self_protection !== 'off') return [];
  return [
    warning(
      'SUB_LINT_SELF_PROTECTION',
      ['self_protection'],
      [
        'calls may name the policy, SUB_HOME and the ledger, so an agent can free itself',
        'Leave `self_protection` out, unless something else keeps agents away from these files.',
      ],
    ),
  ];
}

/** Only control mode asks people. */
export function approvalsWithoutControl({ bundle, enabled }: Subject): readonly Advice[] {
  const { mode } = bundle;
  if (mode === 'control') return [];
  const instead = mode === 'observe' ? 'only records what it would do' : 'blocks at once';
  return enabled.flatMap(({ rule, index }) => {
    if (rule.kind !== 'approval') return [];
    return warning(
      'SUB_LINT_APPROVAL_MODE',
      ['rules', index, 'kind'],
      [
        `${quote(rule.rule_id)} asks nobody in ${mode} mode: it ${instead}`,
        'Write `mode: control`.',
      ],
    );
  });
}

export function observesOnly({ bundle, enabled }: Subject): readonly Advice[] {
  const blocks = enabled.some(({ rule }) => rule.kind !== 'tag' && rule.kind !== 'allow');
  if (bundle.mode !== 'observe' || !blocks) return [];
  return [
    note(
      'SUB_LINT_OBSERVE',
      ['mode'],
      [
        'observe mode never blocks: the rules only record what they would do',
        'Write `mode: guardrails` to enforce them.',
      ],
    ),
  ];
}

export function readsUntagged({ bundle, enabled }: Subject): readonly Advice[] {
  if (bundle.defaults.fail_open_read_tools !== true) return [];
  const tagged = enabled.some(
    ({ rule }) => rule.kind === 'tag' && rule.effect.tag.add_risk_class.includes(READ_CLASS),
  );
  if (tagged) return [];
  return [
    warning(
      'SUB_LINT_READ_UNTAGGED',
      ['defaults', 'fail_open_read_tools'],
      [
        `\`fail_open_read_tools\` lets calls pass that are tagged \`${READ_CLASS}\`, but no rule tags any`,
        `Add a \`tag\` rule with \`add_risk_class: [${READ_CLASS}]\`.`,
      ],
    ),
  ];
}
