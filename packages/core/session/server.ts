// What the server sends: answers are matched and recorded, everything else passes as it is.
import type { CallError } from '@subluminal/contracts';
import { openRequest } from './agent.ts';
import { INVALID_REQUEST } from './answers.ts';
import { governBatch } from './batch.ts';
import { type Context, type Step, sizeOf } from './context.ts';
import { endCall } from './events.ts';
import { malformed, reject } from './malformed.ts';
import { stringText } from './peek/text.ts';
import type { Seen, SeenNotification, SeenRequest, SeenResponse } from './peek/types.ts';
import type { Open, OpenCall } from './pending.ts';
import { fitted, NOT_INSPECTED, previewOfBytes } from './preview.ts';

/** What is known of an answer that was too large to inspect. */
interface Uninspected {
  readonly bytesTotal: number;
  readonly streamHash: string;
}

interface Answer {
  readonly seen: SeenResponse;
  readonly uninspected: Uninspected | undefined;
}

const MESSAGE_BYTES_MAX = 2_048;

function fromServer(context: Context, step: Step, seen: Seen): void {
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

function response(context: Context, step: Step, seen: SeenResponse): void {
  if (!settleAnswer(context, step, { seen, uninspected: undefined }))
    return unsolicited(context, step);
  step.out.push(step.forward);
}

function unsolicited(context: Context, step: Step): void {
  const detail = 'The server answered a request that is not open: unsolicited, or answered twice.';
  const fault = { id: undefined, asks: false, code: INVALID_REQUEST } as const;
  reject(context, step, { ...fault, reason: 'unsolicited_answer', detail });
}

/** Matches an answer with its request and records the end of a call. False if there is none. */
function settleAnswer(context: Context, step: Step, { seen, uninspected }: Answer): boolean {
  // An error about nothing in particular answers nobody, and harms nobody.
  if (seen.id === undefined) return true;
  const open = context.asked.agent.get(seen.id.json);
  if (open === undefined && seen.id.type === 'null' && seen.failed === 'rpc') return true;
  // The server has not seen a held call: whatever this is, it is not its answer.
  if (open === undefined || open.heldAs !== undefined) return false;
  context.asked.agent.take(seen.id.json);
  if (open.method === 'initialize' && seen.protocolVersion !== undefined) {
    context.version = seen.protocolVersion;
  }
  if (open.call !== undefined && !open.settled) {
    recordAnswer(context, step, { seen, uninspected, open, call: open.call });
  }
  return true;
}

function recordAnswer(
  context: Context,
  step: Step,
  answer: Answer & { readonly open: Open; readonly call: OpenCall },
): void {
  const { open, call, uninspected, seen } = answer;
  const { result, failed } = seen;
  const size = sizeOf(step.bytes);
  const preview =
    uninspected === undefined
      ? previewOfBytes(context, step.bytes, result ?? { start: 0, end: size })
      : NOT_INSPECTED;
  endCall(context, step, {
    open: call,
    status: failed === 'no' ? 'OK' : 'ERROR',
    sinceMs: open.sinceMs,
    bytesOut: uninspected?.bytesTotal ?? size,
    preview,
    error: failed === 'no' ? undefined : errorOf(context, step, seen),
    streamHash: uninspected?.streamHash,
  });
}

function errorOf(context: Context, { bytes }: Step, answer: SeenResponse): CallError {
  const { failed, code, message } = answer;
  if (failed === 'tool') return { class: 'upstream_error', message: 'The tool reports an error.' };
  const written =
    message === undefined || message.end > bytes.length
      ? 'The server reports an error.'
      : stringText(context.decode(bytes, message.start, message.end));
  const text = fitted(context.redact(written), MESSAGE_BYTES_MAX);
  return { class: 'upstream_error', message: text, ...(code !== undefined && { code }) };
}

function request(context: Context, step: Step, seen: SeenRequest): void {
  const { server } = context.asked;
  const open = server.get(seen.id.json);
  const taken = open !== undefined && !open.settled;
  if (taken || !server.hasRoom()) {
    const reason = taken ? 'id_in_use' : 'too_many_open';
    const detail = taken
      ? 'The server uses an id whose first request is still open.'
      : 'Too many requests of the server are open at once.';
    const fault = { id: undefined, asks: false, code: INVALID_REQUEST } as const;
    return reject(context, step, { ...fault, reason, detail });
  }
  openRequest(context, step, seen);
  step.out.push(step.forward);
}

function notification(context: Context, step: Step, seen: SeenNotification): void {
  if (seen.method === 'notifications/cancelled') {
    const open = context.asked.server.get(seen.params.requestId?.json ?? '');
    if (open !== undefined) open.settled = true;
  }
  step.out.push(step.forward);
}

export type { Uninspected };
export { fromServer, settleAnswer };
