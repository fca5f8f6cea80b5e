// People, as a session sees them: what they have granted already, and how they are asked. Nothing
// here waits; waiting calls are in `held-calls.ts`.

import type { CallRef, Decision } from '@subluminal/contracts';
import { candidatesFor, policiesIn } from '../policy/compile/snapshot.ts';
import type { Call } from '../policy/index.ts';
import { ruleRole } from '../policy/rules/index.ts';
import type { Context, MessageStep } from './context.ts';
import type { DecidedCall } from './decide-call.ts';
import type { LazyEnvelope, ReadCall } from './read-call.ts';
import { emitApproval, previewText } from './record-call.ts';
import type { ApprovalWanted, AskedFor, GrantQuery, SessionConfig, TakenGrant } from './types.ts';

const NONE: readonly string[] = [];
/** The gates of the hub that may ask a person. */
const HUB_GATES: readonly string[] = ['gate:taint', 'gate:rule-of-two'];

interface GrantSubject extends Pick<GrantQuery, 'ref' | 'args'> {
  readonly tool: string;
  readonly subject?: Call['subject'];
  readonly envelope: LazyEnvelope | undefined;
}

/** The approval rules that grants satisfy for this call. */
export function grantedRules(context: Context, subject: GrantSubject): readonly string[] {
  const { config, snapshot } = context;
  if (config.approver === undefined) return NONE;
  const asking = policiesIn(snapshot).filter(({ document }) => document.mode === 'control');
  if (asking.length === 0) return NONE;
  const { server_name } = subject.ref;
  const names = { server_name, tool_name: subject.tool, subject: subject.subject };
  const candidates = asking.flatMap((one) => candidatesFor(one, names));
  const rules = candidates.flatMap(({ rule }) => (ruleRole(rule) === 'asks' ? rule.rule_id : []));
  return grantedAmong(context, subject, hasHubGates(config) ? [...rules, ...HUB_GATES] : rules);
}

/** Whether a grant satisfies a gate that asks. The mode `guardrails` asks nobody. */
export function isGranted(context: Context, subject: GrantSubject, ruleId: string): boolean {
  if (context.snapshot.document.mode === 'guardrails') return false;
  return grantedAmong(context, subject, [ruleId]).includes(ruleId);
}

function grantedAmong(
  context: Context,
  subject: GrantSubject,
  ruleIds: readonly string[],
): readonly string[] {
  const { approver } = context.config;
  // A tool name with a redacted part could be another tool than the one that people saw.
  const isShown = subject.tool === subject.ref.tool_name;
  if (approver === undefined || ruleIds.length === 0 || !isShown) return NONE;
  return approver.granted(queryOf(context, subject), ruleIds);
}

function hasHubGates({ hub, hubNeeds }: SessionConfig): boolean {
  return hub === true && hubNeeds?.asksAlways === true;
}

function queryOf(context: Context, subject: Omit<GrantSubject, 'tool'>): GrantQuery {
  const { ref, args } = subject;
  const policyHash = context.snapshot.ref.policy_hash;
  // Arguments that were not read have no hash yet: no grant for certain arguments may fit them.
  if (args() === undefined) return { ref: { ...ref, args_hash: '' }, args, policyHash };
  const approved = approvalRef(context, subject);
  // A grant that names some of the arguments does not cover a call with more than arguments.
  return { ref: approved, args: approved === ref ? args : () => undefined, policyHash };
}

/**
 * The call as people approve it. Two calls with the same arguments and different `inputResponses`,
 * `task` or `_meta` are two calls, so the hash covers both here.
 */
function approvalRef(
  { config }: Context,
  { ref, envelope }: Pick<ReadCall, 'ref' | 'envelope'>,
): CallRef {
  const bound = envelope?.bound;
  if (bound === undefined) return ref;
  return { ...ref, args_hash: config.sha256(`${ref.args_hash}\n${bound}`) };
}

/** Uses up the grants that let a call pass; undefined when one of them is gone. */
export function takeGrants(
  context: Context,
  { read, outcome }: DecidedCall,
  approvedRules: readonly string[],
): readonly TakenGrant[] | undefined {
  if (outcome.decision.action !== 'ALLOW') return [];
  const { ref, call, envelope, shared } = read;
  const rules = outcome.trace.flatMap((one) => (one.outcome === 'approved' ? one.rule_id : []));
  const gates = outcome.gated?.granted ?? NONE;
  // The hub does not say which grants it needed, so all of them count as used.
  const atHub = shared && hasHubGates(context.config) ? HUB_GATES : NONE;
  const used = atHub.filter((gate) => call.approved?.includes(gate));
  const needed = new Set([...rules, ...gates, ...used]);
  const granted = [...needed].filter((rule) => !approvedRules.includes(rule));
  if (granted.length === 0) return [];
  const query = queryOf(context, { ref, args: () => call.args, envelope });
  return context.config.approver?.take(query, granted);
}

