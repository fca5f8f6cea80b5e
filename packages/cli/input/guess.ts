// What a person may have meant by a word that is none of those allowed.
import { nearest } from '@subluminal/core/policy';

const SHORTENED_MIN = 2;

/** A near word, else one that shortens or lengthens it: `production` for `prod`. */
export function guessed(word: string, known: readonly string[]): string | undefined {
  const near = nearest(word, known);
  if (near !== undefined) return near;
  const lower = word.toLowerCase();
  if (lower.length < SHORTENED_MIN) return undefined;
  return known.find((one) => one.startsWith(lower) || lower.startsWith(one));
}
