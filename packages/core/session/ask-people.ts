// People, as a session sees them: what they have granted already, and how they are asked. Nothing
// here waits; calls that wait are in `held-calls.ts`.

import type { Decision } from '@subluminal/contracts';
import { candidatesFor, policiesIn } from '../policy/compile/snapshot.ts';
import type { TraceStep } from '../policy/index.ts';
import { ruleRole } from '../policy/rules/index.ts';
import type { Context, MessageStep } from './context.ts';
import type { DecidedCall, Judgement } from './decide-call.ts';
import type { LazyEnvelope, ReadCall } from './read-call.ts';
import { emitApproval, previewText } from './record-call.ts';
import type { ApprovalWanted, GrantQuery, SessionConfig, TakenGrant } from './types.ts';

const NONE: readonly string[] = [];
/** What asks for a person in the hub, beside the rules. */
const HUB_GATES: readonly string[] = ['gate:taint', 'gate:rule-of-two'];

type GrantSubject = Pick<GrantQuery, 'ref' | 'args'> & {
  readonly tool: string;
  readonly envelope: LazyEnvelope | undefined;
};
type BoundCall = Pick<ReadCall, 'ref' | 'envelope'>;

/** The approval rules that grants satisfy for this call. */
export function grantedRules(
  context: Context,
  { ref, tool, args, envelope }: GrantSubject,
): readonly string[] {
  const { approver } = context.config;
  const { ref: policy } = context.snapshot;
  if (approver === undefined) return NONE;
  const asking = policiesIn(context.snapshot).filter(({ document }) => document.mode === 'control');
  if (asking.length === 0) return NONE;
  const candidates = asking.flatMap((one) => candidatesFor(one, ref.server_name, tool));
  const rules = candidates.flatMap(({ rule }) => (ruleRole(rule) === 'asks' ? rule.rule_id : []));
  const ruleIds = isJudged(context.config) ? [...rules, ...HUB_GATES] : rules;
  // A name that is not shown as it is could be another tool than the one that people saw.
  if (ruleIds.length === 0 || tool !== ref.tool_name) return NONE;
  const query = { ref, args, policyHash: policy.policy_hash };
  return approver.granted(queryOf(context, query, envelope), ruleIds);
}

/** Whether a grant satisfies what a gate asks for. Where nobody is asked, nothing is granted. */
export function isGranted(
  context: Context,
  { ref, tool, args, envelope }: GrantSubject,
  ruleId: string,
): boolean {
  const { approver } = context.config;
  const { document, ref: policy } = context.snapshot;
  if (approver === undefined || document.mode === 'guardrails') return false;
  if (tool !== ref.tool_name) return false;
  const query = queryOf(context, { ref, args, policyHash: policy.policy_hash }, envelope);
  return approver.granted(query, [ruleId]).includes(ruleId);
}

/** The hub has gates of its own. */
function isJudged({ hub, hubNeeds }: SessionConfig): boolean {
  return hub === true && hubNeeds?.asksAlways === true;
}

/**
 * Arguments that were not read have no hash yet: no grant for certain ones may fit them. Nor does one
 * that names some of the arguments fit a call with more than arguments.
 */
function queryOf(
  context: Context,
  query: GrantQuery,
  envelope: LazyEnvelope | undefined,
): GrantQuery {
  const { ref, args } = query;
  if (args() === undefined) return { ...query, ref: { ...ref, args_hash: '' } };
  const approved = approvalRef(context, { ref, envelope });
  return approved === ref ? query : { ...query, ref: approved, args: () => undefined };
}

/**
 * The call as people agree to it. Two calls with the same arguments and different `inputResponses`,
 * `task` or `_meta` are two calls, so their hash covers both here.
 */
function approvalRef({ config }: Context, { ref, envelope }: BoundCall): ReadCall['ref'] {
  const bound = envelope?.bound;
  if (bound === undefined) return ref;
  return { ...ref, args_hash: config.sha256(`${ref.args_hash}\n${bound}`) };
}

interface Used {
  readonly read: ReadCall;
  readonly outcome: Pick<Judgement, 'decision' | 'trace' | 'gated'>;
  /** What a person has said; no grant is needed for that. */
  readonly said: readonly string[];
}

