// Messages of the server: answers are matched with their requests and recorded, everything else passes.

import { type CallError, isObject } from '@subluminal/contracts';
import { memberRange } from '../json/member-ranges.ts';
import { rewritten, spliced } from '../json/patch-text.ts';
import { stringText } from '../json/text.ts';
import { hasDuplicateKeys } from '../json/text-parts.ts';
import { governBatch } from './batch.ts';
import { type MessageStep, report, sizeOf } from './context.ts';
import { passRequest } from './from-agent.ts';
import { withoutState } from './input-rounds.ts';
import {
  answerOnward,
  handOn,
  type MatchedAnswer,
  requestOnward,
  shownResult,
} from './pass-message.ts';
import { peek } from './peek/peek.ts';
import type { Seen, SeenNotification, SeenRequest, SeenResponse } from './peek/types.ts';
import {
  endCall,
  fitted,
  NOT_INSPECTED,
  notifyEnd,
  type Preview,
  previewBytes,
  previewText,
} from './record-call.ts';
import { malformed, reject, UNASKED } from './reject-message.ts';
import { type AnsweredCall, beginTask, taskAnswered, taskNotified } from './task-answers.ts';
import { eraOf } from './versions.ts';

const MESSAGE_BYTES_MAX = 2_048;

export function fromServer(step: MessageStep, seen: Seen): void {
  switch (seen.kind) {
    case 'response':
      return response(step, seen);
    case 'notification':
      return notification(step, seen);
    case 'request':
      return request(step, seen);
    case 'batch':
      return governBatch(step, fromServer);
    case 'invalid':
      return malformed(step, seen);
  }
}

function response(step: MessageStep, seen: SeenResponse): void {
  const { context } = step;
  const { id, failed } = seen;
  if (seen.forged) return passWithoutForgedMark(step);
  const found = id && context.requests.agent.get(id.json);
  // The server has not seen a held call, so this cannot be its answer.
  const open = found?.heldAs === undefined ? found : undefined;
  // An error without an id, or with the id null, answers no request, and does no harm.
  const isNullError = found === undefined && id?.type === 'null' && failed === 'rpc';
  if (open === undefined && id !== undefined && !isNullError) {
    const detail =
      'The server answered a request that is not open: unsolicited, or answered twice.';
    return reject(step, { ...UNASKED, reason: 'unsolicited_answer', detail });
  }
  const clean = withoutTaskMark(step, open?.taskId);
  if (clean !== step) return response(clean, peekAnswer(clean));
  const onward = answerOnward(step, seen, open);
  if (open !== undefined) closeRequest(step, { seen, open, onward });
  handOn(step, onward);
}

/** Closes the request of an answer; the end of a call is recorded. */
function closeRequest(step: MessageStep, answer: MatchedAnswer): void {
  const { context } = step;
  const { seen, open } = answer;
  context.requests.agent.take(open.idJson);
  if (open.method === 'initialize' && seen.protocolVersion !== undefined) {
    context.version = seen.protocolVersion;
  }
  const { call, sinceMs, endedBy } = open;
  if (seen.needsInput) noteInputRequest(step, answer);
  if (call === undefined) {
    const task = taskAnswered(step, answer);
    if (task !== undefined) recordAnswer(step, task, answer);
    return;
  }
  const mayBegin = seen.hasTask || seen.resultType === 'task';
  if (mayBegin && beginTask(step, call, answer)) return;
  if (endedBy === undefined) recordAnswer(step, { open: call, sinceMs }, answer);
  else if (endedBy === 'cancelled') {
    // The end of a cancelled call is on record; gates and breakers still count it.
    notifyEnd(step, { call, sinceMs, isError: seen.failed !== 'no' });
  }
}

/** Passes an answer on without the mark that only Subluminal may write. */
function passWithoutForgedMark(step: MessageStep): void {
  const bytes = step.unseen === undefined ? withoutForgedMark(step, MARK_PLACES) : undefined;
  const seen = bytes === undefined ? undefined : peek(bytes);
  if (bytes === undefined || seen?.kind !== 'response' || seen.forged) return rejectForged(step);
  response(stepWith(step, bytes), seen);
}

