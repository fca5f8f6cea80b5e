// Requests that are no tool call and that name something: two readers must not see two of them.
import { canonicalize } from '../json/index.ts';
import { memberRange } from '../json/member-ranges.ts';
import { INVALID_PARAMS } from './answer-lines.ts';
import { type Context, report, type Step } from './context.ts';
import type { SeenNotification, SeenRequest } from './peek/types.ts';
import { reject } from './reject-message.ts';

const NAMING_METHOD = /^(?:prompts\/get|completion\/complete|resources\/.*)$/;
const DETAIL_LENGTH_MAX = 200;

/** What is ambiguous in the params of such a request, in words. */
function ambiguityIn(context: Context, { bytes }: Step, method: string): string | undefined {
  if (!NAMING_METHOD.test(method)) return undefined;
  const range = memberRange(bytes, 'params');
  if (range === undefined) return undefined;
  const text = context.decode(bytes, range.start, range.end);
  const read = canonicalize(text, { foldsKeys: true });
  if (read.ok || read.code !== 'SUB_CANON_DUPLICATE_KEY') return undefined;
  return context.redact(`Invalid params: ${read.message}.`).slice(0, DETAIL_LENGTH_MAX);
}

/** Whether it means one thing to every reader; it is refused where it does not. */
export function isUnambiguous(
  context: Context,
  step: Step,
  seen: SeenRequest | SeenNotification,
): boolean {
  const { method } = seen;
  const detail = ambiguityIn(context, step, method);
  if (detail === undefined) return true;
  const told = { reason: 'duplicate_key', detail } as const;
  if (!context.enforcing) {
    report(step, { what: 'WOULD_REJECT', ...told });
    return true;
  }
  const id = seen.kind === 'request' ? seen.id : undefined;
  reject(context, step, { ...told, id, asks: true, code: INVALID_PARAMS, method });
  return false;
}
