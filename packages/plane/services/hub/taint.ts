// What the servers of a run have answered, and which arguments of later calls came from there.
import {
  type ContentOutcome,
  type Decision,
  type FullTaintSection,
  HUB_OBSERVED_CHARS_MAX,
  type Mode,
  type ObserveRequest,
} from '@subluminal/contracts';
import type { Call } from '@subluminal/core/policy';
import {
  compileTaint,
  judgeTaint,
  newTaint,
  observe,
  recordCall,
  said,
  type TaintJudgement,
  type TaintPolicy,
  type TaintState,
} from '@subluminal/core/taint';
import type { AskedCall } from './read-call.ts';

/** The taint section of a policy, ready to use. */
export interface TaintRules {
  readonly policy: TaintPolicy;
  readonly approval: FullTaintSection['approval'];
  readonly mode: Mode;
}

export interface TaintSaid {
  /** The refusals that it wants, those that a person may lift included. */
  readonly decisions: readonly Decision[];
  readonly note: ContentOutcome | undefined;
}

const NOTHING: TaintSaid = { decisions: [], note: undefined };
/** Answers of a server whose policy has no taint section may reach a server whose policy has one. */
const STRICT = compileTaint();

export function taintRules(section: FullTaintSection, mode: Mode): TaintRules {
  return { policy: compileTaint(section), approval: section.approval, mode };
}

export class RunTaint {
  #state: TaintState = newTaint();

  /** Remembers an answer; of one that is not known whole, that it was not. */
  observe(request: ObserveRequest, rules: TaintRules | undefined): void {
    const { server_id: server, tool_name: tool, call_id: callId } = request;
    const policy = rules?.policy ?? STRICT;
    const read = contentOf(request.text);
    this.#state = observe(
      { ...this.#state, trustedClears: policy.trustedClears },
      {
        server,
        tool,
        callId,
        trust: policy.trustOf({ server, tool }),
        content: read.content,
        partial: read.partial || request.partial === true,
      },
    );
  }

  /** Values that the user names are not tainted. */
  said(text: string): void {
    this.#state = said(this.#state, text);
  }

  /** Looks at a call; nothing is remembered of it. */
  judge(call: Call, beside: unknown, rules: TaintRules): TaintSaid {
    const { policy } = rules;
    const { server_name: server, tool_name: tool, args, approved = [] } = call;
    const judged = { server, tool, ...(args && { args }), beside };
    const { objections, findings } = judgeTaint(this.#state, judged, policy);
    if (findings.length === 0) return NOTHING;
    const decisions = objections
      .filter(({ ruleId }) => !approved.includes(ruleId))
      .map((objection) => refusal(objection, rules));
    return { decisions, note: { action: actionOf(decisions), findings } };
  }

  /** Records a call that passes: the answer may repeat what was sent with it. */
  passed(
    { callId, call, beside }: Pick<AskedCall, 'callId' | 'call' | 'beside'>,
    { policy }: TaintRules,
  ): void {
    const { server_name: server, tool_name: tool, args } = call;
    this.#state = recordCall(this.#state, { server, tool, callId, args, beside }, policy);
  }
}

interface Content {
  readonly content: unknown;
  readonly partial: boolean;
}

/** A text that is no JSON, or too long to be parsed, is followed as plain text and marked as partial. */
function contentOf(text: string): Content {
  if (text.length > HUB_OBSERVED_CHARS_MAX) {
    return { content: text.slice(0, HUB_OBSERVED_CHARS_MAX), partial: true };
  }
  try {
    const content: unknown = JSON.parse(text);
    return { content, partial: false };
  } catch {
    return { content: text, partial: true };
  }
}

/** Only control mode asks people. Elsewhere the call is stopped, with the hint all the same. */
function refusal(
  { how, hint, ruleId: rule_id, reason_code, summary }: TaintJudgement['objections'][number],
  { approval, mode }: TaintRules,
): Decision {
  const base = { rule_id, reason_code, summary, severity: 'critical' } as const;
  if (how === 'block') return { ...base, action: 'BLOCK', summary: `${summary} ${hint}` };
  const asks = mode === 'control';
  const retry_advice = asks ? 'Try the same call again once it has been approved.' : null;
  return {
    ...base,
    action: 'REJECT_WITH_HINT',
    hint: { hint_text: hint, suggested_args: null, retry_advice, hint_kind: 'SAFETY' },
    ...(asks && { approval }),
  };
}

function actionOf(decisions: readonly Decision[]): ContentOutcome['action'] {
  if (decisions.length === 0) return 'tag';
  return decisions.some(({ approval }) => approval === undefined) ? 'block' : 'ask';
}
