// What the hub must be asked or told before a message is handled. Nothing here changes the session.
import { memberRange } from '../json/member-ranges.ts';
import { isSpoken } from '../taint/spoken.ts';
import { asksHub, limitsFor } from './ask-hub.ts';
import { batchItems } from './batch.ts';
import { type Context, type Message, type OpenCall, stepFor, takesBatches } from './context.ts';
import { subjectQuestion } from './govern-subject.ts';
import { withoutState } from './input-rounds.ts';
import { LeaseNeeds } from './leases.ts';
import { isObserved } from './pass-message.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { ByteRange, Seen } from './peek/types.ts';
import { ambiguityAround, viewCall } from './read-call.ts';
import type { HubQuestion, Observation } from './types.ts';

/** The messages of a message: those of a batch that is taken, none of another batch, else itself. */
function messagesIn(context: Context, message: Message): readonly Message[] {
  if (message.seen.kind !== 'batch') return [message];
  // A batch inside of a batch is refused later.
  return takesBatches(context) ? batchItems(context, message).items : [];
}

/** The questions that the hub must answer before a message is handled. */
export function questionsIn(
  context: Context,
  whole: Message,
  nowMs: number,
): readonly HubQuestion[] {
  if (context.config.hub !== true) return [];
  const questions: HubQuestion[] = [];
  const needs = new LeaseNeeds(context);
  let leased: HubQuestion | undefined;
  for (const message of messagesIn(context, whole)) {
    const question = questionIn(context, message, nowMs);
    if (question === undefined) continue;
    if (asksHub(context, question.call)) questions.push(question);
    else {
      needs.add(question.call);
      leased ??= question;
    }
  }
  if (leased === undefined) return questions;
  // The hub is asked for these last, and may recall what is held while it decides the others.
  const leases = needs.list(questions.length > 0);
  // The calls of a message are leased together: nothing may come in between.
  return leases.length === 0 ? questions : [...questions, { ...leased, leases }];
}

/** A call in a message that is well-formed, as the hub would be asked about it. */
function questionIn(context: Context, message: Message, nowMs: number): HubQuestion | undefined {
  const { from, bytes, seen } = message;
  if (seen.kind !== 'request' && seen.kind !== 'notification') return undefined;
  const step = stepFor(context, { from, bytes, message }, nowMs);
  if (seen.method !== TOOLS_CALL) return subjectQuestion(step, seen);
  const { call, ref, fault, envelope } = viewCall(step, seen);
  if ((fault ?? ambiguityAround(context, envelope)) !== undefined) return undefined;
  if (!asksHub(context, call)) return { ref, call };
  return { ref, call, beside: envelope.rest, limits: limitsFor(step, call) };
}

/** The contents of a message of the server that the hub must know. */
export function observationsIn(context: Context, whole: Message): readonly Observation[] {
  if (context.config.hubNeeds?.observes !== true) return [];
  return messagesIn(context, whole).flatMap(({ bytes, seen }) => {
    const { range, ...source } = observedPart(context, bytes, seen);
    if (range === undefined) return [];
    const text = context.decode(bytes, range.start, range.end);
    const hasState = seen.kind === 'response' && seen.needsInput;
    return [{ ...source, text: hasState ? withoutState(text) : text }];
  });
}

interface ObservedPart extends Omit<Observation, 'text'> {
  readonly range: ByteRange | undefined;
}

const NOTHING_OBSERVED: ObservedPart = { callId: '', tool: '', range: undefined };

function observedPart(context: Context, bytes: Uint8Array, seen: Seen): ObservedPart {
  if (seen.kind === 'batch' || seen.kind === 'invalid') return NOTHING_OBSERVED;
  if (seen.kind !== 'response') {
    const { method, params } = seen;
    const range = isSpoken(method) ? memberRange(bytes, 'params') : undefined;
    return { ...sourceOf(context.tasks.get(params.taskId)?.open, method), range };
  }
  const open = context.requests.agent.get(seen.id?.json ?? '');
  if (open === undefined || open.heldAs !== undefined) return NOTHING_OBSERVED;
  if (!isObserved(context, open.method)) return NOTHING_OBSERVED;
  const { call = context.tasks.get(open.taskId)?.open, method } = open;
  // The server writes the text of an error, too.
  const range = seen.failed === 'rpc' ? memberRange(bytes, 'error') : seen.result;
  return { ...sourceOf(call, method), range };
}

function sourceOf(call: OpenCall | undefined, method: string): Omit<Observation, 'text'> {
  return { callId: call?.ref.call_id ?? '', tool: call?.call.tool_name ?? method };
}
