import type { JsonObject } from '@subluminal/contracts';
import type { Usage } from '../shared/form.ts';
import { countIn, numberIn, objectIn } from '../shared/read-members.ts';

/** `input_tokens` counts what came from a cache as well. */
export function readResponsesUsage(usage: JsonObject): Usage {
  const input = objectIn(usage, 'input_tokens_details');
  const output = objectIn(usage, 'output_tokens_details');
  const cacheReadTokens = countIn(input, 'cached_tokens');
  const cacheWriteTokens = countIn(input, 'cache_write_tokens');
  const inputTokens = countIn(usage, 'input_tokens') - cacheReadTokens - cacheWriteTokens;
  const reasoning = output && numberIn(output, 'reasoning_tokens');
  return {
    inputTokens: Math.max(0, inputTokens),
    outputTokens: countIn(usage, 'output_tokens'),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteHourTokens: 0,
    isEstimated: false,
    ...(reasoning === undefined ? {} : { reasoningTokens: countIn(output, 'reasoning_tokens') }),
  };
}

export function writeResponsesUsage(usage: Usage): JsonObject {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: input + usage.outputTokens,
  };
}
