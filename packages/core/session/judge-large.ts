// The verdict of the gates on a message that is too large for them to inspect: at its head, which shows
// what it may be, and at the end of a call, by the texts that were gathered from it.
import { type Context, type MessageStep, other } from './context.ts';
import { type DecidedCall, sparedBy } from './decide-call.ts';
import { governedSubject } from './govern-subject.ts';
import type { GuardedCall, OtherMessage, RefusedMessage } from './guard.ts';
import { isSpeech, isUnheard, isWatched, refusalOf, UNHEARD, wayFrom } from './pass-message.ts';
import type { GatheredTexts } from './peek/gather-texts.ts';
import type { OutlineSoFar } from './peek/types.ts';

type PossibleMessage = Pick<OtherMessage, 'kind' | 'method'>;

/** The method of a message that does not show it. */
const UNKNOWN = '';

const UNREAD: RefusedMessage = {
  kind: 'refused',
  reason_code: 'ARGS_NOT_INSPECTED',
  summary: 'The request is too large to inspect, and a rule depends on what it asks for.',
};

/** Why a message must not pass. Everything that its head does not rule out counts. */
export function refusedAtHead(step: MessageStep, soFar: OutlineSoFar): RefusedMessage | undefined {
  const { guard, enforcing } = step.context;
  const isGoverned = governedSubject(step.context, soFar.method ?? UNKNOWN) !== undefined;
  if (isGoverned && enforcing && step.from === 'agent') return UNREAD;
  if (!isWatched(step.context)) return undefined;
  for (const { kind, method } of possibleMessages(step, soFar)) {
    const isMissed = kind === 'answer' ? isUnheard(step, method) : isSpeech(step, method);
    if (enforcing && isMissed) return UNHEARD;
    const refused = guard && refusalOf(guard.unseen(wayFrom(step.from), kind, method));
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** What the message may turn out to be. */
function possibleMessages(step: MessageStep, soFar: OutlineSoFar): readonly PossibleMessage[] {
  const { batch, faulty, answers, method = UNKNOWN, id } = soFar;
  const isUnclear = batch || faulty || (!answers && method === UNKNOWN);
  if (answers && !isUnclear) return possibleAnswers(step, soFar);
  const request = { kind: 'request', method } as const;
  if (!isUnclear && id !== undefined) return [request];
  // The id of a request may come last.
  const either = [request, { kind: 'notification', method } as const];
  return isUnclear ? [...possibleAnswers(step, soFar), ...either] : either;
}

function possibleAnswers(step: MessageStep, { id }: OutlineSoFar): readonly PossibleMessage[] {
  const requests = step.context.requests[other(step.from)];
  const open = id && requests.get(id.json);
  const known = open === undefined || open.heldAs !== undefined ? [] : [open.method];
  // Most servers write the id last: the message may answer any request that has no answer yet.
  const methods = id === undefined ? [...requests.methods()] : known;
  return (methods.length === 0 ? [UNKNOWN] : methods).map((method) => ({ kind: 'answer', method }));
}

/** The call, refused if a gate objects to the texts in it. */
export function judgedByTexts(
  { guard }: Context,
  decided: DecidedCall,
  texts: GatheredTexts | undefined,
): DecidedCall {
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
  const decision =
    verdict.kind === 'stop' ? verdict.decision : sparedBy(outcome.decision, verdict.would);
  return { ...decided, outcome: { ...outcome, decision } };
}
