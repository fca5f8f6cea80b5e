import type { JsonObject } from '@subluminal/contracts';
import type { Usage } from '../shared/form.ts';
import { readOpenAiUsage } from '../shared/openai-usage.ts';
import { jsonObject } from '../shared/read-members.ts';

const NAMES = { input: 'prompt_tokens', output: 'completion_tokens' };

export function readChatUsage(usage: JsonObject): Usage {
  return readOpenAiUsage(usage, NAMES);
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
