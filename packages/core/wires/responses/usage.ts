import type { JsonObject } from '@subluminal/contracts';
import type { Usage } from '../shared/form.ts';
import { readOpenAiUsage } from '../shared/openai-usage.ts';

const NAMES = { input: 'input_tokens', output: 'output_tokens' };

export function readResponsesUsage(usage: JsonObject): Usage {
  return readOpenAiUsage(usage, NAMES);
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
