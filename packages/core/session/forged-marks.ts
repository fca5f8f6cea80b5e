// What Subluminal says in an answer of its own stands under `subluminal`, in `_meta` of a result and in
// `data` of an error. A server that writes there would speak in our name.
import { isObject } from '@subluminal/contracts';
import { memberRange } from '../json/member-ranges.ts';
import { type Context, report, type Step } from './context.ts';
import { rewritten, spliced } from './rewrite.ts';

const MARK = 'subluminal';
/** Where it stands: the part of a message, and the member in it. */
const HOLDERS = [
  ['result', '_meta'],
  ['error', 'data'],
] as const;

/** The answer of a server without what only we may say; undefined when it cannot be taken out. */
export function withoutForgedMark(context: Context, step: Step): Uint8Array | undefined {
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
