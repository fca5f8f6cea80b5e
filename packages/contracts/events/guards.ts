// Cheap checks of what changes from event to event. A violation is a bug of the producer: it throws.
import { check, isLonger, isPlain } from '../shape/check.ts';
import { FORMATS } from '../shape/formats.ts';
import { type Shape, STRING_LENGTH_MAX } from '../shape/shape.ts';

/** A producer tried to emit an event that breaks contract A. */
export class MalformedEvent extends Error {
  readonly code = 'SUB_EVENT_MALFORMED';

  constructor(field: string, expected: string) {
    super(`SUB_EVENT_MALFORMED: \`${field}\` must be ${expected}.`);
    this.name = 'MalformedEvent';
  }
}

const SHA256 = FORMATS.sha256.pattern;

/** A plain object: what inherits fields or has a toJSON is read by guards otherwise than written. */
export function mustBePlain(value: object, field: string): void {
  if (isPlain(value)) return;
  throw new MalformedEvent(field, 'a plain object, without a class and without toJSON');
}

export function mustText(value: string, field: string): void {
  if (typeof value === 'string' && value.length > 0 && !isLonger(value, STRING_LENGTH_MAX)) return;
  throw new MalformedEvent(field, `a string of 1 to ${STRING_LENGTH_MAX} characters`);
}

export function mustCount(value: number, field: string, min = 0): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw new MalformedEvent(field, `a whole number of at least ${min}`);
}

export function mustHash(value: string, field: string): void {
  if (typeof value === 'string' && SHA256.test(value)) return;
  throw new MalformedEvent(field, FORMATS.sha256.words);
}

export function mustBe(values: readonly string[], value: string, field: string): void {
  if (values.includes(value)) return;
  throw new MalformedEvent(field, `one of ${values.join(', ')}`);
}

export function mustFlag(value: boolean, field: string): void {
  if (typeof value === 'boolean') return;
  throw new MalformedEvent(field, 'true or false');
}

/** For parts that are rare or change little: the full check. */
function mustFit(shape: Shape, value: unknown, field: string): void {
  const first = check(shape, value)[0];
  if (first === undefined) return;
  throw new MalformedEvent([field, ...first.path].join('.'), first.expected);
}

/** The full check, and the value as it will be written, which has passed the same check. */
export function mustFitWritten<T extends object>(shape: Shape, value: T, field: string): T {
  mustBePlain(value, field);
  mustFit(shape, value, field);
  const written: unknown = JSON.parse(JSON.stringify(value));
  mustFit(shape, written, field);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `check` has just shown it.
  return written as T;
}

/** Counts the bytes of a text in UTF-8; the outside may have a faster one. */
export type Utf8Bytes = (text: string) => number;

const BEYOND_ASCII = /[^\x00-\x7f]/;

/** Whether a text takes at most that many bytes in UTF-8, counting only when it may not. */
export function fitsBytes(
  text: string,
  bytesMax: number,
  utf8Bytes: Utf8Bytes = countBytes,
): boolean {
  if (text.length * 3 <= bytesMax) return true;
  if (text.length > bytesMax) return false;
  return utf8Bytes(text) <= bytesMax;
}

function countBytes(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length;
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}
