// The rule that a policy implies which has rules about commands: what they cannot judge is not let pass
// unseen. It comes last, and is explained and recorded as any other rule.
import type { Rule, SnapshotDocument } from '@subluminal/contracts';
import { ruleKind } from '../rules/index.ts';

const RULE_ID = 'commands:opaque';

const FRAME = {
  enabled: true,
  match: { command: { opaque: true } },
  severity: 'warn',
} as const;

const REASON = {
  reason_code: 'COMMAND_OPAQUE',
  message: 'A part of this command cannot be understood without running it.',
  hint: {
    hint_text:
      'Write programs, files and hosts as they are, one step per call: no eval, no $(…) or variable for a program or a file, no code in -c, -e or a pipe to a shell, no terminal (tty). Put longer code into a file of the project.',
    hint_kind: 'SAFETY',
  },
} as const;

export function opaqueRules(
  { commands }: Pick<SnapshotDocument, 'commands'>,
  prefix: string,
): readonly Rule[] {
  const rule_id = `${prefix}${RULE_ID}`;
  switch (commands?.opaque) {
    case 'ask': {
      const effect = { approval: { wait: 'hold' }, ...REASON } as const;
      return [ruleKind('approval').normalize({ ...FRAME, rule_id, kind: 'approval', effect })];
    }
    case 'block': {
      const effect = { action: 'BLOCK', ...REASON } as const;
      return [{ ...FRAME, rule_id, kind: 'deny', effect }];
    }
    default:
      return [];
  }
}
