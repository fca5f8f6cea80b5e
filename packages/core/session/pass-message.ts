// Messages that are no call: what the gates say of them, and what becomes of them then.

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
import type { ContentNote, Guard, Passage, Passing, RefusedPassage, Way } from './guard.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type {
  ByteRange,
  MessageId,
  SeenNotification,
  SeenRequest,
  SeenResponse,
} from './peek/types.ts';
import { LazyEnvelope } from './read-call.ts';
import type { Side } from './types.ts';

/** A message, as far as its refusal needs it. */
interface PassedMessage {
  readonly kind: Passing['kind'];
  readonly method: string;
  readonly id: MessageId | undefined;
  readonly isError: boolean;
  readonly call: Passing['call'];
  /** It has members that no revision of the protocol knows. */
  readonly extra: boolean;
}

export type Onward =
  | { readonly kind: 'as_is'; readonly note: ContentNote | undefined }
  | {
      readonly kind: 'rewritten';
      readonly bytes: Uint8Array;
      /** Where the new value stands. */
      readonly value: ByteRange;
      readonly note: ContentNote | undefined;
    }
  | {
      readonly kind: 'refused';
      readonly why: RefusedPassage;
      readonly message: PassedMessage;
      readonly note: ContentNote | undefined;
    };

export const AS_IS: Onward = { kind: 'as_is', note: undefined };

/** Whether anybody looks at answers. */
export function isWatched({ guard, config }: Context): boolean {
  return guard !== undefined || config.hubNeeds?.observes === true;
}

/** Parsed on first use: a gate may be content with the method. */
class LazyPassing implements Passing {
  readonly kind: Passing['kind'];
  readonly method: string;
  readonly isError: boolean;
  readonly call: Passing['call'];
  private readonly written: () => string | undefined;
  private parsed: { readonly value: unknown } | undefined;

  constructor({ kind, method, isError, call }: PassedMessage, written: () => string | undefined) {
    this.kind = kind;
    this.method = method;
    this.isError = isError;
    this.call = call;
    this.written = written;
  }

  /** Whether anybody has looked. */
  get isRead(): boolean {
    return this.parsed !== undefined;
  }

  get value(): unknown {
    this.parsed ??= parsedOf(this.written());
    return this.parsed.value;
  }

  get text(): string | undefined {
    return this.written();
  }
}

function parsedOf(text: string | undefined): { readonly value: unknown } {
  return { value: text === undefined ? undefined : JSON.parse(text) };
}

/** What becomes of a request or notification. Where nobody looks it passes as it is. */
export function requestOnward(
  context: Context,
  step: MessageStep,
  seen: SeenRequest | SeenNotification,
): Onward {
  if (!isWatched(context)) return AS_IS;
  const { kind, method, extra } = seen;
  const id = kind === 'request' ? seen.id : undefined;
  const message = { kind, method, id, isError: false, call: undefined, extra } as const;
  if (isSpeech(context, step, method) && step.heard !== true && saysAnything(step)) {
    if (context.enforcing) return refusedBy(UNHEARD, message);
    report(step, { what: 'WOULD_REJECT', reason: 'unheard', detail: UNHEARD.summary });
  }
  return onwardOf(context, step, message);
}

/** What nobody could look at may say anything. */
function saysAnything({ unseen, bytes }: MessageStep): boolean {
  return unseen !== undefined || memberRange(bytes, 'params') !== undefined;
}

/** What becomes of an answer; without an open request, it answers nothing in particular. */
export function answerOnward(
  context: Context,
  step: MessageStep,
  { seen, open }: { readonly seen: SeenResponse; readonly open: OpenRequest | undefined },
): Onward {
  if (!isWatched(context)) return AS_IS;
  const { method = '', call } = open ?? {};
  const isError = seen.failed === 'rpc';
  const made = call && { callId: call.ref.call_id, tool: call.call.tool_name };
  const { id, extra } = seen;
  const message = { kind: 'answer', method, id, isError, call: made, extra } as const;
  if (isUnheard(context, step, method)) {
    if (context.enforcing) return refusedBy(UNHEARD, message);
    report(step, { what: 'WOULD_REJECT', reason: 'unheard', detail: UNHEARD.summary });
  }
  return onwardOf(context, step, message);
}

