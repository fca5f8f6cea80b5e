import { hash, timingSafeEqual } from 'node:crypto';

/** Says whether a text is the secret, in a time that tells nothing of it, not even its length. */
export function secretMatcher(secret: string): (given: string) => boolean {
  const expected = digest(secret);
  return (given) => timingSafeEqual(digest(given), expected);
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
