// What asking in Slack and answering to it share.
import type { WebClient } from '@slack/web-api';
import { isObject } from '@subluminal/contracts';

export interface SlackConfig {
  readonly token: string;
  readonly signingSecret: string;
  /** The id of the channel. */
  readonly channel: string;
  /** Ids of those who may decide. */
  readonly users: readonly string[];
  /** How often reactions are looked at. */
  readonly pollMs: number;
  readonly timeoutMs: number;
  /** Another address than Slack's. */
  readonly apiUrl?: string | undefined;
}

export interface PostedMessage {
  readonly channel: string;
  readonly ts: string;
  readonly isWhole: boolean;
}

export const NOT_ON_LIST = 'You are not on the list of those who may decide about this.';

/** Slack's client is loaded with the first message. */
export function lazyClient(config: SlackConfig): () => Promise<WebClient> {
  let client: WebClient | undefined;
  return async () => {
    const { slackClient } = await import('./web-client.ts');
    client ??= slackClient(config);
    return client;
  };
}

export function readPosted(value: unknown): PostedMessage | undefined {
  if (!isObject(value)) return undefined;
  const { channel, ts, isWhole } = value;
  if (typeof channel !== 'string' || typeof ts !== 'string') return undefined;
  return { channel, ts, isWhole: isWhole === true };
}

/** The code that Slack gives; never its request, which holds the token. */
export function slackErrorText(cause: unknown): string {
  if (isObject(cause) && isObject(cause['data']) && typeof cause['data']['error'] === 'string') {
    return `it refused (${cause['data']['error'].slice(0, 80)})`;
  }
  return isObject(cause) && typeof cause['code'] === 'string'
    ? `it cannot be used (${cause['code'].slice(0, 80)})`
    : 'it cannot be used';
}