/** An answer that was changed, read again: its ranges have moved. */
function peekAnswer({ bytes }: MessageStep): SeenResponse {
  const seen = peek(bytes);
  if (seen.kind !== 'response') throw new Error('an answer without its mark is no answer');
  return seen;
}

function rejectForged(step: MessageStep): void {
  const detail = 'A message of the server speaks in the name of Subluminal.';
  reject(step, { ...UNASKED, reason: 'forged_mark', detail, always: true });
}

function stepWith(step: MessageStep, bytes: Uint8Array): MessageStep {
  return { ...step, bytes, forward: { do: 'forward', to: 'agent', bytes } };
}

/** The same step without a mark in the answer of a tool that the state of a task holds. */
function withoutTaskMark(step: MessageStep, taskId: string | undefined): MessageStep {
  if (taskId === undefined || step.unseen !== undefined) return step;
  const bytes = withoutForgedMark(step, TASK_MARK_PLACES);
  return bytes === undefined ? step : withoutTaskMark(stepWith(step, bytes), taskId);
}

/** Remembers the input that the server asks for, as the agent gets it: only that can be answered. */
function noteInputRequest(step: MessageStep, answer: MatchedAnswer): void {
  const text = shownResult(step, answer);
  if (text === undefined) return;
  const { inputRounds } = step.context;
  const { call: open, method } = answer.open;
  const result: unknown = JSON.parse(text);
  if (open === undefined || open.call.subject !== undefined)
    inputRounds.askedBeside(method, result);
  if (open === undefined) return;
  const { tool_name, args_hash } = open.call;
  const { call_id } = open.ref;
  inputRounds.asked({ call_id, tool_name, args_hash }, result);
}

function recordAnswer(step: MessageStep, call: AnsweredCall, answer: MatchedAnswer): void {
  const { seen, onward } = answer;
  const isRefused = onward.kind === 'refused';
  // Spelled out: copying costs, and this happens with every call.
  endCall(step, {
    open: call.open,
    status: seen.failed === 'no' && !isRefused ? 'OK' : 'ERROR',
    sinceMs: call.sinceMs,
    bytesOut: step.bytesTotal ?? sizeOf(step.bytes),
    preview: previewFor(step, answer),
    error: errorOf(step, answer),
    streamHash: step.unseen?.streamHash,
    content: onward.note,
    isError: seen.failed !== 'no',
    isTask: call.isTask,
  });
}

/** A preview of what the agent gets to see, and of nothing else. */
function previewFor(step: MessageStep, answer: MatchedAnswer): Preview {
  const { onward, seen } = answer;
  if (step.unseen !== undefined || onward.kind === 'refused') return NOT_INSPECTED;
  const isNew = onward.kind === 'rewritten';
  const bytes = isNew ? onward.bytes : step.bytes;
  const whole = { start: 0, end: sizeOf(bytes) };
  if (seen.result === undefined) return previewBytes(step.context, bytes, whole);
  if (seen.needsInput) {
    return previewText(step.context, withoutState(shownResult(step, answer) ?? '{}'));
  }
  return previewBytes(step.context, bytes, isNew ? onward.value : seen.result);
}

function errorOf(step: MessageStep, answer: MatchedAnswer): CallError | undefined {
  const { seen, onward } = answer;
  if (onward.kind === 'refused') {
    const message = fitted(step.context.redact(onward.why.summary), MESSAGE_BYTES_MAX);
    return { class: 'policy_block', message };
  }
  if (seen.failed === 'no') return undefined;
  if (seen.failed === 'tool') {
    return { class: 'upstream_error', message: 'The tool reports an error.' };
  }
  const { code, message } = seen;
  const { bytes } = step;
  // A message that a gate has changed is not quoted.
  const isKnown = message !== undefined && onward.kind === 'as_is';
  const written = isKnown
    ? stringText(step.context.decode(bytes, message.start, message.end))
    : 'The server reports an error.';
  const text = fitted(step.context.redact(written), MESSAGE_BYTES_MAX);
  return { class: 'upstream_error', message: text, ...(code !== undefined && { code }) };
}
function request(step: MessageStep, seen: SeenRequest): void {
  if (eraOf(step.context.version) === 'modern') return reject(step, NO_SERVER_REQUESTS);
  const { server } = step.context.requests;
  const taken = server.get(seen.id.json) !== undefined;
  if (taken || !server.makeRoom(step.nowMs)) {
    const reason = taken ? 'id_in_use' : 'too_many_open';
    const detail = taken
      ? 'The server uses an id whose first request has no answer yet.'
      : 'Too many requests of the server are open, or were given up and have no answer yet.';
    return reject(step, { ...UNASKED, reason, detail });
  }
  passRequest(step, seen);
}

