// Messages that are no tool call: the gates judge them, and they are passed on, rewritten or refused.

import { isObject } from '@subluminal/contracts';
import { memberRange } from '../json/member-ranges.ts';
import { rewritten, spliced } from '../json/patch-text.ts';
import { hasDuplicateKeys } from '../json/text-parts.ts';
import { isSpoken } from '../taint/spoken.ts';
import { errorLine, INTERNAL_ERROR, INVALID_PARAMS, resultLine } from './answer-lines.ts';
import {
  type Context,
  type MessageStep,
  type OpenCall,
  type OpenRequest,
  other,
  report,
} from './context.ts';
import { mergeNotes } from './gate-notes.ts';
import type { ContentNote, MessageVerdict, OtherMessage, RefusedMessage, Way } from './guard.ts';
import { STATE } from './input-rounds.ts';
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
import { isOtherTask } from './task-calls.ts';
import type { Side } from './types.ts';
import { eraOf } from './versions.ts';

interface PassedMessage
  extends Pick<OtherMessage, 'kind' | 'method' | 'isError' | 'call' | 'taskCall'> {
  readonly id: MessageId | undefined;
  /** Whether a state in it is opaque: then no gate judges what it says. */
  readonly isOpaque?: ((state: string) => boolean) | undefined;
  /** It has members that no revision of the protocol knows. */
  readonly extra: boolean;
  /** Where the result of an answer stands. */
  readonly result?: ByteRange | undefined;
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

/** An answer, the request that it belongs to, and what becomes of it. */
export interface MatchedAnswer {
  readonly seen: SeenResponse;
  readonly open: OpenRequest;
  readonly onward: Onward;
}

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
  readonly taskCall: OtherMessage['taskCall'];
  /** Where the value stands. */
  readonly range: ByteRange | undefined;
  private readonly isOpaque: PassedMessage['isOpaque'];
  private readonly readText: () => string | undefined;
  private known: { readonly text: string | undefined } | undefined;
  private parsed: ParsedValue | undefined;

  constructor(
    message: PassedMessage,
    range: ByteRange | undefined,
    readText: () => string | undefined,
  ) {
    const { kind, method, isError, call, taskCall, isOpaque } = message;
    this.range = range;
    this.isOpaque = isOpaque;
    this.kind = kind;
    this.method = method;
    this.isError = isError;
    this.call = call;
    this.taskCall = taskCall;
    this.readText = readText;
  }

  get isRead(): boolean {
    return this.parsed !== undefined;
  }

  get value(): unknown {
    return this.read().judged;
  }

  /** The state of the server in it that nobody judges. */
  get state(): string | undefined {
    return this.read().state;
  }

  /** A value of the gates with the state as it came. */
  withState(value: unknown): unknown {
    const { state } = this;
    return state === undefined || !isObject(value) ? value : { ...value, [STATE]: state };
  }

  private read(): ParsedValue {
    if (this.parsed === undefined) {
      const { text, isOpaque } = this;
      const whole: unknown = text === undefined ? undefined : JSON.parse(text);
      this.parsed = { whole, judged: whole, state: undefined };
      const { [STATE]: state, ...judged } = isOpaque !== undefined && isObject(whole) ? whole : {};
      if (typeof state === 'string' && isOpaque?.(state) === true) {
        this.parsed = { whole, judged, state };
      }
    }
    return this.parsed;
  }

  get text(): string | undefined {
    this.known ??= { text: this.readText() };
    return this.known.text;
  }

  /** Whether a key stands twice: the gates have seen the last of its values, a reader may take the first. */
  get isAmbiguous(): boolean {
    const { text } = this;
    return text !== undefined && hasDuplicateKeys(text, this.read().whole);
  }
}

interface ParsedValue {
  readonly whole: unknown;
  /** The part of it that the gates judge. */
  readonly judged: unknown;
  readonly state: string | undefined;
}

/** What becomes of a request or notification. It passes as it is where nobody watches. */
export function requestOnward(step: MessageStep, seen: SeenRequest | SeenNotification): Onward {
  if (!isWatched(step.context)) return AS_IS;
  const { kind, method, extra, params } = seen;
  const id = kind === 'request' ? seen.id : undefined;
  const call = taskTool(step, params.taskId);
  const { inputRounds } = step.context;
  const mayHoldState = step.from === 'agent' && inputRounds.hasStates;
  const isOpaque = mayHoldState
    ? (state: string) => inputRounds.isKnownState(method, state)
    : undefined;
  const message = { kind, method, id, isError: false, call, extra, isOpaque } as const;
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
  { id, failed, extra, result, needsInput }: SeenResponse,
  open: OpenRequest | undefined,
): Onward {
  const { method = '', call: made, taskId } = open ?? {};
  const isError = failed === 'rpc';
  const call = made === undefined ? taskTool(step, taskId) : toolOf(made);
  const isOpaque = step.from === 'server' && needsInput ? () => true : undefined;
  const taskCall = method === 'tasks/list' ? (one: string) => taskTool(step, one) : undefined;
  const about = { method, id, isError, call, taskCall, extra, isOpaque, result };
  const message: PassedMessage = { kind: 'answer', ...about };
  if (taskId !== undefined && result !== undefined && isAnotherTask(step, taskId, result)) {
    if (step.context.enforcing) return refusedBy(OTHER_TASK, message);
    report(step, { what: 'WOULD_REJECT', reason: 'refused', detail: OTHER_TASK.summary });
  }
  if (!isWatched(step.context)) return AS_IS;
  return onwardOf(step, message, isUnheard(step, method));
}

