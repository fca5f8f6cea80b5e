// Whether a message may pass that is too large to be seen, as soon as its head tells what it is.
import { type Context, other, type Step } from './context.ts';
import { isUnheard, UNHEARD } from './observe.ts';
import { isWatched, type Refused, refusalOf, wayFrom } from './passing.ts';
import type { OutlineSoFar } from './peek/outline.ts';

type Kind = 'request' | 'answer';

/** Why a message must not pass; undefined also while its head does not tell: then its end does. */
function refusedAtHead(context: Context, step: Step, soFar: OutlineSoFar): Refused | undefined {
  if (!isWatched(context)) return undefined;
  const { batch, faulty, answers, method } = soFar;
  if (batch || faulty) return undefined;
  if (answers) return refusedAnswer(context, step, soFar);
  // Whether it has an id may come last; what has none is asked about again at its end.
  return method === undefined ? undefined : refusedAs(context, step, { kind: 'request', method });
}

function refusedAnswer(context: Context, step: Step, { id }: OutlineSoFar): Refused | undefined {
  const asked = context.asked[other(step.from)];
  if (id !== undefined) {
    const open = asked.get(id.json);
    if (open === undefined || open.heldAs !== undefined) return undefined;
    return refusedAs(context, step, { kind: 'answer', method: open.method });
  }
  // Most servers write the id last. Where no open request may have such an answer, none has it.
  const methods = new Set<string>();
  for (const [, { method, heldAs }] of asked.entries())
    if (heldAs === undefined) methods.add(method);
  let refused: Refused | undefined;
  for (const method of methods) {
    refused = refusedAs(context, step, { kind: 'answer', method });
    if (refused === undefined) return undefined;
  }
  return refused;
}

function refusedAs(
  context: Context,
  step: Step,
  { kind, method }: { readonly kind: Kind; readonly method: string },
): Refused | undefined {
  const { guard, enforcing } = context;
  if (kind === 'answer' && enforcing && isUnheard(context, step, method)) return UNHEARD;
  return guard && refusalOf(guard.unseen(wayFrom(step.from), kind, method));
}

export { refusedAtHead };
