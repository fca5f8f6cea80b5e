import type { JsonObject } from '@subluminal/contracts';
import type { Usage } from '../shared/form.ts';
import { countIn, jsonObject, numberIn, objectIn } from '../shared/read-members.ts';

/** `prompt_tokens` counts what came from a cache as well. */
export function readChatUsage(usage: JsonObject): Usage {
  const prompt = objectIn(usage, 'prompt_tokens_details');
  const completion = objectIn(usage, 'completion_tokens_details');
  const cacheReadTokens = countIn(prompt, 'cached_tokens');
  const cacheWriteTokens = countIn(prompt, 'cache_write_tokens');
  const inputTokens = countIn(usage, 'prompt_tokens') - cacheReadTokens - cacheWriteTokens;
  const reasoning = completion && numberIn(completion, 'reasoning_tokens');
  return {
    inputTokens: Math.max(0, inputTokens),
    outputTokens: countIn(usage, 'completion_tokens'),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteHourTokens: 0,
    isEstimated: false,
    ...(reasoning === undefined
      ? {}
      : { reasoningTokens: countIn(completion, 'reasoning_tokens') }),
  };
}

export function writeChatUsage(usage: Usage): JsonObject {
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const { reasoningTokens, cacheWriteTokens } = usage;
  return jsonObject({
    prompt_tokens: prompt,
    completion_tokens: usage.outputTokens,
    total_tokens: prompt + usage.outputTokens,
    prompt_tokens_details: jsonObject({
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: cacheWriteTokens === 0 ? undefined : cacheWriteTokens,
    }),
    completion_tokens_details:
      reasoningTokens === undefined ? undefined : { reasoning_tokens: reasoningTokens },
  });
}
