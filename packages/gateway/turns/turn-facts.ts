// What can be said of a turn on any wire: its session, and what it used.
import { visible } from '@subluminal/core/visible';
import { estimateTokens, type Usage } from '@subluminal/core/wires';
import type { AttemptOutcome, TurnRequest } from './types.ts';

const SESSION_LENGTH_MAX = 256;

/** What the clients call the session, each in its own header. */
export function clientSession({ headers }: Pick<TurnRequest, 'headers'>): string | undefined {
  const given =
    headers['x-claude-code-session-id'] ?? headers['session-id'] ?? headers['session_id'];
  const text = typeof given === 'string' ? visible(given, SESSION_LENGTH_MAX) : '';
  return text === '' ? undefined : text;
}

/** What is recorded of a request; never what it says. */
export function requestFacts({ outline }: Pick<TurnRequest, 'outline'>) {
  const { isStream, maxTokens, toolNames, parts } = outline;
  return {
    stream: isStream,
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    tools: toolNames.length,
    messages: parts.filter(({ kind }) => kind === 'message').length,
  };
}

/** More than any model reads or writes in one turn: an upstream that counts more counts wrong. */
const TOKENS_MAX = 100_000_000;

/**
 * What an upstream counted. What it did not count to the end, because the stream broke off or the client went, is at
 * least what was seen of the answer.
 */
export function usedTokens(
  { body }: Pick<TurnRequest, 'body'>,
  { observed, error }: AttemptOutcome,
): Usage | undefined {
  const { usage, stop } = observed;
  const outputTokens = estimateTokens(observed.contentLength);
  if (usage !== undefined && isPossible(usage)) {
    const isCounted = stop !== undefined || usage.outputTokens >= outputTokens;
    return isCounted ? usage : { ...usage, outputTokens, isEstimated: true };
  }
  // A client that goes away does not take back what was asked for.
  const isCharged = usage !== undefined || observed.hasContent || error?.class === 'client_gone';
  if (!isCharged) return undefined;
  return {
    inputTokens: estimateTokens(body.length),
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWriteHourTokens: 0,
    isEstimated: true,
  };
}

function isPossible(usage: Usage): boolean {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return Math.max(inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens) <= TOKENS_MAX;
}
