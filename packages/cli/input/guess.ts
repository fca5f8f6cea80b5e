// Guesses which allowed word a person meant.
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

/** The fix for an unknown word: the guess as a question, else `otherwise`. */
export function didYouMean(word: string, known: readonly string[], otherwise: string): string {
  const guess = guessed(word, known);
  return guess === undefined ? otherwise : `Did you mean ${guess}?`;
}

export { nearest };
