// An app of Slack. Answers are sent without markup; questions are plain text, which has neither links
// nor mentions.
import type { KnownBlock, WebClient } from '@slack/web-api';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { FINE, signedCallback } from '@subluminal/plane/approval-channels/signature';
import { BUTTON_LABELS, buttonData, settledText } from '../shared/buttons.ts';
import type { ChannelParts } from '../shared/channel-kind.ts';
import type {
  ButtonPress,
  Channel,
  ChannelEvents,
  ChatAddress,
  ConfirmationButtons,
  FailedSend,
  OutboundMessage,
  SendResult,
  SettledQuestion,
  WebhookAnswer,
  WebhookRequest,
} from '../shared/types.ts';
import { readSlackBody, slackEscaped, slackPlain } from './read-event.ts';

interface SlackOptions extends ChannelParts {
  readonly apiUrl: string | undefined;
}

interface LoadedClient {
  readonly client: WebClient;
  readonly failedCall: (cause: unknown) => FailedSend;
}

const SCHEME = {
  version: 'v0',
  headers: { timestamp: 'x-slack-request-timestamp', signature: 'x-slack-signature' },
  secretLengthMin: 16,
  bytesMax: 1_048_576,
};
const QUIET = { unfurl_links: false, unfurl_media: false, parse: 'none', mrkdwn: false } as const;

export class SlackChatChannel implements Channel {
  readonly name = 'slack';
  /** A block of plain text holds 3,000 characters. */
  readonly limits = { textLengthMax: 3_900, buttonTextLengthMax: 2_900 };
  readonly #options: SlackOptions;
  readonly #answer: ReturnType<typeof signedCallback>;
  #client: Promise<LoadedClient> | undefined;
  #events: ChannelEvents | undefined;

  constructor(options: SlackOptions) {
    this.#options = options;
    this.#answer = signedCallback(SCHEME, {
      secret: options.secrets['signingSecret'] ?? '',
      nowMs: options.nowMs,
      read: readSlackBody,
      act: async (event) => {
        if (event.kind === 'challenge')
          return { status: 200, body: { challenge: event.challenge } };
        if (event.kind === 'message') await this.#events?.message(event.message);
        else await this.#press(event.press);
        return FINE;
      },
      words: {
        malformed: 'the body is not readable',
        replayed: 'this was sent before',
      },
    });
  }

  escape(text: string): string {
    return slackEscaped(text);
  }

  async start(events: ChannelEvents): Promise<Failure | undefined> {
    this.#events = events;
    const known = await this.#call(async (client) => {
      await client.auth.test();
      return { kind: 'sent', ref: '' };
    });
    if (known.kind === 'later') events.trouble(known.why);
    return known.kind === 'refused' ? tableFailure('SUB_STEWARD_CHANNEL', known.why) : undefined;
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  async send({ conversation }: ChatAddress, outbound: OutboundMessage): Promise<SendResult> {
    const { text, confirmation } = outbound;
    const blocks = confirmation && [plainBlock(text), buttonBlock(confirmation)];
    return this.#call(async (client) => {
      const message = { channel: conversation, text, ...(blocks && { blocks }), ...QUIET };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- Slack's, not a window's.
      const { ts } = await client.chat.postMessage(message);
      return { kind: 'sent', ref: ts ?? '' };
    });
  }

  async settle({ conversation }: ChatAddress, over: SettledQuestion): Promise<SendResult> {
    const text = settledText(over, this.limits);
    return this.#call(async (client) => {
      const blocks = [plainBlock(text)];
      await client.chat.update({ channel: conversation, ts: over.ref, text, blocks });
      return { kind: 'sent', ref: over.ref };
    });
  }

  handle({ headers, rawBody }: WebhookRequest): Promise<WebhookAnswer> {
    return this.#answer({ headers, rawBody });
  }

  /** The text is seen by the one who pressed, and by nobody else. */
  async #press(press: ButtonPress): Promise<void> {
    const text = slackEscaped((await this.#events?.press(press)) ?? '');
    if (text === '') return;
    const told = await this.#call(async (client) => {
      await client.chat.postEphemeral({ channel: press.conversation, user: press.sender, text });
      return { kind: 'sent', ref: '' };
    });
    if (told.kind !== 'sent') this.#events?.trouble(told.why);
  }

  async #call(work: (client: WebClient) => Promise<SendResult>): Promise<SendResult> {
    const { secrets, apiUrl, agent } = this.#options;
    this.#client ??= import('./chat-client.ts').then(({ chatClient, failedCall }) => ({
      client: chatClient({ token: secrets['token'] ?? '', slackApiUrl: apiUrl, agent }),
      failedCall,
    }));
    const { client, failedCall } = await this.#client;
    try {
      return await work(client);
    } catch (cause) {
      return failedCall(cause);
    }
  }
}

/** Plain text is shown as it is, escapes included. */
function plainBlock(text: string): KnownBlock {
  const plain = { type: 'plain_text' as const, text: slackPlain(text), emoji: false };
  return { type: 'section', text: plain };
}

function buttonBlock({ code, verdicts }: ConfirmationButtons): KnownBlock {
  const elements = verdicts.map((verdict) => ({
    type: 'button' as const,
    text: { type: 'plain_text' as const, text: BUTTON_LABELS[verdict] },
    action_id: `steward_${verdict}`,
    value: buttonData(verdict, code),
    ...(verdict === 'approve' && { style: 'primary' as const }),
    ...(verdict === 'reject' && { style: 'danger' as const }),
  }));
  return { type: 'actions', elements };
}
