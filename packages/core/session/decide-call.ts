// People, as a session sees them: how a call is decided that they may let pass, and how they are
// asked. Nothing here waits: whoever must wait is in `approvals.ts`.
import type { Decision } from '@subluminal/contracts';
import { decide } from '../policy/decide/decide.ts';
import type { Call } from '../policy/index.ts';
import type { DecidedCall, ReadCall } from './apply-decision.ts';
import type { Context, Step } from './context.ts';
import { emitApproval } from './events.ts';
import { type Judgement, throughGates } from './gates.ts';
import { approvalRef, takeGrants } from './grants.ts';
import { previewOf } from './preview.ts';
import type { ApprovalWanted, TakenGrant } from './types.ts';

type Wanted = NonNullable<Decision['approval']>;

interface Concluded {
  readonly outcome: Judgement;
  readonly taken: readonly TakenGrant[];
}

interface Said {
  readonly read: ReadCall;
  readonly said: readonly string[];
}

/** Decides a call that a person has approved for these rules, besides what grants satisfy. */
export function decideWith(context: Context, step: Step, { read, said }: Said): Concluded {
  const { call } = read;
  const approved =
    said.length === 0 ? call : withApproved(call, [...(call.approved ?? []), ...said]);
  const rules = decide(context.snapshot, approved, context.state, step.nowMs);
  const outcome = throughGates(context, step, { read, rules, said, bare: false });
  const taken = takeGrants(context, { read, outcome, said });
  if (taken !== undefined) return { outcome, taken };
  // Another call has used it up in this very moment.
  const alone = decide(context.snapshot, withApproved(call, said), context.state, step.nowMs);
  const bare = throughGates(context, step, { read, rules: alone, said, bare: true });
  return { outcome: bare, taken: [] };
}

/** Uses up grants for what the hub has decided: it can't be decided again without asking the hub. */
export function grantsTaken(
  context: Context,
  decided: DecidedCall,
  said: readonly string[],
): DecidedCall {
  const { read, outcome } = decided;
  const taken = takeGrants(context, { read, outcome, said });
  if (taken !== undefined) return { ...decided, taken };
  const { rule_id, severity } = outcome.decision;
  const decision: Decision = { action: 'BLOCK', rule_id, severity, ...USED_UP };
  return { ...decided, outcome: { ...outcome, decision } };
}

export function withApproved(call: Call, approved: readonly string[]): Call {
  const { identity, server_name, tool_name, args_hash, bytes_in, args, round } = call;
  const same = { identity, server_name, tool_name, args_hash, bytes_in, round };
  return { ...same, approved, ...(args !== undefined && { args }) };
}

/** Puts a request before people and on record; undefined when nobody can be asked. */
export function askPeople(context: Context, step: Step, decided: DecidedCall): string | undefined {
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

const USED_UP = {
  reason_code: 'APPROVAL_UNAVAILABLE',
  summary: 'The grant for this call is no longer there. Try again to ask for another one.',
};
export const UNAVAILABLE = {
  reason_code: 'APPROVAL_UNAVAILABLE',
  summary: 'Nobody could be asked.',
};

/** The refusal of a call that may be tried again tells how it gets approved. */
export function askForRetry(context: Context, step: Step, decided: DecidedCall): DecidedCall {
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
  { wait, timeout_ms }: Wanted,
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
  const { text = '', truncated } = previewOf({ ...context, limits }, json);
  return { text, complete: !truncated && isExact };
}
