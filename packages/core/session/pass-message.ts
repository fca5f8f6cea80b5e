// Messages that are no tool call: the gates judge them, and they are passed on, rewritten or refused.

import { memberRange } from '../json/member-ranges.ts';
import { rewritten, spliced } from '../json/patch-text.ts';
import { hasDuplicateKeys } from '../json/text-parts.ts';
import { isSpoken } from '../taint/spoken.ts';
import { errorLine, INTERNAL_ERROR, INVALID_PARAMS, resultLine } from './answer-lines.ts';
import {
  type Context,
  eraOf,
  type MessageStep,
  type OpenRequest,
  other,
  report,
} from './context.ts';
import { mergeNotes } from './gate-notes.ts';
import type { ContentNote, MessageVerdict, OtherMessage, RefusedMessage, Way } from './guard.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import { OBSERVED_METHODS } from './peek/protocol-names.ts';
import type {
  ByteRange,
  MessageId,
  SeenNotification,
  SeenRequest,
  SeenResponse,
} from './peek/types.ts';
import { LazyEnvelope } from './read-call.ts';
import type { Side } from './types.ts';

interface PassedMessage extends Pick<OtherMessage, 'kind' | 'method' | 'isError' | 'call'> {
  readonly id: MessageId | undefined;
  /** It has members that no revision of the protocol knows. */
  readonly extra: boolean;
}

export type Onward =
  | { readonly kind: 'as_is'; readonly note: ContentNote | undefined }
  | {
      readonly kind: 'rewritten';
      readonly bytes: Uint8Array;
      /** The range of the new value. */
      readonly value: ByteRange;
      readonly note: ContentNote | undefined;
    }
  | {
      readonly kind: 'refused';
      readonly why: RefusedMessage;
      readonly message: PassedMessage;
      readonly note: ContentNote | undefined;
    };

const AS_IS: Onward = { kind: 'as_is', note: undefined };
const SAME: MessageVerdict = { kind: 'same' };

/** Whether a guard or the hub looks at messages that are no calls. */
export function isWatched({ guard, config }: Context): boolean {
  return guard !== undefined || config.hubNeeds?.observes === true;
}

/** Parsed on first use: the method may be all that a gate needs. */
class LazyPassing implements OtherMessage {
  readonly kind: OtherMessage['kind'];
  readonly method: string;
  readonly isError: boolean;
  readonly call: OtherMessage['call'];
  private readonly readText: () => string | undefined;
  private parsed: { readonly value: unknown } | undefined;

  constructor({ kind, method, isError, call }: PassedMessage, readText: () => string | undefined) {
    this.kind = kind;
    this.method = method;
    this.isError = isError;
    this.call = call;
    this.readText = readText;
  }

  get isRead(): boolean {
    return this.parsed !== undefined;
  }

  get value(): unknown {
    if (this.parsed === undefined) {
      const { text } = this;
      this.parsed = { value: text === undefined ? undefined : JSON.parse(text) };
    }
    return this.parsed.value;
  }

  get text(): string | undefined {
    return this.readText();
  }

  /** Whether a key stands twice: the gates have seen the last of its values, a reader may take the first. */
  get isAmbiguous(): boolean {
    const { text } = this;
    return text !== undefined && hasDuplicateKeys(text, this.value);
  }
}

/** What becomes of a request or notification. It passes as it is where nobody watches. */
export function requestOnward(step: MessageStep, seen: SeenRequest | SeenNotification): Onward {
  if (!isWatched(step.context)) return AS_IS;
  const { kind, method, extra } = seen;
  const id = kind === 'request' ? seen.id : undefined;
  const message = { kind, method, id, isError: false, call: undefined, extra } as const;
  // A message that was not inspected may hold anything.
  const mayHoldText = () => step.unseen !== undefined || hasParams(step);
  return onwardOf(step, message, isSpeech(step, method) && step.heard !== true && mayHoldText());
}

