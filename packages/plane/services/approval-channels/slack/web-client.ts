// Slack's own client. In a file of its own, so that it is loaded only where Slack is used: a bundler
// cannot find the names of its exports behind an `import()`.
import { LogLevel, WebClient } from '@slack/web-api';
import type { SlackConfig } from './client.ts';

/** Without a log, which would hold texts of messages. */
export function slackClient({ token, timeoutMs, apiUrl }: SlackConfig): WebClient {
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
