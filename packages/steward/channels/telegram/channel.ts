// A bot of Telegram. Texts go out without a parse mode, so nothing in them is markup.
import { type Failure, tableFailure } from '@subluminal/contracts';
import { parseJson, secretMatcher } from '@subluminal/plane/os';
import type { Api } from 'grammy';
import { BUTTON_LABELS, buttonData, settledText } from '../shared/buttons.ts';
import type { ChannelParts } from '../shared/channel-kind.ts';
import { type ConnectionEnd, ConnectionLoop } from '../shared/connection-loop.ts';
import type {
  Channel,
  ChannelEvents,
  ChatAddress,
  FailedSend,
  OutboundMessage,
  SendResult,
  SettledQuestion,
  WebhookAnswer,
  WebhookRequest,
} from '../shared/types.ts';
import { type BotIdentity, readUpdate } from './read-update.ts';

interface TelegramOptions extends ChannelParts {
  readonly apiUrl: string | undefined;
}

interface LoadedBot {
  readonly api: Api;
  readonly failedCall: (cause: unknown) => FailedSend;
}

const POLL_S = 25;
const UPDATES: ('message' | 'callback_query')[] = ['message', 'callback_query'];
/** Longer, and Telegram refuses to show it. */
const ANSWER_LENGTH_MAX = 200;
const SECRET_HEADER = 'x-telegram-bot-api-secret-token';

export class TelegramChannel implements Channel {
  readonly name = 'telegram';
  readonly limits = { textLengthMax: 4_096 };
  readonly #options: TelegramOptions;
  readonly #isSecret: ((given: string) => boolean) | undefined;
  #bot: Promise<LoadedBot> | undefined;
  #events: ChannelEvents | undefined;
  #identity: BotIdentity | undefined;
  #loop: ConnectionLoop | undefined;
  /** Updates before this one were taken. */
  #offset = 0;

  constructor(options: TelegramOptions) {
    this.#options = options;
    const { webhookSecret } = options.secrets;
    this.#isSecret = webhookSecret === undefined ? undefined : secretMatcher(webhookSecret);
  }

  escape(text: string): string {
    return text;
  }

  async start(events: ChannelEvents): Promise<Failure | undefined> {
    this.#events = events;
    const known = await this.#prepare();
    if (known?.kind === 'refused') return tableFailure('SUB_STEWARD_CHANNEL', known.why);
    const isPolled = this.#isSecret === undefined;
    if (known === undefined && !isPolled) return undefined;
    this.#loop = new ConnectionLoop({
      connect: (signal) => (isPolled ? this.#poll(signal) : this.#prepareLater()),
      trouble: (message) => events.trouble(message),
      wait: this.#options.wait,
    });
    return undefined;
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  async send(to: ChatAddress, message: OutboundMessage): Promise<SendResult> {
    const { confirmation } = message;
    const buttons = confirmation?.verdicts.map((verdict) => ({
      text: BUTTON_LABELS[verdict],
      callback_data: buttonData(verdict, confirmation.code),
    }));
    return this.#call(async (api) => {
      const sent = await api.sendMessage(to.conversation, message.text, {
        link_preview_options: { is_disabled: true },
        ...(buttons && { reply_markup: { inline_keyboard: [buttons] } }),
      });
      return { kind: 'sent', ref: String(sent.message_id) };
    });
  }

  async settle(to: ChatAddress, over: SettledQuestion): Promise<SendResult> {
    const text = settledText(over, this.limits);
    return this.#call(async (api) => {
      await api.editMessageText(to.conversation, Number(over.ref), text, {
        link_preview_options: { is_disabled: true },
      });
      return { kind: 'sent', ref: over.ref };
    });
  }

  async handle({ method, headers, rawBody }: WebhookRequest): Promise<WebhookAnswer> {
    const given = headers[SECRET_HEADER];
    const isTrue = typeof given === 'string' && this.#isSecret?.(given) === true;
    if (method !== 'POST' || !isTrue) return { status: 401, body: { error: 'the token is wrong' } };
    // Telegram sends it again.
    if (this.#identity === undefined) return { status: 503, body: { error: 'not ready yet' } };
    const update = parseJson(Buffer.from(rawBody).toString('utf8'));
    if (update === undefined) return { status: 400, body: { error: 'the body is not JSON' } };
    await this.#take(update);
    return { status: 200, body: {} };
  }

  /** Learns who the bot is, and says how updates come; undefined when that is done. */
  async #prepare(): Promise<FailedSend | undefined> {
    const { publicUrl, secrets } = this.#options;
    const done = await this.#call(async (api) => {
      const { id, username } = await api.getMe();
      if (secrets['webhookSecret'] === undefined) await api.deleteWebhook();
      else if (publicUrl !== undefined) {
        const how = { secret_token: secrets['webhookSecret'], allowed_updates: UPDATES };
        await api.setWebhook(`${publicUrl}/channels/telegram`, how);
      }
      this.#identity = { id, username };
      return { kind: 'sent', ref: '' };
    });
    return done.kind === 'sent' ? undefined : done;
  }

  async #prepareLater(): Promise<ConnectionEnd> {
    const known = await this.#prepare();
    return known === undefined ? { kind: 'finished' } : ended(known, false);
  }

  /** One long poll. Updates are confirmed by the next one, when they were taken. */
  async #poll(signal: AbortSignal): Promise<ConnectionEnd> {
    if (this.#identity === undefined) {
      const known = await this.#prepare();
      if (known !== undefined) return ended(known, false);
    }
    let wasUp = false;
    while (!signal.aborted) {
      const polled = await this.#call(async (api) => {
        const wanted = { offset: this.#offset, timeout: POLL_S, allowed_updates: UPDATES };
        const updates = await api.getUpdates(wanted, asGrammySignal(signal));
        for (const update of updates) {
          await this.#take(update);
          this.#offset = update.update_id + 1;
        }
        return { kind: 'sent', ref: '' };
      });
      if (polled.kind !== 'sent') return ended(polled, wasUp);
      wasUp = true;
    }
    return { kind: 'finished' };
  }

  async #take(update: unknown): Promise<void> {
    if (this.#identity === undefined || this.#events === undefined) return;
    const read = readUpdate(update, this.#identity);
    if (read.kind === 'message') await this.#events.message(read.message);
    if (read.kind !== 'press') return;
    const text = (await this.#events.press(read.press)).slice(0, ANSWER_LENGTH_MAX);
    const answered = await this.#call(async (api) => {
      await api.answerCallbackQuery(read.queryId, { text });
      return { kind: 'sent', ref: '' };
    });
    if (answered.kind !== 'sent') this.#events.trouble(answered.why);
  }

  async #call(work: (api: Api) => Promise<SendResult>): Promise<SendResult> {
    const { secrets, apiUrl, agent } = this.#options;
    this.#bot ??= import('./bot-api.ts').then(({ botApi, failedCall }) => ({
      api: botApi({ token: secrets['token'] ?? '', apiRoot: apiUrl, agent }),
      failedCall,
    }));
    const { api, failedCall } = await this.#bot;
    try {
      return await work(api);
    } catch (cause) {
      return failedCall(cause);
    }
  }
}

function ended({ kind, why }: FailedSend, wasUp: boolean): ConnectionEnd {
  return kind === 'later' ? { kind: 'ended', why, wasUp } : { kind: 'refused', why };
}

/** grammY names the type of a package that is the same thing. */
function asGrammySignal(signal: AbortSignal): Parameters<Api['getUpdates']>[1] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The two differ by name alone.
  return signal as Parameters<Api['getUpdates']>[1];
}
