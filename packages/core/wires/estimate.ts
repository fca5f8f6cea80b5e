// How many tokens a text may be, where no provider counts them. Whoever shows such a number marks it as estimated.
import type { PartText } from './part-texts.ts';

/** English and code have about four characters to a token. */
const CHARACTERS_PER_TOKEN = 4;
/** Beyond ASCII a character is more: about one token for three bytes of Chinese, Japanese or Korean. */
const TOKENS_PER_EXTRA_BYTE = 3 / 8;
/** What frames a message, a block of the system prompt or the definition of a tool. */
const TOKENS_PER_PART = 4;

/** The tokens of a text by its length and by its bytes in UTF-8. */
export function estimateTokens(length: number, bytes = length): number {
  const extraBytes = Math.max(0, bytes - length);
  return Math.ceil(length / CHARACTERS_PER_TOKEN + extraBytes * TOKENS_PER_EXTRA_BYTE);
}

/** The tokens of a part of a request by its texts; images and other data count nothing. */
export function estimatePartTokens(texts: readonly PartText[]): number {
  const length = texts.reduce((sum, { range }) => sum + range.end - range.start - 2, 0);
  return estimateTokens(length) + TOKENS_PER_PART;
}
