import type { TokenKind } from '../types.ts';

const KEY_LENGTH_MAX = 256;

/** What a value is remembered under. Both sides are cut at the same place. */
export function keyOf(kind: TokenKind, value: string): string {
  return `${kind}:${value.toLowerCase().slice(0, KEY_LENGTH_MAX)}`;
}