function hasParams({ bytes }: MessageStep): boolean {
  return memberRange(bytes, 'params') !== undefined;
}

/** What becomes of an answer; without `open`, it answers no request. */
export function answerOnward(
  step: MessageStep,
  { id, failed, extra }: SeenResponse,
  open: OpenRequest | undefined,
): Onward {
  if (!isWatched(step.context)) return AS_IS;
  const { method = '', call: made } = open ?? {};
  const isError = failed === 'rpc';
  const isTool = made !== undefined && made.call.subject === undefined;
  const call = isTool ? { callId: made.ref.call_id, tool: made.call.tool_name } : undefined;
  const message = { kind: 'answer', method, id, isError, call, extra } as const;
  return onwardOf(step, message, isUnheard(step, method));
}

function onwardOf(step: MessageStep, message: PassedMessage, isMissed: boolean): Onward {
  const { context, bytes, nowMs } = step;
  const { guard } = context;
  const { kind, method, isError } = message;
  const way = wayFrom(step.from);
  if (isMissed) {
    if (context.enforcing) return refusedBy(UNHEARD, message);
    report(step, { what: 'WOULD_REJECT', reason: 'unheard', detail: UNHEARD.summary });
  }
  if (step.unseen !== undefined) return onwardUnseen(step, message);
  const around = aroundOf(step, message);
  const barred = around && refusalOf(around);
  if (barred !== undefined) return refusedBy(barred, message);
  const wants = guard?.wants(way, kind, method) === true;
  const isHeard = kind === 'answer' ? isObserved(context, method) : isSpeech(step, method);
  if (!wants && !isHeard) return asItIs(around?.note);
  const range = memberRange(bytes, kind !== 'answer' ? 'params' : isError ? 'error' : 'result');
  const passing = new LazyPassing(message, () => {
    if (range !== undefined) return context.decode(bytes, range.start, range.end);
    // A request may have no params, but an answer without a result must not count as an empty one.
    if (kind === 'answer') throw new Error('an answer has neither a result nor an error');
    return undefined;
  });
  const passage = wants ? guard.passing(way, passing, nowMs) : SAME;
  if (passage.kind === 'refused') return refusedBy(passage, message);
  const note = mergeNotes([around?.note, passage.note]);
  const isAmbiguous = (passing.isRead || isHeard) && passing.isAmbiguous;
  if (passage.kind === 'same' && !isAmbiguous) return asItIs(note);
  const value = passage.kind === 'changed' ? passage.value : passing.value;
  const { text } = passing;
  const json = text === undefined ? undefined : rewritten(text, value);
  // A value that must be replaced and cannot be must not pass as it is.
  if (range === undefined || json === undefined) return refusedBy(NOT_REPLACED, message);
  const whole = spliced(bytes, range, json);
  const end = range.end + whole.length - bytes.length;
  return { kind: 'rewritten', bytes: whole, value: { start: range.start, end }, note };
}

function asItIs(note: ContentNote | undefined): Onward {
  return note === undefined ? AS_IS : { kind: 'as_is', note };
}

/** The verdict of the gates on everything in a message that is neither params, result nor error. */
function aroundOf(step: MessageStep, message: PassedMessage): MessageVerdict | undefined {
  const { guard } = step.context;
  if (guard?.around === undefined) return undefined;
  const { kind, method, id, extra } = message;
  const { bytes, from, nowMs } = step;
  const isAnswer = kind === 'answer';
  const envelope = new LazyEnvelope(step.context, { bytes, method, id, extra, isAnswer });
  return guard.around(wayFrom(from), envelope, nowMs);
}

const NOT_REPLACED: RefusedMessage = {
  kind: 'refused',
  rule_id: 'gate:content',
  reason_code: 'CONTENT_BLOCKED',
  summary: 'Something in this message may not travel, and could not be replaced.',
};

