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

/** What an upstream counted. One that was asked and counted nothing: what was seen of the answer is estimated. */
export function usedTokens(
  { body }: Pick<TurnRequest, 'body'>,
  { observed, error }: AttemptOutcome,
): Usage | undefined {
  if (observed.usage !== undefined) return observed.usage;
  // A client that goes away does not take back what was asked for.
  const isCharged = observed.hasContent || error?.class === 'client_gone';
  if (!isCharged) return undefined;
  return {
    inputTokens: estimateTokens(body.length),
    outputTokens: estimateTokens(observed.contentLength),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWriteHourTokens: 0,
    isEstimated: true,
  };
}