const NO_SERVER_REQUESTS = {
  ...UNASKED,
  reason: 'not_in_era',
  detail:
    'The server sends a request, which servers do not do since 2026-07-28; it must ask for input in an answer.',
} as const;

const NO_SUBSCRIPTION = {
  ...UNASKED,
  reason: 'not_subscribed',
  detail: 'A notification of the server belongs to no open subscription of the agent.',
} as const;

/** Whether a notification belongs to no subscription, or to one that the agent has opened. */
function isSubscribed({ context }: MessageStep, { params }: SeenNotification): boolean {
  const { subscriptionId } = params;
  if (subscriptionId === undefined) return true;
  const open = context.requests.agent.get(subscriptionId.json);
  return open?.method === 'subscriptions/listen' && open.endedBy === undefined;
}

function notification(step: MessageStep, seen: SeenNotification): void {
  if (!isSubscribed(step, seen)) return reject(step, NO_SUBSCRIPTION);
  if (seen.method === 'notifications/cancelled') {
    const { server } = step.context.requests;
    const open = server.get(seen.params.requestId?.json ?? '');
    if (open !== undefined) server.end(open, 'cancelled', step.nowMs);
  }
  const { taskId } = seen.params;
  const clean = withoutTaskMark(step, taskId);
  const onward = requestOnward(clean, seen);
  if (taskId !== undefined) taskNotified(clean, seen, onward);
  handOn(clean, onward);
}

// Answers of Subluminal itself carry their data under `subluminal`, in `_meta` of a result and in `data` of
// an error. A server that writes there would speak in our name.
const MARK = 'subluminal';
const MARK_PLACES = [
  ['result', '_meta'],
  ['error', 'data'],
] as const;
/** The state of a task holds the result or the error of a tool. */
const TASK_MARK_PLACES = [
  ['result', 'result', '_meta'],
  ['result', 'error', 'data'],
  ['params', 'result', '_meta'],
  ['params', 'error', 'data'],
] as const;

/** A message without the mark at these places; undefined when there is none, or it cannot be removed. */
function withoutForgedMark(
  step: MessageStep,
  places: readonly (readonly [string, ...string[]])[],
): Uint8Array | undefined {
  const { bytes } = step;
  for (const [part, ...path] of places) {
    const range = memberRange(bytes, part);
    if (range === undefined) continue;
    const text = step.context.decode(bytes, range.start, range.end);
    const value: unknown = JSON.parse(text);
    const unmarked = withoutMark(value, path);
    // Of two keys, a reader may take the one that we have not seen. The top of a message has no key twice.
    const isAmbiguous = path.length > 1 && hasDuplicateKeys(text, value);
    if (unmarked === value && !isAmbiguous) continue;
    const clean = rewritten(text, unmarked);
    if (clean === undefined) return undefined;
    const what = unmarked === value ? 'a key twice' : `\`${MARK}\` into \`${path.join('.')}\``;
    const detail = `The server wrote ${what} in an answer; it was taken out.`;
    report(step, { what: 'NOTICED', reason: 'forged_mark', detail });
    return spliced(bytes, range, step.context.encode(clean));
  }
  return undefined;
}

/** The value without the mark at the end of a path; the very same when there is none. */
function withoutMark(value: unknown, [key, ...path]: readonly string[]): unknown {
  if (!isObject(value)) return value;
  if (key === undefined) {
    if (!Object.hasOwn(value, MARK)) return value;
    const { [MARK]: _forged, ...rest } = value;
    return rest;
  }
  const inner = value[key];
  const clean = withoutMark(inner, path);
  return clean === inner ? value : { ...value, [key]: clean };
}
