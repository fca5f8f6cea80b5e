import type { JsonObject } from '@subluminal/contracts';
import type { Usage } from './form.ts';
import { countIn, numberIn, objectIn } from './read-members.ts';

/** Tokens on the OpenAI wires. What came from a cache is counted as input there, too. */
export function readOpenAiUsage(
  usage: JsonObject,
  names: { readonly input: string; readonly output: string },
): Usage {
  const input = objectIn(usage, `${names.input}_details`);
  const output = objectIn(usage, `${names.output}_details`);
  const cacheReadTokens = countIn(input, 'cached_tokens');
  const cacheWriteTokens = countIn(input, 'cache_write_tokens');
  const inputTokens = countIn(usage, names.input) - cacheReadTokens - cacheWriteTokens;
  const reasoning = output && numberIn(output, 'reasoning_tokens');
  return {
    inputTokens: Math.max(0, inputTokens),
    outputTokens: countIn(usage, names.output),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteHourTokens: 0,
    isEstimated: false,
    ...(reasoning === undefined ? {} : { reasoningTokens: countIn(output, 'reasoning_tokens') }),
  };
}
