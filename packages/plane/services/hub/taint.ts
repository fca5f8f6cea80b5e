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
  checkCall,
  compileTaint,
  newTaint,
  observe,
  RULE_OF_TWO_HINT,
  recordCall,
  ruleOfTwo,
  ruleOfTwoSummary,
  TAINT_HINT,
  type TaintPolicy,
  type TaintState,
  taintSummary,
} from '@subluminal/core/taint';

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

const TAINT_ID = 'gate:taint';
const RULE_OF_TWO_ID = 'gate:rule-of-two';
const NOTHING: TaintSaid = { decisions: [], note: undefined };
/** Answers at a server whose policy says nothing of taint may reach one whose policy does. */
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

  /** Looks at a call; nothing is remembered of it. */
  judge(call: Call, beside: unknown, rules: TaintRules): TaintSaid {
    const { policy } = rules;
    const { server_name: server, tool_name: tool, args, approved = [] } = call;
    const name = { server, tool };
    const findings = new Set<string>();
    const decisions: Decision[] = [];
    const stop = (decision: Decision) => {
      if (!approved.includes(decision.rule_id ?? '')) decisions.push(decision);
    };
    const checked = checkCall(this.#state, { ...name, ...(args && { args }), beside }, policy);
    if (checked.verdict === 'tainted') {
      for (const { sink } of checked.findings) findings.add(`taint:${sink}`);
      if (policy.onTaint !== 'tag') {
        const what = { rule_id: TAINT_ID, reason_code: 'TAINTED_SINK', hint: TAINT_HINT };
        stop(refusal(policy.onTaint, { ...what, summary: taintSummary(checked) }, rules));
      }
    }
    const two = policy.ruleOfTwo === 'off' ? undefined : ruleOfTwo(this.#state, name, policy);
    if (policy.ruleOfTwo !== 'off' && two?.verdict === 'third') {
      findings.add('taint:rule_of_two');
      const what = { rule_id: RULE_OF_TWO_ID, reason_code: 'RULE_OF_TWO', hint: RULE_OF_TWO_HINT };
      stop(refusal(policy.ruleOfTwo, { ...what, summary: ruleOfTwoSummary(two) }, rules));
    }
    if (findings.size === 0) return NOTHING;
    return { decisions, note: { action: actionOf(decisions), findings: [...findings] } };
  }

  /** The call passes: from now on the run has what it brings, and its answer may repeat it. */
  passed(callId: string, call: Call, { policy }: TaintRules): void {
    const { server_name: server, tool_name: tool, args } = call;
    this.#state = recordCall(this.#state, { server, tool, callId, args }, policy);
  }
}

interface Content {
  readonly content: unknown;
  readonly partial: boolean;
}

/** What is no JSON, or too long to be, is looked at as a text: it may hide more than it shows. */
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

interface Words {
  readonly rule_id: string;
  readonly reason_code: string;
  readonly summary: string;
  readonly hint: string;
}

/** Only control mode asks people. Elsewhere the call is stopped, with the hint all the same. */
function refusal(
  how: 'ask' | 'block',
  { hint, ...words }: Words,
  { approval, mode }: TaintRules,
): Decision {
  const base = { ...words, severity: 'critical' } as const;
  if (how === 'block') return { ...base, action: 'BLOCK', summary: `${words.summary} ${hint}` };
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
