// Who decides beside the rules, asked in a way that cannot let a call slip by.
import type { Decision } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { Judge, JudgedCall } from './types.ts';

const REASON_LENGTH_MAX = 300;

export function refusalBy(judge: Judge, judged: JudgedCall): Decision | undefined {
  try {
    return judge.refusal(judged);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return {
      action: 'BLOCK',
      rule_id: null,
      severity: 'critical',
      reason_code: 'CEDAR_UNAVAILABLE',
      summary: `The Cedar policies could not be asked: ${visible(why, REASON_LENGTH_MAX)}.`,
    };
  }
}
