// Messages of the server: answers are matched with their requests and recorded, everything else passes.

import { type CallError, isObject } from '@subluminal/contracts';
import { memberRange } from '../json/member-ranges.ts';
import { rewritten, spliced } from '../json/patch-text.ts';
import { stringText } from '../json/text.ts';
import { governBatch } from './batch.ts';
import { type MessageStep, type OpenCall, type OpenRequest, report, sizeOf } from './context.ts';
import { passRequest } from './from-agent.ts';
import { answerOnward, handOn, type Onward, requestOnward } from './pass-message.ts';
import { peek } from './peek/peek.ts';
import type { Seen, SeenNotification, SeenRequest, SeenResponse } from './peek/types.ts';
import {
  endCall,
  fitted,
  NOT_INSPECTED,
  notifyEnd,
  type Preview,
  previewBytes,
} from './record-call.ts';
import { malformed, reject, UNASKED } from './reject-message.ts';

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
  const onward = answerOnward(step, seen, open);
  if (open !== undefined) closeRequest(step, { seen, open, onward });
  handOn(step, onward);
}

interface MatchedAnswer {
  readonly seen: SeenResponse;
  readonly open: OpenRequest;
  readonly onward: Onward;
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
  if (call === undefined) return;
  if (seen.needsInput) noteInputRequest(step, call, answer);
  if (endedBy === undefined) recordAnswer(step, call, answer);
  else if (endedBy === 'cancelled') {
    // The end of a cancelled call is on record; gates and breakers still count it.
    notifyEnd(step, { call, sinceMs, isError: seen.failed !== 'no' });
  }
}

/** Passes an answer on without the mark that only Subluminal may write. */
function passWithoutForgedMark(step: MessageStep): void {
  const bytes = step.unseen === undefined ? withoutForgedMark(step) : undefined;
  const seen = bytes === undefined ? undefined : peek(bytes);
  if (bytes === undefined || seen?.kind !== 'response' || seen.forged) {
    const detail = 'An answer of the server speaks in the name of Subluminal.';
    return reject(step, { ...UNASKED, reason: 'forged_mark', detail, always: true });
  }
  const forward = { do: 'forward', to: 'agent', bytes } as const;
  response({ ...step, bytes, forward }, seen);
}

/** Remembers the input that the server asks for, as the agent gets it: only that can be answered. */
function noteInputRequest(step: MessageStep, open: OpenCall, answer: MatchedAnswer): void {
  const { seen, onward } = answer;
  // Of a message that was not inspected, there is no text to read.
  if (onward.kind === 'refused' || seen.result === undefined || step.unseen !== undefined) return;
  const isNew = onward.kind === 'rewritten';
  const { start, end } = isNew ? onward.value : seen.result;
  const text = step.context.decode(isNew ? onward.bytes : step.bytes, start, end);
  const { tool_name, args_hash } = open.call;
  const { call_id } = open.ref;
  step.context.inputRounds.asked({ call_id, tool_name, args_hash }, JSON.parse(text));
}

function recordAnswer(step: MessageStep, call: OpenCall, answer: MatchedAnswer): void {
  const { open, seen, onward } = answer;
  const isRefused = onward.kind === 'refused';
  endCall(step, {
    open: call,
    status: seen.failed === 'no' && !isRefused ? 'OK' : 'ERROR',
    sinceMs: open.sinceMs,
    bytesOut: step.bytesTotal ?? sizeOf(step.bytes),
    preview: previewFor(step, answer),
    error: errorOf(step, answer),
    streamHash: step.unseen?.streamHash,
    content: onward.note,
    isError: seen.failed !== 'no',
  });
}

/** A preview of what the agent gets to see, and of nothing else. */
function previewFor(step: MessageStep, { onward, seen }: MatchedAnswer): Preview {
  if (step.unseen !== undefined || onward.kind === 'refused') return NOT_INSPECTED;
  const isNew = onward.kind === 'rewritten';
  const bytes = isNew ? onward.bytes : step.bytes;
  const whole = { start: 0, end: sizeOf(bytes) };
  if (seen.result === undefined) return previewBytes(step.context, bytes, whole);
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

function notification(step: MessageStep, seen: SeenNotification): void {
  if (seen.method === 'notifications/cancelled') {
    const { server } = step.context.requests;
    const open = server.get(seen.params.requestId?.json ?? '');
    if (open !== undefined) server.end(open, 'cancelled', step.nowMs);
  }
  handOn(step, requestOnward(step, seen));
}

// Answers of Subluminal itself carry their data under `subluminal`, in `_meta` of a result and in `data` of
// an error. A server that writes there would speak in our name.
const MARK = 'subluminal';
/** The places of the mark: a part of a message, and a member of it. */
const HOLDERS = [
  ['result', '_meta'],
  ['error', 'data'],
] as const;

/** The answer of a server without the mark; undefined when the mark cannot be removed. */
function withoutForgedMark(step: MessageStep): Uint8Array | undefined {
  const { bytes } = step;
  for (const [part, holder] of HOLDERS) {
    const range = memberRange(bytes, part);
    if (range === undefined) continue;
    const text = step.context.decode(bytes, range.start, range.end);
    const value: unknown = JSON.parse(text);
    const held: unknown = isObject(value) ? value[holder] : undefined;
    if (!isObject(value) || !isObject(held)) continue;
    const { [MARK]: _forged, ...rest } = held;
    const clean = rewritten(text, { ...value, [holder]: rest });
    if (clean === undefined) return undefined;
    const detail = `The server wrote \`${MARK}\` into \`${holder}\` of an answer; it was taken out.`;
    report(step, { what: 'NOTICED', reason: 'forged_mark', detail });
    return spliced(bytes, range, clean);
  }
  return undefined;
}
