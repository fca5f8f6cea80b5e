// What the hub must be asked, or must hear of, before a message goes in. Looking changes nothing.
import { memberRange } from '../json/member-ranges.ts';
import { isSpoken } from '../taint/spoken.ts';
import { asksHub, limitsFor } from './ask-hub.ts';
import { batchItems } from './batch.ts';
import { type Context, type Message, stepFor, takesBatches } from './context.ts';
import { isObserved } from './pass-message.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { Seen, SeenResponse } from './peek/types.ts';
import { ambiguityAround, viewCall } from './read-call.ts';
import type { HubQuestion, Observation } from './types.ts';

/** What the hub must be asked before a message goes in. */
export function questionsIn(
  context: Context,
  message: Message,
  nowMs: number,
): readonly HubQuestion[] {
  if (context.config.hub !== true) return [];
  if (message.seen.kind === 'batch') {
    if (!takesBatches(context)) return [];
    const found = batchItems(context, message);
    if (!found.ok) return [];
    // A batch in a batch is refused when it goes in.
    const items = found.items.filter(({ seen }) => seen.kind !== 'batch');
    return items.flatMap((item) => questionsIn(context, item, nowMs));
  }
  const { seen, from, bytes } = message;
  if (seen.kind !== 'request' && seen.kind !== 'notification') return [];
  if (seen.method !== TOOLS_CALL) return [];
  const step = { ...stepFor(from, bytes, nowMs), message };
  const { call, ref, fault, envelope } = viewCall(context, step, seen);
  if ((fault ?? ambiguityAround(context, envelope)) !== undefined) return [];
  if (!asksHub(context, call)) return [];
  return [{ ref, call, beside: envelope.rest, limits: limitsFor(context, step, call) }];
}

/** What a message of the server holds that the hub must hear of. */
export function observationsIn(context: Context, message: Message): readonly Observation[] {
  if (context.config.hubNeeds?.observes !== true) return [];
  if (message.seen.kind !== 'batch') return observationIn(context, message.bytes, message.seen);
  if (!takesBatches(context)) return [];
  const found = batchItems(context, message);
  if (!found.ok) return [];
  return found.items.flatMap(({ bytes, seen }) => observationIn(context, bytes, seen));
}

function observationIn(context: Context, bytes: Uint8Array, seen: Seen): readonly Observation[] {
  if (seen.kind === 'response') return observationOf(context, bytes, seen);
  if (seen.kind !== 'request' && seen.kind !== 'notification') return [];
  const range = isSpoken(seen.method) ? memberRange(bytes, 'params') : undefined;
  if (range === undefined) return [];
  return [{ callId: '', tool: seen.method, text: context.decode(bytes, range.start, range.end) }];
}

function observationOf(
  context: Context,
  bytes: Uint8Array,
  { id, failed, result }: SeenResponse,
): readonly Observation[] {
  const open = context.requests.agent.get(id?.json ?? '');
  if (open === undefined || open.heldAs !== undefined) return [];
  if (!isObserved(context, open.method)) return [];
  // An error's words come from the server as well.
  const range = failed === 'rpc' ? memberRange(bytes, 'error') : result;
  if (range === undefined) return [];
  const { call, method } = open;
  const text = context.decode(bytes, range.start, range.end);
  const tool = call?.call.tool_name ?? method;
  return [{ callId: call?.ref.call_id ?? '', tool, text }];
}
