// What the hub must hear of what a server says before the agent does: it keeps track of where values
// came from.

import { memberRange } from '../json/member-ranges.ts';
import { isSpoken } from '../taint/spoken.ts';
import { itemsOf } from './batch-items.ts';
import { type Context, type Step, takesBatches } from './context.ts';
import type { Passage } from './guard.ts';
import { peek, TOOLS_CALL } from './peek/peek.ts';
import type { Seen, SeenResponse } from './peek/types.ts';
import type { Observation } from './types.ts';

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

export const UNHEARD: Extract<Passage, { kind: 'refused' }> = {
  kind: 'refused',
  reason_code: 'ANSWER_REFUSED',
  summary: 'The hub of this run, which keeps track of what answers hold, could not be told of it.',
};

/** Whether the answer to such a request holds what the hub must hear of. */
export function isObserved({ config }: Context, method: string): boolean {
  return config.observes === true && OBSERVED.has(method);
}

/** Whether the hub should have heard of this answer, and has not. */
export function isUnheard(context: Context, { from, heard }: Step, method: string): boolean {
  return from === 'server' && heard !== true && isObserved(context, method);
}

/** Whether the hub must hear of such a request or notification of the server. */
export function isSpeech({ config }: Context, { from }: Step, method: string): boolean {
  return config.observes === true && from === 'server' && isSpoken(method);
}

/** What this line of the server holds that the hub must hear of. Looking changes nothing. */
export function observationsIn(
  context: Context,
  bytes: Uint8Array,
  seen: Seen,
): readonly Observation[] {
  if (context.config.observes !== true) return [];
  if (seen.kind !== 'batch') return observationIn(context, bytes, seen);
  if (!takesBatches(context)) return [];
  const found = itemsOf(bytes, context.limits.batchItemsMax);
  if (!found.ok) return [];
  return found.items.flatMap(({ start, end }) => {
    const item = bytes.subarray(start, end);
    return observationIn(context, item, peek(item));
  });
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
  const open = context.asked.agent.get(id?.json ?? '');
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
