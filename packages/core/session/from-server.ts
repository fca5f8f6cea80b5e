// What the server sends: answers are matched with their requests and recorded, all else passes.

import { type CallError, isObject } from '@subluminal/contracts';
import { memberRange } from '../json/member-ranges.ts';
import { rewritten, spliced } from '../json/patch-text.ts';
import { stringText } from '../json/text.ts';
import { governBatch } from './batch.ts';
import {
  type Context,
  type MessageStep,
  type OpenCall,
  type OpenRequest,
  report,
  sizeOf,
} from './context.ts';
import { passRequest } from './from-agent.ts';
import {
  AS_IS,
  answerOnward,
  handOn,
  isWatched,
  type Onward,
  requestOnward,
} from './pass-message.ts';
import { peek } from './peek/peek.ts';
import type { Seen, SeenNotification, SeenRequest, SeenResponse } from './peek/types.ts';
import {
  endCall,
  fitted,
  NOT_INSPECTED,
  type Preview,
  previewBytes,
  recordLateAnswer,
} from './record-call.ts';
import { malformed, reject, UNASKED } from './reject-message.ts';

/** What is known of an answer that was too large to inspect. */
export interface Uninspected {
  readonly bytesTotal: number;
  readonly streamHash: string;
}

interface ServerAnswer {
  readonly seen: SeenResponse;
  readonly uninspected: Uninspected | undefined;
}

const MESSAGE_BYTES_MAX = 2_048;

export function fromServer(context: Context, step: MessageStep, seen: Seen): void {
  switch (seen.kind) {
    case 'response':
      return response(context, step, seen);
    case 'notification':
      return notification(context, step, seen);
    case 'request':
      return request(context, step, seen);
    case 'batch':
      return governBatch(context, step, fromServer);
    case 'invalid':
      return malformed(context, step, seen);
  }
}

function response(context: Context, step: MessageStep, seen: SeenResponse): void {
  if (seen.forged) return forged(context, step);
  if (!settleAnswer(context, step, { seen, uninspected: undefined })) unsolicited(context, step);
}

/** Goes on with the answer as it is without what only we may say. */
function forged(context: Context, step: MessageStep): void {
  const bytes = step.unseen === undefined ? withoutForgedMark(context, step) : undefined;
  const seen = bytes === undefined ? undefined : peek(bytes);
  if (bytes === undefined || seen?.kind !== 'response' || seen.forged) {
    const detail = 'An answer of the server speaks in the name of Subluminal.';
    return reject(context, step, { ...UNASKED, reason: 'forged_mark', detail, always: true });
  }
  const forward = { do: 'forward', to: 'agent', bytes } as const;
  response(context, { ...step, bytes, forward }, seen);
}

function unsolicited(context: Context, step: MessageStep): void {
  const detail = 'The server answered a request that is not open: unsolicited, or answered twice.';
  reject(context, step, { ...UNASKED, reason: 'unsolicited_answer', detail });
}

/** The request that an answer belongs to, or what says that there is none. */
function requestOf(
  { requests }: Context,
  { id, failed }: SeenResponse,
): OpenRequest | 'nobody' | undefined {
  // An error about nothing in particular answers nobody, and harms nobody.
  if (id === undefined) return 'nobody';
  const open = requests.agent.get(id.json);
  if (open === undefined && id.type === 'null' && failed === 'rpc') return 'nobody';
  // The server has not seen a held call: whatever this is, it is not its answer.
  return open?.heldAs === undefined ? open : undefined;
}

/** Matches an answer with its request, records the end of a call, and hands it on. False if there is none. */
export function settleAnswer(
  context: Context,
  step: MessageStep,
  { seen, uninspected }: ServerAnswer,
): boolean {
  const found = requestOf(context, seen);
  if (found === undefined) return false;
  const open = found === 'nobody' ? undefined : found;
  const onward = isWatched(context) ? answerOnward(context, step, { seen, open }) : AS_IS;
  if (open !== undefined && seen.id !== undefined) {
    context.requests.agent.take(seen.id.json);
    if (open.method === 'initialize' && seen.protocolVersion !== undefined) {
      context.version = seen.protocolVersion;
    }
    if (open.call !== undefined) {
      if (seen.needsInput) noteInputRequest(context, step, { seen, call: open.call, onward });
      if (open.endedBy === undefined) {
        recordAnswer(context, step, { seen, uninspected, open, call: open.call, onward });
      } else if (open.endedBy === 'cancelled') {
        const isError = seen.failed !== 'no';
        recordLateAnswer(context, step, { call: open.call, sinceMs: open.sinceMs, isError });
      }
    }
  }
  handOn(context, step, onward);
  return true;
}