function onwardOf(context: Context, step: MessageStep, message: PassedMessage): Onward {
  const { guard } = context;
  if (step.unseen !== undefined) return onwardUnseen(context, step, message);
  const around = aroundOf(context, step, message);
  const barred = around && refusalOf(around);
  if (barred !== undefined) return refusedBy(barred, message);
  const wants = guard?.wants(wayFrom(step.from), message.kind, message.method) === true;
  const isHeard =
    message.kind === 'answer'
      ? isObserved(context, message.method)
      : isSpeech(context, step, message.method);
  if (!wants && !isHeard) return asItIs(around?.note);
  const { bytes } = step;
  const range = memberRange(bytes, memberOf(message));
  const text = () => {
    if (range !== undefined) return context.decode(bytes, range.start, range.end);
    // A request may have no params, but an answer that is none must not be taken for an empty one.
    if (message.kind === 'answer') throw new Error('an answer has neither a result nor an error');
    return undefined;
  };
  const passing = new LazyPassing(message, text);
  const passage = wants ? passed(guard, step, passing) : HEARD;
  if (passage.kind === 'refused') return refusedBy(passage, message);
  const note = mergeNotes([around?.note, passage.note]);
  // The gates have seen the last of two members of one key, so no reader may get the first.
  const isClear = passage.kind === 'same' && !isAmbiguous(passing, { text, isHeard });
  if (isClear) return asItIs(note);
  const value = passage.kind === 'changed' ? passage.value : passing.value;
  const written = text();
  const json = written === undefined ? undefined : rewritten(written, value);
  // What should be replaced and cannot be must not pass as it is.
  if (range === undefined || json === undefined) return refusedBy(NOT_REPLACED, message);
  const whole = spliced(bytes, range, json);
  const end = range.end + whole.length - bytes.length;
  return { kind: 'rewritten', bytes: whole, value: { start: range.start, end }, note };
}

const HEARD: Passage = { kind: 'same' };

function passed(guard: Guard | undefined, { from, nowMs }: MessageStep, passing: Passing): Passage {
  return guard?.passing(wayFrom(from), passing, nowMs) ?? HEARD;
}

function asItIs(note: ContentNote | undefined): Onward {
  return note === undefined ? AS_IS : { kind: 'as_is', note };
}

/** What a gate says of all that is neither params, result nor error. */
function aroundOf(
  context: Context,
  step: MessageStep,
  message: PassedMessage,
): Passage | undefined {
  const { guard } = context;
  if (guard?.around === undefined) return undefined;
  const { kind, method, id, extra } = message;
  const { bytes, from, nowMs } = step;
  const isAnswer = kind === 'answer';
  const envelope = new LazyEnvelope(context, { bytes, method, id, extra, isAnswer });
  return guard.around(wayFrom(from), envelope, nowMs);
}

interface Looked {
  readonly text: () => string | undefined;
  /** The hub has looked, whatever the guard did. */
  readonly isHeard: boolean;
}

function isAmbiguous(passing: LazyPassing, { text, isHeard }: Looked): boolean {
  if (!passing.isRead && !isHeard) return false;
  const written = text();
  return written !== undefined && hasDuplicateKeys(written, passing.value);
}

const NOT_REPLACED: RefusedPassage = {
  kind: 'refused',
  reason_code: 'CONTENT_BLOCKED',
  summary: 'Something in this message may not travel, and could not be replaced.',
};

function memberOf({ kind, isError }: PassedMessage): 'params' | 'result' | 'error' {
  if (kind !== 'answer') return 'params';
  return isError ? 'error' : 'result';
}

/** A message that was too large to be seen: it is refused at its head, or now. */
function onwardUnseen(context: Context, step: MessageStep, message: PassedMessage): Onward {
  const refused = step.unseen?.refused;
  if (refused !== undefined) return refusedBy(refused, message);
  const { guard } = context;
  if (guard === undefined) return AS_IS;
  const passage = guard.unseen(wayFrom(step.from), message.kind, message.method);
  const why = refusalOf(passage);
  if (why !== undefined) return refusedBy(why, message);
  return { kind: 'as_is', note: mergeNotes([passage.note]) };
}

