// Tokens: what was read from a cache or written to one is not in `input_tokens`.
import { definedFields, type JsonObject } from '@subluminal/contracts';
import type { Usage } from '../shared/form.ts';
import type { MemberReader } from '../shared/member-reader.ts';
import { jsonObject } from '../shared/read-members.ts';

/** Takes the tokens out of a message, or of an event; undefined when it counts none. */
export function readAnthropicUsage(members: MemberReader): Usage | undefined {
  const usage = members.inner('usage');
  const input = usage.count('input_tokens');
  const output = usage.count('output_tokens');
  const cacheRead = usage.count('cache_read_input_tokens');
  const cacheWrite = usage.count('cache_creation_input_tokens');
  const kept = usage.inner('cache_creation');
  const hour = kept.count('ephemeral_1h_input_tokens') ?? 0;
  const minutes = kept.count('ephemeral_5m_input_tokens') ?? 0;
  const thinking = usage.inner('output_tokens_details').count('thinking_tokens');
  const cacheWriteTokens = cacheWrite ?? hour + minutes;
  if ((input ?? output ?? cacheRead ?? cacheWriteTokens) === 0) return undefined;
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    cacheReadTokens: cacheRead ?? 0,
    cacheWriteTokens,
    cacheWriteHourTokens: Math.min(hour, cacheWriteTokens),
    isEstimated: false,
    ...definedFields({ reasoningTokens: thinking }),
  };
}

/** `left` is what was left when the tokens were read: there, a count of nothing may be null. */
export function writeAnthropicUsage(usage: Usage, left: JsonObject = {}): JsonObject {
  const { cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, reasoningTokens } = usage;
  return jsonObject({
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    ...left,
    ...(cacheWriteTokens === 0 ? {} : { cache_creation_input_tokens: cacheWriteTokens }),
    ...(cacheReadTokens === 0 ? {} : { cache_read_input_tokens: cacheReadTokens }),
    cache_creation:
      cacheWriteTokens === 0
        ? undefined
        : {
            ephemeral_5m_input_tokens: cacheWriteTokens - cacheWriteHourTokens,
            ephemeral_1h_input_tokens: cacheWriteHourTokens,
          },
    output_tokens: usage.outputTokens,
    output_tokens_details:
      reasoningTokens === undefined ? undefined : { thinking_tokens: reasoningTokens },
  });
}