/** Puts a request before people and on record; undefined when nobody can be asked. */
export function askPeople(step: MessageStep, decided: DecidedCall): AskedFor | undefined {
  const { approval, rule_id } = decided.outcome.decision;
  const { exit, config } = step.context;
  if (approval === undefined) throw new Error('this call needs no approval');
  // Nobody needs to decide about a server that is gone.
  if (exit !== undefined || isUnattended(step, decided)) return undefined;
  const asked = config.approver?.ask(wantedFor(step.context, decided, approval));
  if (asked === undefined) return undefined;
  if (asked.isApproved !== true) {
    const { id, channel } = asked;
    const where = channel !== undefined && { channel };
    emitApproval(step, decided.read.ref, { id, rule_id: rule_id ?? '', state: 'asked', ...where });
  }
  return asked;
}

export const UNAVAILABLE = {
  reason_code: 'APPROVAL_UNAVAILABLE',
  summary: 'Nobody could be asked.',
};

const UNATTENDED = {
  reason_code: 'APPROVAL_UNAVAILABLE',
  summary:
    'This call needs a person, and nobody is there: this is a CI job without a terminal and without a channel for approvals.',
};

const UNATTENDED_HINT = {
  hint_text:
    'Go on without this call, and report that it needs a person: a grant, a channel for approvals or another policy.',
  suggested_args: null,
  retry_advice: 'Do not try it again in this run.',
  hint_kind: 'SAFETY',
} as const;

/** Waiting would only end by time; a call that may be tried again waits for nothing. */
function isUnattended({ context }: MessageStep, { outcome }: DecidedCall): boolean {
  if (outcome.decision.approval?.wait !== 'hold') return false;
  return context.config.approver?.isUnattended === true;
}

/** The call, refused because nobody could be asked. */
export function refusedUnasked(step: MessageStep, decided: DecidedCall): DecidedCall {
  if (!isUnattended(step, decided)) return refusedAs(decided, UNAVAILABLE);
  const refused = refusedAs(decided, UNATTENDED);
  const { outcome } = refused;
  const decision: Decision = {
    ...outcome.decision,
    action: 'REJECT_WITH_HINT',
    hint: UNATTENDED_HINT,
  };
  return { ...refused, outcome: { ...outcome, decision } };
}

export type RefusalReason = Pick<Decision, 'reason_code' | 'summary'>;

/** The call, blocked for this reason in place of its decision. */
export function refusedAs(decided: DecidedCall, reason: RefusalReason): DecidedCall {
  const { rule_id, severity } = decided.outcome.decision;
  const decision: Decision = { action: 'BLOCK', rule_id, severity, ...reason };
  return { ...decided, outcome: { ...decided.outcome, decision } };
}

/** Asks people about a call that may be tried again; its refusal says how it gets approved. */
export function askForRetry(step: MessageStep, decided: DecidedCall): DecidedCall {
  const { outcome, read, id } = decided;
  const { hint } = outcome.decision;
  // Arguments that were not read cannot be shown, and nobody could find that call again.
  const isShown = read.call.args !== undefined && id !== undefined;
  const advice = isShown ? askPeople(step, decided)?.advice : undefined;
  if (advice === undefined || hint === undefined) return refusedAs(decided, UNAVAILABLE);
  const retry_advice = hint.retry_advice === null ? advice : `${advice} ${hint.retry_advice}`;
  const decision: Decision = { ...outcome.decision, hint: { ...hint, retry_advice } };
  return { ...decided, outcome: { ...outcome, decision } };
}

function wantedFor(
  context: Context,
  { read, outcome, id }: DecidedCall,
  { wait, timeout_ms }: NonNullable<Decision['approval']>,
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
    isRewritten: isRewritten(outcome),
    messageId: id?.json,
    brief: read.brief,
  };
}

/** Where a gate asks, it says only after the approval how the arguments go on. */
function isRewritten({ gated, decision }: DecidedCall['outcome']): boolean {
  return gated !== undefined && (gated.argsText !== undefined || gated.rules.decision !== decision);
}

/** What a person must see, whatever events show: redacted, and cut only where it is long. */
function shownArgs(context: Context, { call, envelope }: ReadCall): ApprovalWanted['args'] {
  if (call.args === undefined) return undefined;
  const isMore = envelope?.bound !== undefined;
  const shown = isMore ? { arguments: call.args, ...envelope.rest } : call.args;
  const limits = { ...context.limits, previewBytesMax: context.limits.askedBytesMax };
  let isExact = true;
  // A number beyond the safe integers may be shown with other digits than the server gets.
  const json = JSON.stringify(shown, (_key, value: unknown) => {
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) isExact = false;
    return value;
  });
  const { text = '', truncated } = previewText({ ...context, limits }, json);
  return { text, complete: !truncated && isExact };
}