/** The call of a tool, for the gates; the answer of another request is no answer of a tool. */
function toolOf({ ref, call }: OpenCall): OtherMessage['call'] {
  return call.subject === undefined ? { callId: ref.call_id, tool: call.tool_name } : undefined;
}

/** The call that goes on as this task. Answers about the task belong to it. */
function taskTool({ context }: MessageStep, taskId: string | undefined): OtherMessage['call'] {
  const task = context.tasks.get(taskId);
  return task && toolOf(task.open);
}

function isAnotherTask(step: MessageStep, taskId: string, { start, end }: ByteRange): boolean {
  if (step.unseen !== undefined) return false;
  return isOtherTask(JSON.parse(step.context.decode(step.bytes, start, end)), taskId);
}

const OTHER_TASK: RefusedMessage = {
  kind: 'refused',
  reason_code: 'ANSWER_REFUSED',
  summary: 'The server answers about another task than it was asked about.',
};

function onwardOf(step: MessageStep, message: PassedMessage, isMissed: boolean): Onward {
  const { context, bytes, nowMs } = step;
  const { guard } = context;
  const { kind, method } = message;
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
  const passing = passingOf(step, message);
  const passage = wants ? guard.passing(way, passing, nowMs) : SAME;
  if (passage.kind === 'refused') return refusedBy(passage, message);
  const note = mergeNotes([around?.note, passage.note]);
  const isAmbiguous = (passing.isRead || isHeard) && passing.isAmbiguous;
  if (passage.kind === 'same' && !isAmbiguous) return asItIs(note);
  const value = passing.withState(passage.kind === 'changed' ? passage.value : passing.value);
  const { text, range } = passing;
  const json = text === undefined ? undefined : rewritten(text, value);
  // A value that must be replaced and cannot be must not pass as it is.
  if (range === undefined || json === undefined) return refusedBy(NOT_REPLACED, message);
  const whole = spliced(bytes, range, context.encode(json));
  const end = range.end + whole.length - bytes.length;
  return { kind: 'rewritten', bytes: whole, value: { start: range.start, end }, note };
}

/** The params, the result or the error of a message, for the gates. */
function passingOf({ context, bytes }: MessageStep, message: PassedMessage): LazyPassing {
  const { kind, isError, result } = message;
  const part = kind !== 'answer' ? 'params' : isError ? 'error' : 'result';
  const range = part === 'result' ? result : memberRange(bytes, part);
  return new LazyPassing(message, range, () => {
    if (range !== undefined) return context.decode(bytes, range.start, range.end);
    // A request may have no params, but an answer without a result must not count as an empty one.
    if (kind === 'answer') throw new Error('an answer has neither a result nor an error');
    return undefined;
  });
}

function asItIs(note: ContentNote | undefined): Onward {
  return note === undefined ? AS_IS : { kind: 'as_is', note };
}

/** The verdict of the gates on everything in a message that is neither params, result nor error. */
function aroundOf(step: MessageStep, message: PassedMessage): MessageVerdict | undefined {
  const { guard } = step.context;
  if (guard?.around === undefined) return undefined;
  const { kind, method, id, extra, isOpaque } = message;
  const { bytes, from, nowMs } = step;
  const isAnswer = kind === 'answer';
  const opaque = isOpaque === undefined ? undefined : passingOf(step, message).state;
  const envelope = new LazyEnvelope(step.context, { bytes, method, id, extra, isAnswer, opaque });
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

/** The JSON of a result as the agent gets it; undefined when it gets none, or it was not inspected. */
export function shownResult(
  step: MessageStep,
  { seen, onward }: Pick<MatchedAnswer, 'seen' | 'onward'>,
): string | undefined {
  if (onward.kind === 'refused' || seen.result === undefined || step.unseen !== undefined) {
    return undefined;
  }
  const isNew = onward.kind === 'rewritten';
  const { start, end } = isNew ? onward.value : seen.result;
  return step.context.decode(isNew ? onward.bytes : step.bytes, start, end);
}
