// Whether a message may pass that is too large to be seen, as soon as its head tells what it is.
import { type Context, other, type Step } from './context.ts';
import type { Passing } from './guard.ts';
import { isSpeech, isUnheard, UNHEARD } from './observe.ts';
import { isWatched, type Refused, refusalOf, wayFrom } from './other-messages.ts';
import type { OutlineSoFar } from './peek/outline.ts';
import type { Pending } from './pending.ts';

interface Could {
  readonly kind: Passing['kind'];
  readonly method: string;
}

/** The method of what nobody knows. */
const UNKNOWN = '';

/** Why a message must not pass; whatever its head does not rule out counts. */
export function refusedAtHead(
  context: Context,
  step: Step,
  soFar: OutlineSoFar,
): Refused | undefined {
  if (!isWatched(context)) return undefined;
  for (const could of possible(context, step, soFar)) {
    const refused = refusedAs(context, step, could);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** What the message may turn out to be. */
function possible(context: Context, step: Step, soFar: OutlineSoFar): readonly Could[] {
  const { batch, faulty, answers, method, id } = soFar;
  const isUnclear = batch || faulty || (!answers && method === undefined);
  if (answers && !isUnclear) return possibleAnswers(context, step, soFar);
  const asked = [{ kind: 'request', method: method ?? UNKNOWN } as const];
  // Whether it has an id may come last.
  const told = [{ kind: 'notification', method: method ?? UNKNOWN } as const];
  if (!isUnclear) return id === undefined ? [...asked, ...told] : asked;
  return [...possibleAnswers(context, step, soFar), ...asked, ...told];
}

function possibleAnswers(context: Context, step: Step, { id }: OutlineSoFar): readonly Could[] {
  const asked = context.asked[other(step.from)];
  // Most servers write the id last: it may answer any request that has no answer yet.
  const methods = id === undefined ? [...asked.methods()] : methodOf(asked.get(id.json));
  const known = methods.length === 0 ? [UNKNOWN] : methods;
  return known.map((method) => ({ kind: 'answer', method }));
}

function methodOf(open: Pending | undefined): readonly string[] {
  return open === undefined || open.heldAs !== undefined ? [] : [open.method];
}

function refusedAs(context: Context, step: Step, { kind, method }: Could): Refused | undefined {
  const { guard, enforcing } = context;
  const isMissed =
    kind === 'answer' ? isUnheard(context, step, method) : isSpeech(context, step, method);
  if (enforcing && isMissed) return UNHEARD;
  return guard && refusalOf(guard.unseen(wayFrom(step.from), kind, method));
}