/** Uses up the grants that let a call pass; undefined when one of them is gone. */
export function takeGrants(context: Context, used: Used): readonly TakenGrant[] | undefined {
  const { read, outcome, said } = used;
  if (outcome.decision.action !== 'ALLOW') return [];
  const rules = outcome.trace.filter(isApproved).map(({ rule_id }) => rule_id);
  const gates = gateGrants(context, used);
  const needed = gates.length === 0 ? rules : [...new Set([...rules, ...gates])];
  const granted = needed.filter((rule) => !said.includes(rule));
  if (granted.length === 0) return [];
  const { ref, call, envelope } = read;
  const { policy_hash: policyHash } = context.snapshot.ref;
  const query = queryOf(context, { ref, args: () => call.args, policyHash }, envelope);
  return context.config.approver?.take(query, granted);
}

/** What gates have asked for. The hub does not tell which grants it needed: all have served. */
function gateGrants({ config }: Context, { read, outcome }: Used): readonly string[] {
  const here = outcome.gated?.granted ?? NONE;
  if (!read.shared || !isJudged(config)) return here;
  return [...here, ...HUB_GATES.filter((gate) => read.call.approved?.includes(gate))];
}

function isApproved({ outcome }: TraceStep): boolean {
  return outcome === 'approved';
}

type AskedApproval = NonNullable<Decision['approval']>;

/** Puts a request before people and on record; undefined when nobody can be asked. */
export function askPeople(
  context: Context,
  step: MessageStep,
  decided: DecidedCall,
): string | undefined {
  const { approval, rule_id } = decided.outcome.decision;
  if (approval === undefined) throw new Error('this call needs no approval');
  // For a server that is gone, nobody needs to be asked.
  if (context.exit !== undefined) return undefined;
  const asked = context.config.approver?.ask(wantedFor(context, decided, approval));
  if (asked === undefined) return undefined;
  if (asked.isApproved !== true) {
    emitApproval(step, decided.read.ref, { id: asked.id, rule_id: rule_id ?? '', state: 'asked' });
  }
  return asked.advice;
}

export const UNAVAILABLE = {
  reason_code: 'APPROVAL_UNAVAILABLE',
  summary: 'Nobody could be asked.',
};

/** The refusal of a call that may be tried again tells how it gets approved. */
export function askForRetry(
  context: Context,
  step: MessageStep,
  decided: DecidedCall,
): DecidedCall {
  const { decision } = decided.outcome;
  const { hint, rule_id, severity } = decision;
  const { call } = decided.read;
  // Arguments that were not read can't be shown, and nobody could find that call again.
  const isShown = call.args !== undefined && decided.id !== undefined;
  const advice = isShown ? askPeople(context, step, decided) : undefined;
  if (advice === undefined || hint === undefined) {
    const refused: Decision = { action: 'BLOCK', rule_id, severity, ...UNAVAILABLE };
    return { ...decided, outcome: { ...decided.outcome, decision: refused } };
  }
  const retry_advice = [advice, ...(hint.retry_advice === null ? [] : [hint.retry_advice])].join(
    ' ',
  );
  const told: Decision = { ...decision, hint: { ...hint, retry_advice } };
  return { ...decided, outcome: { ...decided.outcome, decision: told } };
}

function wantedFor(
  context: Context,
  { read, outcome }: DecidedCall,
  { wait, timeout_ms }: AskedApproval,
): ApprovalWanted {
  const { decision, risk_class } = outcome;
  return {
    wait,
    timeout_ms,
    rule_id: decision.rule_id ?? '',
    summary: decision.summary,
    call: approvalRef(context, read),
    policy_hash: context.snapshot.ref.policy_hash,
    risk_class,
    args: shownArgs(context, read),
  };
}

/** All that a person must see, whatever events show: redacted, and cut only where it is long. */
function shownArgs(context: Context, { call, envelope }: ReadCall): ApprovalWanted['args'] {
  if (call.args === undefined) return undefined;
  const isMore = envelope?.bound !== undefined;
  const shown = isMore ? { arguments: call.args, ...envelope.rest } : call.args;
  const limits = { ...context.limits, previewBytesMax: context.limits.askedBytesMax };
  let isExact = true;
  // A number that is too large to be repeated exactly is not what the server gets.
  const json = JSON.stringify(shown, (_key, value: unknown) => {
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) isExact = false;
    return value;
  });
  const { text = '', truncated } = previewText({ ...context, limits }, json);
  return { text, complete: !truncated && isExact };
}
