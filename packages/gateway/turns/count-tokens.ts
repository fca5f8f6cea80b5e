// The tokens of a request where no upstream counts them.
import { isFailure } from '@subluminal/contracts';
import {
  estimatePartTokens,
  estimateTokens,
  partTexts,
  type RequestOutline,
} from '@subluminal/core/wires';

export const ESTIMATED_HEADERS = { 'x-aicg-estimated': 'true' };

/** The answer of `count_tokens`, marked as an estimate. */
export function estimatedCount(body: Uint8Array, { parts }: RequestOutline): string {
  let tokens = 0;
  for (const part of parts) {
    if (part.kind === 'other') continue;
    const texts = partTexts(body, part);
    const { start, end } = part.range;
    tokens += isFailure(texts) ? estimateTokens(end - start) : estimatePartTokens(texts);
  }
  return JSON.stringify({ input_tokens: tokens, estimated: true });
}
