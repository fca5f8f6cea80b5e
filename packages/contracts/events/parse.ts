// From a line of the stream to an event, for consumers.
import { check, isObject, type Mismatch } from '../shape/check.ts';
import { EVENT, type Event } from './types.ts';

/** Room for 1 MiB of suggested arguments, however they grow in writing; longer is not read. */
export const EVENT_LINE_LENGTH_MAX = 8_388_608;

export type ParsedEvent =
  | { readonly ok: true; readonly event: Event }
  /** A type of a later version: not an error, skip it. */
  | { readonly ok: false; readonly kind: 'unknown_type'; readonly type: string }
  | {
      readonly ok: false;
      readonly kind: 'malformed';
      readonly code: 'SUB_EVENT_MALFORMED' | 'SUB_EVENT_TOO_LONG';
      readonly mismatches: readonly Mismatch[];
    };

/** Reads a value as an event. Unknown fields are kept. */
export function parseEvent(value: unknown): ParsedEvent {
  const type = isObject(value) ? value['type'] : undefined;
  if (typeof type === 'string' && !Object.hasOwn(EVENT.cases, type)) {
    return { ok: false, kind: 'unknown_type', type };
  }
  const mismatches = check(EVENT, value);
  if (mismatches.length > 0) {
    return { ok: false, kind: 'malformed', code: 'SUB_EVENT_MALFORMED', mismatches };
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `check` has just shown it.
  return { ok: true, event: value as Event };
}

/** Reads one line of the stream, with or without its newline. */
export function parseEventLine(line: string): ParsedEvent {
  if (line.length > EVENT_LINE_LENGTH_MAX) {
    const expected = `a line of at most ${EVENT_LINE_LENGTH_MAX} characters`;
    const got = `${line.length} characters`;
    return malformedLine('SUB_EVENT_TOO_LONG', { expected, got });
  }
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    const expected = 'one JSON object on one line';
    return malformedLine('SUB_EVENT_MALFORMED', { expected, got: 'text that is not JSON' });
  }
  return parseEvent(value);
}

function malformedLine(
  code: 'SUB_EVENT_MALFORMED' | 'SUB_EVENT_TOO_LONG',
  words: { readonly expected: string; readonly got: string },
): ParsedEvent {
  const mismatch: Mismatch = { path: [], problem: 'value', choices: [], ...words };
  return { ok: false, kind: 'malformed', code, mismatches: [mismatch] };
}
