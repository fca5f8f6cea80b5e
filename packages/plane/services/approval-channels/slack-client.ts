// Slack's own client. In a file of its own, so that only who uses Slack loads it.
import { LogLevel, WebClient } from '@slack/web-api';

interface ClientConfig {
  readonly token: string;
  readonly timeoutMs: number;
  readonly apiUrl?: string | undefined;
}

/** It says nothing by itself: its log would hold texts. */
export function slackClient({ token, timeoutMs, apiUrl }: ClientConfig): WebClient {
  const quiet = () => undefined;
  return new WebClient(token, {
    ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
    timeout: timeoutMs,
    retryConfig: { retries: 3, minTimeout: 200, maxTimeout: 5_000, randomize: true },
    maxRequestConcurrency: 4,
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