/** Remembers what the server asks for, as the agent gets it: only that can be answered. */
function noteInputRequest(
  context: Context,
  step: MessageStep,
  answer: Pick<Recorded, 'seen' | 'call' | 'onward'>,
): void {
  const { seen, call, onward } = answer;
  if (onward.kind === 'refused' || seen.result === undefined) return;
  const isNew = onward.kind === 'rewritten';
  const { start, end } = isNew ? onward.value : seen.result;
  const text = context.decode(isNew ? onward.bytes : step.bytes, start, end);
  const { tool_name, args_hash } = call.call;
  const { call_id } = call.ref;
  context.inputRounds.asked({ call_id, tool_name, args_hash }, JSON.parse(text));
}

interface Recorded extends ServerAnswer {
  readonly open: OpenRequest;
  readonly call: OpenCall;
  readonly onward: Onward;
}

function recordAnswer(context: Context, step: MessageStep, answer: Recorded): void {
  const { open, call, uninspected, seen, onward } = answer;
  const isRefused = onward.kind === 'refused';
  endCall(context, step, {
    open: call,
    status: seen.failed === 'no' && !isRefused ? 'OK' : 'ERROR',
    sinceMs: open.sinceMs,
    bytesOut: uninspected?.bytesTotal ?? sizeOf(step.bytes),
    preview: previewFor(context, step, answer),
    error: errorOf(context, step, answer),
    streamHash: uninspected?.streamHash,
    content: onward.note,
    isError: seen.failed !== 'no',
  });
}

/** What the agent gets to see; of what it does not, nothing is shown. */
function previewFor(context: Context, step: MessageStep, answer: Recorded): Preview {
  const { uninspected, onward, seen } = answer;
  if (uninspected !== undefined || onward.kind === 'refused') return NOT_INSPECTED;
  const isNew = onward.kind === 'rewritten';
  const bytes = isNew ? onward.bytes : step.bytes;
  const whole = { start: 0, end: sizeOf(bytes) };
  if (seen.result === undefined) return previewBytes(context, bytes, whole);
  return previewBytes(context, bytes, isNew ? onward.value : seen.result);
}

function errorOf(context: Context, step: MessageStep, answer: Recorded): CallError | undefined {
  const { seen, onward } = answer;
  if (onward.kind === 'refused') {
    const message = fitted(context.redact(onward.why.summary), MESSAGE_BYTES_MAX);
    return { class: 'policy_block', message };
  }
  if (seen.failed === 'no') return undefined;
  if (seen.failed === 'tool') {
    return { class: 'upstream_error', message: 'The tool reports an error.' };
  }
  const { code, message } = seen;
  const { bytes } = step;
  // What a gate has taken out of the message is not told here either.
  const isKnown = message !== undefined && message.end <= bytes.length && onward.kind === 'as_is';
  const written = isKnown
    ? stringText(context.decode(bytes, message.start, message.end))
    : 'The server reports an error.';
  const text = fitted(context.redact(written), MESSAGE_BYTES_MAX);
  return { class: 'upstream_error', message: text, ...(code !== undefined && { code }) };
}

function request(context: Context, step: MessageStep, seen: SeenRequest): void {
  const { server } = context.requests;
  const open = server.get(seen.id.json);
  const taken = open !== undefined;
  if (taken || !server.makeRoom(step.nowMs)) {
    const reason = taken ? 'id_in_use' : 'too_many_open';
    const detail = taken
      ? 'The server uses an id whose first request has no answer yet.'
      : 'Too many requests of the server are open, or were given up and have no answer yet.';
    return reject(context, step, { ...UNASKED, reason, detail });
  }
  passRequest(context, step, seen);
}

function notification(context: Context, step: MessageStep, seen: SeenNotification): void {
  if (seen.method === 'notifications/cancelled') {
    const open = context.requests.server.get(seen.params.requestId?.json ?? '');
    if (open !== undefined) context.requests.server.end(open, 'cancelled', step.nowMs);
  }
  handOn(context, step, requestOnward(context, step, seen));
}

// What Subluminal says in an answer of its own stands under `subluminal`, in `_meta` of a result and in
// `data` of an error. A server that writes there would speak in our name.
const MARK = 'subluminal';
/** Where it stands: the part of a message, and the member in it. */
const HOLDERS = [
  ['result', '_meta'],
  ['error', 'data'],
] as const;

/** The answer of a server without what only we may say; undefined when it cannot be taken out. */
function withoutForgedMark(context: Context, step: MessageStep): Uint8Array | undefined {
  const { bytes } = step;
  for (const [part, holder] of HOLDERS) {
    const range = memberRange(bytes, part);
    if (range === undefined) continue;
    const text = context.decode(bytes, range.start, range.end);
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
