// Slack's own client. In a file of its own, so that it is loaded only where Slack is used.
import type { Agent } from 'node:https';
import { ErrorCode, LogLevel, WebClient } from '@slack/web-api';
import { isObject } from '@subluminal/contracts';
import type { FailedSend } from '../shared/types.ts';

const TIMEOUT_MS = 20_000;
/** Errors of Slack that pass. */
const PASSING = new Set([
  'ratelimited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);

interface ChatClientOptions {
  readonly token: string;
  readonly slackApiUrl: string | undefined;
  readonly agent: Agent;
}

/** Without a log, which would hold texts of messages; whoever sends also tries again. */
export function chatClient({ token, slackApiUrl, agent }: ChatClientOptions): WebClient {
  const quiet = () => undefined;
  return new WebClient(token, {
    ...(slackApiUrl !== undefined && { slackApiUrl }),
    ...(!slackApiUrl?.startsWith('http:') && { agent }),
    timeout: TIMEOUT_MS,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: quiet,
      setLevel: quiet,
      setName: quiet,
      getLevel: () => LogLevel.ERROR,
    },
  });
}

/** Nothing of an error is shown but the code that Slack gives: its request holds the token. */
export function failedCall(cause: unknown): FailedSend {
  const code = isObject(cause) ? cause['code'] : undefined;
  if (isObject(cause) && code === ErrorCode.RateLimitedError) {
    const afterMs = Number(cause['retryAfter']) * 1_000;
    return { kind: 'later', why: 'Slack limits the rate.', ...(afterMs > 0 && { afterMs }) };
  }
  if (isObject(cause) && code === ErrorCode.PlatformError && isObject(cause['data'])) {
    const error = String(cause['data']['error'])
      .replaceAll(/[^a-z_]/g, '')
      .slice(0, 60);
    const why = `Slack refuses (${error}).`;
    return PASSING.has(error) ? { kind: 'later', why } : { kind: 'refused', why };
  }
  if (isObject(cause) && code === ErrorCode.HTTPError && Number(cause['statusCode']) < 500) {
    return { kind: 'refused', why: `Slack refuses (${Number(cause['statusCode'])}).` };
  }
  return { kind: 'later', why: 'Slack cannot be reached.' };
}
