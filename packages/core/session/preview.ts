// What an event shows of arguments and results: redacted, then cut.
import type { Context } from './context.ts';
import type { Range } from './peek/types.ts';

/** A secret at the edge of what is cut would be cut too, and no longer recognised. */
const MARGIN = 4_096;

export interface Preview {
  readonly truncated: boolean;
  readonly text?: string;
}

export const NOT_INSPECTED: Preview = { truncated: true };

/** A unit of text takes at most so many bytes. */
const UNIT_BYTES_MAX = 3;

/** A preview of a text that is already there. */
export function previewOf(context: Context, text: string): Preview {
  const bytesMax = context.limits.previewBytesMax;
  if (bytesMax === 0) return NOT_INSPECTED;
  const cut = text.length > bytesMax + MARGIN;
  return shown(context, { text: cut ? text.slice(0, bytesMax + MARGIN) : text, cut });
}

/** A preview of a part of a message; only what may be shown is decoded. */
export function previewOfBytes(
  context: Context,
  bytes: Uint8Array,
  { start, end }: Range,
): Preview {
  const bytesMax = context.limits.previewBytesMax;
  if (bytesMax === 0) return NOT_INSPECTED;
  const until = Math.min(end, start + bytesMax + MARGIN);
  const cut = until < end;
  const text = context.decode(bytes, start, until);
  // Where characters take several bytes, there is more to show than that.
  if (cut && text.length < until - start)
    return previewOf(context, longText(context, bytes, { start, end }));
  const isClean = context.config.isClean?.(bytes, start, until) === true;
  return shown(context, { text, cut, isClean });
}

/** At least one unit more than is shown, if there is one: so `previewOf` sees that it is cut. */
function longText(context: Context, bytes: Uint8Array, { start, end }: Range): string {
  const unitsMax = context.limits.previewBytesMax + MARGIN;
  let until = Math.min(end, start + (unitsMax + 1) * UNIT_BYTES_MAX);
  // Never through the middle of a character.
  while (until < end && until > start && ((bytes[until] ?? 0) & 0xc0) === 0x80) until--;
  return context.decode(bytes, start, until);
}

interface Found {
  readonly text: string;
  /** There is more of it. */
  readonly cut: boolean;
  /** There is nothing to redact. */
  readonly isClean?: boolean;
}

function shown(context: Context, { text, cut, isClean = false }: Found): Preview {
  const redacted = isClean ? text : context.redact(text, { truncated: cut });
  const safe = cut ? redacted.slice(0, Math.max(0, redacted.length - MARGIN)) : redacted;
  const whole = fitted(safe, context.limits.previewBytesMax, context.config.utf8Bytes);
  return { truncated: cut || whole.length < safe.length, text: whole };
}

/** As much of a text as takes that many bytes in UTF-8. */
export function fitted(
  text: string,
  bytesMax: number,
  utf8Bytes?: (text: string) => number,
): string {
  if (text.length * 3 <= bytesMax) return text;
  if (text.length <= bytesMax && utf8Bytes !== undefined && utf8Bytes(text) <= bytesMax)
    return text;
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > bytesMax) return text.slice(0, at);
    at += point < 0x10000 ? 1 : 2;
  }
  return text;
}
