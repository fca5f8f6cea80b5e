// What comes with a call from an agent that has it judged before, such as by a guardian model. Judgements may only
// tighten: one refuses the call, another asks a person, and a consent changes nothing.
import {
  type ApprovalAbout,
  type CallJudgement,
  type Decision,
  JUDGEMENTS_MAX,
} from '@subluminal/contracts';
import { visible } from '../text/visible.ts';
import type { Redact } from './types.ts';

/** Bounded and redacted by the session: it comes from models. */
export interface CallBrief {
  readonly judgements: readonly CallJudgement[];
  /** For the person who is asked. */
  readonly about: Omit<ApprovalAbout, 'judgements'>;
}

export const JUDGEMENT_GATE = 'gate:judgement';

/** As the specification has it: then the question expires, and the call is refused. */
const APPROVAL = { wait: 'hold', timeout_ms: 300_000 } as const;
const SUMMARY_LENGTH_MAX = 500;

/** The brief as it may be recorded and shown. */
export function recordedBrief({ judgements, about }: CallBrief, redact: Redact): CallBrief {
  const text = (value: string, lengthMax: number): string =>
    redact(value)
      .slice(0, lengthMax)
      .replace(/[\uD800-\uDBFF]$/, '');
  const { reasoning, task, channel, request } = about;
  return {
    judgements: strictestFirst(judgements)
      .slice(0, JUDGEMENTS_MAX)
      .map(({ by, verdict, reason, model }) => ({
        by: text(by, 64) || 'unknown',
        verdict,
        reason: text(reason, 1_000),
        ...(model !== undefined && model !== '' && { model: text(model, 256) }),
      })),
    about: {
      reasoning: text(reasoning, 4_000),
      task: text(task, 2_000),
      channel: text(channel, 64),
      ...(request !== undefined && { request: text(request, 4_000) }),
    },
  };
}

/** The one that counts is never cut off. */
function strictestFirst(judgements: readonly CallJudgement[]): readonly CallJudgement[] {
  const rank = { BLOCK: 0, ESCALATE_TO_HUMAN: 1, ALLOW: 2 } as const;
  return judgements.toSorted((one, other) => rank[one.verdict] - rank[other.verdict]);
}

/** What the strictest judgement wants; undefined where all of them consent. */
export function judgedDecision({ judgements: [strictest] }: CallBrief): Decision | undefined {
  if (strictest === undefined || strictest.verdict === 'ALLOW') return undefined;
  const { by, reason, verdict } = strictest;
  const words = visible(`${by}: ${reason}`, SUMMARY_LENGTH_MAX);
  const base = { rule_id: JUDGEMENT_GATE, severity: 'warn' } as const;
  if (verdict === 'BLOCK') {
    const summary = `The call was judged, and must not be made. ${words}`;
    return { ...base, action: 'BLOCK', reason_code: 'JUDGEMENT_BLOCKED', summary };
  }
  return {
    ...base,
    action: 'REJECT_WITH_HINT',
    reason_code: 'JUDGEMENT_ESCALATED',
    summary: `The call was judged, and needs a person. ${words}`,
    hint: {
      hint_text: 'Go on without this call, or tell the user why it is needed.',
      suggested_args: null,
      retry_advice: null,
      hint_kind: 'SAFETY',
    },
    approval: APPROVAL,
  };
}
