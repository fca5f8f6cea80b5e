// What the hub must be asked before a message goes in. Looking changes nothing.
import { itemsOf } from './batch-items.ts';
import { lookAt } from './calls.ts';
import { type Context, type Step, takesBatches } from './context.ts';
import { asksHub, limitsFor, placeOf } from './hub-decisions.ts';
import { peek, TOOLS_CALL } from './peek/peek.ts';
import type { Seen } from './peek/types.ts';
import type { Question } from './types.ts';

export function questionsIn(context: Context, step: Step, seen: Seen): readonly Question[] {
  if (seen.kind === 'batch') return questionsOfBatch(context, step);
  if (seen.kind !== 'request' && seen.kind !== 'notification') return [];
  if (seen.method !== TOOLS_CALL) return [];
  if (context.config.hub !== true) return [];
  const { call, ref, fault, envelope } = lookAt(context, step, seen);
  if (fault !== undefined || !asksHub(context, call)) return [];
  const limits = limitsFor(context, step, call);
  return [{ at: placeOf(step), ref, call, beside: envelope.rest, limits }];
}

function questionsOfBatch(context: Context, step: Step): readonly Question[] {
  if (!takesBatches(context)) return [];
  const found = itemsOf(step.bytes, context.limits.batchItemsMax);
  if (!found.ok) return [];
  return found.items.flatMap(({ start, end }) => {
    const bytes = step.bytes.subarray(start, end);
    const seen = peek(bytes);
    // A batch in a batch is refused when it goes in.
    return seen.kind === 'batch' ? [] : questionsIn(context, { ...step, bytes }, seen);
  });
}
