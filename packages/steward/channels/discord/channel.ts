// A bot of Discord. Its texts are always markdown, so everything that begins markup is escaped, and
// nobody is ever mentioned.
import type { Failure, JsonObject } from '@subluminal/contracts';
import { tableFailure } from '@subluminal/contracts';
import { BUTTON_LABELS, buttonData, settledText } from '../shared/buttons.ts';
import { type ApiAnswer, callApi, textField } from '../shared/call-api.ts';
import type { ChannelParts } from '../shared/channel-kind.ts';
import { type ConnectionEnd, ConnectionLoop } from '../shared/connection-loop.ts';
import type {
  Channel,
  ChannelEvents,
  ChatAddress,
  ConfirmationButtons,
  OutboundMessage,
  SendResult,
  SettledQuestion,
} from '../shared/types.ts';
import { GatewayConnection } from './gateway-connection.ts';
import { readDispatch } from './read-dispatch.ts';

interface DiscordOptions extends ChannelParts {
  readonly apiUrl: string;
}

const USER_AGENT = 'DiscordBot (https://github.com/subluminal, 1)';
const MARKUP = /[\\*_~`|>#\-+[\]()<@:]/g;
const STYLES = { approve: 3, reject: 4, details: 2 } as const;
const ROW = 1;
const BUTTON = 2;
/** No previews of links. */
const SUPPRESS_EMBEDS = 4;
/** Only the one who pressed sees it. */
const EPHEMERAL = 64;
const CHANNEL_MESSAGE = 4;
const GATEWAY_HOST = /(?:^|\.)discord\.gg$/;

export class DiscordChannel implements Channel {
  readonly name = 'discord';
  readonly limits = { textLengthMax: 2_000 };
  readonly #options: DiscordOptions;
  #events: ChannelEvents | undefined;
  #loop: ConnectionLoop | undefined;

  constructor(options: DiscordOptions) {
    this.#options = options;
  }

  escape(text: string): string {
    return text.replace(MARKUP, '\\$&');
  }

  async start(events: ChannelEvents): Promise<Failure | undefined> {
    this.#events = events;
    const known = await this.#gatewayUrl();
    if (typeof known !== 'string' && known.kind === 'refused') {
      return tableFailure('SUB_STEWARD_CHANNEL', `Discord: ${known.why}`);
    }
    const connection = new GatewayConnection({
      token: this.#options.secrets['token'] ?? '',
      agent: this.#options.agent,
      onEvent: (type, data, botId) => this.#take(type, data, botId),
    });
    this.#loop = new ConnectionLoop({
      connect: async (signal): Promise<ConnectionEnd> => {
        const url = await this.#gatewayUrl();
        if (typeof url === 'string') return connection.run(url, signal);
        const why = `Discord: ${url.why}`;
        return url.kind === 'later'
          ? { kind: 'ended', why, wasUp: false }
          : { kind: 'refused', why };
      },
      trouble: (message) => events.trouble(message),
      wait: this.#options.wait,
    });
    return undefined;
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  async send({ conversation }: ChatAddress, message: OutboundMessage): Promise<SendResult> {
    const components = message.confirmation === undefined ? [] : [buttonRow(message.confirmation)];
    const json = { ...quiet(message.text), components };
    return sentFrom(await this.#call('POST', `/channels/${conversation}/messages`, json));
  }

  async settle({ conversation }: ChatAddress, over: SettledQuestion): Promise<SendResult> {
    const json = { ...quiet(settledText(over, this.limits)), components: [] };
    const path = `/channels/${conversation}/messages/${encodeURIComponent(over.ref)}`;
    return sentFrom(await this.#call('PATCH', path, json));
  }

  async #take(type: string, data: unknown, botId: string): Promise<void> {
    const event = readDispatch(type, data, botId);
    // Discord does not send it again; the desk has reported it.
    if (event.kind === 'message') await this.#events?.message(event.message).catch(() => undefined);
    if (event.kind !== 'press') return;
    const text = this.escape((await this.#events?.press(event.press)) ?? '');
    if (text === '') return;
    const reply = { type: CHANNEL_MESSAGE, data: { ...quiet(text), flags: EPHEMERAL } };
    const told = await this.#call('POST', event.callbackPath, reply);
    if (told.kind !== 'answer') this.#events?.trouble(`Discord: ${told.why}`);
  }

  async #gatewayUrl(): Promise<string | Exclude<ApiAnswer, { readonly kind: 'answer' }>> {
    const answer = await this.#call('GET', '/gateway/bot');
    if (answer.kind !== 'answer') return answer;
    const text = textField(answer.json, 'url');
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const api = new URL(this.#options.apiUrl);
    const isDiscords = url?.protocol === 'wss:' && GATEWAY_HOST.test(url.hostname);
    const isBesideApi =
      url?.host === api.host && url.protocol === api.protocol.replace('http', 'ws');
    if (url !== undefined && (isDiscords || isBesideApi)) return url.href;
    return { kind: 'later', why: 'It names an address that is not its own.' };
  }

  #call(method: 'GET' | 'POST' | 'PATCH', path: string, json?: JsonObject): Promise<ApiAnswer> {
    const { upstream, apiUrl, secrets } = this.#options;
    return callApi(upstream, {
      method,
      url: `${apiUrl}${path}`,
      authorization: `Bot ${secrets['token'] ?? ''}`,
      userAgent: USER_AGENT,
      ...(json !== undefined && { json }),
    });
  }
}

function quiet(content: string): JsonObject {
  return { content, flags: SUPPRESS_EMBEDS, allowed_mentions: { parse: [] } };
}

function buttonRow({ code, verdicts }: ConfirmationButtons): JsonObject {
  const components = verdicts.map((verdict) => ({
    type: BUTTON,
    style: STYLES[verdict],
    label: BUTTON_LABELS[verdict],
    custom_id: buttonData(verdict, code),
  }));
  return { type: ROW, components };
}

function sentFrom(answer: ApiAnswer): SendResult {
  if (answer.kind !== 'answer') return { ...answer, why: `Discord: ${answer.why}` };
  return { kind: 'sent', ref: textField(answer.json, 'id') };
}