/** Why a message may not pass unseen. Nobody can change what nobody has seen. */
export function refusalOf(passage: Passage): RefusedPassage | undefined {
  if (passage.kind === 'same') return undefined;
  return passage.kind === 'refused' ? passage : { ...NOT_REPLACED, note: passage.note };
}

function refusedBy(why: RefusedPassage, message: PassedMessage): Onward {
  return { kind: 'refused', why, message, note: mergeNotes([why.note]) };
}

export function wayFrom(from: Side): Way {
  return from === 'agent' ? 'out' : 'in';
}

/** Forwards a message, as it is or changed, or answers why it does not pass. */
export function handOn(context: Context, step: MessageStep, onward: Onward): void {
  switch (onward.kind) {
    case 'as_is':
      step.out.push(step.forward);
      return;
    case 'rewritten':
      step.out.push({ do: 'forward', to: other(step.from), bytes: onward.bytes });
      return;
    case 'refused':
      refuse(context, step, onward);
  }
}

/** So much of it is shown, and so much is looked through: a secret that is cut is not known again. */
const SHOWN_METHOD_MAX = 100;
const READ_METHOD_MAX = 4_096;

function refuse(
  context: Context,
  step: MessageStep,
  { why, message }: { readonly why: RefusedPassage; readonly message: PassedMessage },
): void {
  const { kind, method, id } = message;
  // A refused request is answered to its sender; a refused answer is replaced for its receiver.
  const to = kind === 'request' ? step.from : other(step.from);
  const waits = kind !== 'notification' && id !== undefined;
  const what = waits ? 'REJECTED' : 'DROPPED';
  const name = context.redact(method.slice(0, READ_METHOD_MAX)).slice(0, SHOWN_METHOD_MAX);
  const shown = method === '' ? '' : ` (\`${name}\`)`;
  const detail = `A message${shown} was refused: ${context.redact(why.summary)}`;
  report(step, { what, reason: 'refused', detail });
  if (waits) {
    const text = refusalText(context, { why, message, to, id });
    step.out.push({ do: 'answer', to, text });
  }
  step.out.push({ do: 'drop', reason: 'refused' });
}

/** An error; of a tool's answer, a result that the model gets to see. */
function refusalText(
  context: Context,
  refused: {
    readonly why: RefusedPassage;
    readonly message: PassedMessage;
    readonly to: Side;
    readonly id: MessageId;
  },
): string {
  const { why, message, to, id } = refused;
  const { summary, hint, reason_code } = why;
  const words = hint === undefined ? summary : `${summary} ${hint}`;
  const data = { subluminal: { reason_code } };
  if (message.kind === 'answer' && message.method === TOOLS_CALL && to === 'agent') {
    return resultLine(id, { text: words, era: eraOf(context.version), meta: data });
  }
  const code = message.kind === 'request' ? INVALID_PARAMS : INTERNAL_ERROR;
  return errorLine(id, { code, message: words, data });
}

/** All that an agent may take a value from, the words of a server about itself included. */
const OBSERVED: ReadonlySet<string> = new Set([
  TOOLS_CALL,
  'completion/complete',
  'initialize',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'server/discover',
  'tasks/get',
  'tasks/result',
  'tools/list',
]);

export const UNHEARD: RefusedPassage = {
  kind: 'refused',
  reason_code: 'ANSWER_REFUSED',
  summary: 'The hub of this run, which keeps track of what answers hold, could not be told of it.',
};

/** Whether the answer to such a request holds what the hub must hear of. */
export function isObserved({ config }: Context, method: string): boolean {
  return config.hubNeeds?.observes === true && OBSERVED.has(method);
}

/** Whether the hub should have heard of this answer, and has not. */
export function isUnheard(context: Context, { from, heard }: MessageStep, method: string): boolean {
  return from === 'server' && heard !== true && isObserved(context, method);
}

/** Whether the hub must hear of such a request or notification of the server. */
export function isSpeech({ config }: Context, { from }: MessageStep, method: string): boolean {
  return config.hubNeeds?.observes === true && from === 'server' && isSpoken(method);
}
