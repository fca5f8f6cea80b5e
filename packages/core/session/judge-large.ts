// What the gates say of a message that is too large for them to see: at its head, which tells what it
// may be, and at the end of a call, when the texts in it have gone by.
import { type Context, type MessageStep, type OpenRequest, other } from './context.ts';
import type { DecidedCall } from './decide-call.ts';
import type { GuardedCall, Passing, RefusedPassage } from './guard.ts';
import { isSpeech, isUnheard, isWatched, refusalOf, UNHEARD, wayFrom } from './pass-message.ts';
import type { GatheredTexts } from './peek/gather-texts.ts';
import type { OutlineSoFar } from './peek/outline.ts';

interface Could {
  readonly kind: Passing['kind'];
  readonly method: string;
}

/** The method of what nobody knows. */
const UNKNOWN = '';

/** Why a message must not pass; whatever its head does not rule out counts. */
export function refusedAtHead(
  context: Context,
  step: MessageStep,
  soFar: OutlineSoFar,
): RefusedPassage | undefined {
  if (!isWatched(context)) return undefined;
  for (const could of possible(context, step, soFar)) {
    const refused = refusedAs(context, step, could);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** What the message may turn out to be. */
function possible(context: Context, step: MessageStep, soFar: OutlineSoFar): readonly Could[] {
  const { batch, faulty, answers, method, id } = soFar;
  const isUnclear = batch || faulty || (!answers && method === undefined);
  if (answers && !isUnclear) return possibleAnswers(context, step, soFar);
  const asked = [{ kind: 'request', method: method ?? UNKNOWN } as const];
  // Whether it has an id may come last.
  const told = [{ kind: 'notification', method: method ?? UNKNOWN } as const];
  if (!isUnclear) return id === undefined ? [...asked, ...told] : asked;
  return [...possibleAnswers(context, step, soFar), ...asked, ...told];
}

function possibleAnswers(
  context: Context,
  step: MessageStep,
  { id }: OutlineSoFar,
): readonly Could[] {
  const asked = context.requests[other(step.from)];
  // Most servers write the id last: it may answer any request that has no answer yet.
  const methods = id === undefined ? [...asked.methods()] : methodOf(asked.get(id.json));
  const known = methods.length === 0 ? [UNKNOWN] : methods;
  return known.map((method) => ({ kind: 'answer', method }));
}

function methodOf(open: OpenRequest | undefined): readonly string[] {
  return open === undefined || open.heldAs !== undefined ? [] : [open.method];
}

function refusedAs(
  context: Context,
  step: MessageStep,
  { kind, method }: Could,
): RefusedPassage | undefined {
  const { guard, enforcing } = context;
  const isMissed =
    kind === 'answer' ? isUnheard(context, step, method) : isSpeech(context, step, method);
  if (enforcing && isMissed) return UNHEARD;
  return guard && refusalOf(guard.unseen(wayFrom(step.from), kind, method));
}

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
