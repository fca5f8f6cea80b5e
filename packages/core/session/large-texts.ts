// A large call at its end: the gates hear of the texts that have gone by, and may still stop it.
import type { DecidedCall } from './apply-decision.ts';
import type { Context } from './context.ts';
import type { GatheredTexts, GuardedCall } from './guard.ts';

/** The call, refused where a gate has something against what stands in it. */
export function judgedByTexts<C extends Omit<DecidedCall, 'id'>>(
  { guard }: Context,
  decided: C,
  texts: GatheredTexts | undefined,
): C {
  const { read, outcome } = decided;
  if (guard?.gathered === undefined || outcome.decision.action !== 'ALLOW') return decided;
  const call: GuardedCall = {
    callId: read.ref.call_id,
    tool: read.call.tool_name,
    args: undefined,
    envelope: undefined,
    isApproved: () => false,
  };
  const verdict = guard.gathered(call, texts ?? { texts: [], isWhole: false });
  if (verdict.kind === 'stop') {
    return { ...decided, outcome: { ...outcome, decision: verdict.decision } };
  }
  const { would } = verdict;
  if (would === undefined || outcome.decision.would !== undefined) return decided;
  const summary = `Would be refused: ${would.summary}`;
  const decision = { ...outcome.decision, reason_code: 'WOULD_BLOCK', summary, would };
  return { ...decided, outcome: { ...outcome, decision } };
}