/** A message that was too large to inspect: it is refused at its head, or now. */
function onwardUnseen(step: MessageStep, message: PassedMessage): Onward {
  const refused = step.unseen?.refused;
  if (refused !== undefined) return refusedBy(refused, message);
  const { guard } = step.context;
  if (guard === undefined) return AS_IS;
  const passage = guard.unseen(wayFrom(step.from), message.kind, message.method);
  const why = refusalOf(passage);
  if (why !== undefined) return refusedBy(why, message);
  return asItIs(mergeNotes([passage.note]));
}

/** Why a part of a message that cannot be changed keeps the message from passing. */
export function refusalOf(passage: MessageVerdict): RefusedMessage | undefined {
  if (passage.kind === 'same') return undefined;
  return passage.kind === 'refused' ? passage : { ...NOT_REPLACED, note: passage.note };
}

function refusedBy(why: RefusedMessage, message: PassedMessage): Onward {
  return { kind: 'refused', why, message, note: mergeNotes([why.note]) };
}

export function wayFrom(from: Side): Way {
  return from === 'agent' ? 'out' : 'in';
}

/** Forwards a message, as it is or rewritten, or answers why it does not pass. */
export function handOn(step: MessageStep, onward: Onward): void {
  if (onward.kind === 'as_is') step.out.push(step.forward);
  else if (onward.kind === 'refused') refuse(step, onward);
  else step.out.push({ do: 'forward', to: other(step.from), bytes: onward.bytes });
}

const SHOWN_METHOD_MAX = 100;
/** More than is shown: a secret that was cut would not be recognised. */
const READ_METHOD_MAX = 4_096;

function refuse(step: MessageStep, onward: Extract<Onward, { kind: 'refused' }>): void {
  const { context, from, out } = step;
  const { summary, hint, reason_code } = onward.why;
  const { kind, method, id } = onward.message;
  const name = context.redact(method.slice(0, READ_METHOD_MAX)).slice(0, SHOWN_METHOD_MAX);
  const shown = method === '' ? '' : ` (\`${name}\`)`;
  const detail = `A message${shown} was refused: ${context.redact(summary)}`;
  const waits = kind !== 'notification' && id !== undefined;
  report(step, { what: waits ? 'REJECTED' : 'DROPPED', reason: 'refused', detail });
  if (waits) {
    // A refused request is answered to its sender; a refused answer is replaced for its receiver.
    const to = kind === 'request' ? from : other(from);
    const words = hint === undefined ? summary : `${summary} ${hint}`;
    const data = { subluminal: { reason_code } };
    const code = kind === 'request' ? INVALID_PARAMS : INTERNAL_ERROR;
    // The answer of a tool becomes a result, which the model gets to see.
    const isResult = kind === 'answer' && method === TOOLS_CALL && to === 'agent';
    const text = isResult
      ? resultLine(id, { text: words, era: eraOf(context.version), meta: data })
      : errorLine(id, { code, message: words, data });
    out.push({ do: 'answer', to, text });
  }
  out.push({ do: 'drop', reason: 'refused' });
}

export const UNHEARD: RefusedMessage = {
  kind: 'refused',
  reason_code: 'ANSWER_REFUSED',
  summary: 'The hub of this run, which keeps track of what answers hold, could not be told of it.',
};

/** Whether the hub must know the answers to such requests. */
export function isObserved({ config }: Context, method: string): boolean {
  return config.hubNeeds?.observes === true && OBSERVED_METHODS.has(method);
}

/** Whether the hub must know this answer, and does not. */
export function isUnheard({ context, from, heard }: MessageStep, method: string): boolean {
  return from === 'server' && heard !== true && isObserved(context, method);
}

/** Whether the hub must know such requests and notifications of the server. */
export function isSpeech({ context: { config }, from }: MessageStep, method: string): boolean {
  return config.hubNeeds?.observes === true && from === 'server' && isSpoken(method);
}
