// A number of the WhatsApp Cloud API.
import { createHmac } from 'node:crypto';
import { type Failure, type JsonObject, tableFailure } from '@subluminal/contracts';
import { parseJson, secretMatcher } from '@subluminal/plane/os';
import { BUTTON_LABELS, buttonData } from '../shared/buttons.ts';
import { callApi, listField, textField } from '../shared/call-api.ts';
import type { ChannelParts } from '../shared/channel-kind.ts';
import type {
  Channel,
  ChannelEvents,
  ChatAddress,
  OutboundMessage,
  SendResult,
  SettledQuestion,
  WebhookAnswer,
  WebhookRequest,
} from '../shared/types.ts';
import { readWebhook, type WhatsAppEvent } from './read-webhook.ts';

interface WhatsAppOptions extends ChannelParts {
  readonly apiUrl: string;
  readonly phoneNumberId: string;
}

const SIGNATURE_HEADER = 'x-hub-signature-256';
const SECRET_LENGTH_MIN = 16;
const CHALLENGE_LENGTH_MAX = 256;
/** Marks such as `*` have no escape, and vanish when they make words bold. Only in a block they do not. */
const BLOCK = '```';
const BLOCK_LENGTH = 2 * BLOCK.length;

export class WhatsAppChannel implements Channel {
  readonly name = 'whatsapp';
  readonly limits = {
    textLengthMax: 4_096 - BLOCK_LENGTH,
    buttonTextLengthMax: 1_024 - BLOCK_LENGTH,
  };
  readonly #options: WhatsAppOptions;
  #events: ChannelEvents | undefined;

  constructor(options: WhatsAppOptions) {
    this.#options = options;
  }

  escape(text: string): string {
    return text;
  }

  async start(events: ChannelEvents): Promise<Failure | undefined> {
    this.#events = events;
    const { appSecret = '', verifyToken = '' } = this.#options.secrets;
    if (Math.min(appSecret.length, verifyToken.length) < SECRET_LENGTH_MIN) {
      const detail = `The app secret and the verify token of WhatsApp need ${SECRET_LENGTH_MIN} characters.`;
      return tableFailure('SUB_STEWARD_CHANNEL', detail);
    }
    const known = await this.#call('GET', '');
    if (known.kind === 'later') events.trouble(`WhatsApp: ${known.why}`);
    if (known.kind !== 'refused') return undefined;
    return tableFailure('SUB_STEWARD_CHANNEL', `WhatsApp: ${known.why}`);
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  send({ conversation }: ChatAddress, message: OutboundMessage): Promise<SendResult> {
    return this.#post(conversation, content(message));
  }

  /** A message cannot be edited: what came of it is an answer to it. */
  settle({ conversation }: ChatAddress, { ref, words }: SettledQuestion): Promise<SendResult> {
    return this.#post(conversation, { ...content({ text: words }), context: { message_id: ref } });
  }

  async handle(request: WebhookRequest): Promise<WebhookAnswer> {
    if (request.method === 'GET') return this.#verify(request.query);
    const given = request.headers[SIGNATURE_HEADER];
    const { appSecret = '' } = this.#options.secrets;
    const hash = createHmac('sha256', appSecret).update(request.rawBody).digest('hex');
    if (typeof given !== 'string' || !secretMatcher(`sha256=${hash}`)(given)) {
      return { status: 401, body: { error: 'the signature is wrong' } };
    }
    const body = parseJson(Buffer.from(request.rawBody).toString('utf8'));
    if (body === undefined) return { status: 400, body: { error: 'the body is not JSON' } };
    for (const event of readWebhook(body, this.#options.phoneNumberId)) await this.#take(event);
    return { status: 200, body: {} };
  }

  #verify(query: URLSearchParams): WebhookAnswer {
    const isToken = secretMatcher(this.#options.secrets['verifyToken'] ?? '');
    const isTrue =
      query.get('hub.mode') === 'subscribe' && isToken(query.get('hub.verify_token') ?? '');
    if (!isTrue) return { status: 403, body: { error: 'the token is wrong' } };
    return { status: 200, body: (query.get('hub.challenge') ?? '').slice(0, CHALLENGE_LENGTH_MAX) };
  }

  async #take(event: WhatsAppEvent): Promise<void> {
    if (event.kind === 'message') return this.#events?.message(event.message);
    const text = (await this.#events?.press(event.press)) ?? '';
    if (text === '') return;
    const told = await this.send(event.press, { text });
    if (told.kind !== 'sent') this.#events?.trouble(`WhatsApp: ${told.why}`);
  }

  async #post(to: string, what: JsonObject): Promise<SendResult> {
    const head = { messaging_product: 'whatsapp', recipient_type: 'individual', to };
    const answer = await this.#call('POST', '/messages', { ...head, ...what });
    if (answer.kind !== 'answer') return { ...answer, why: `WhatsApp: ${answer.why}` };
    const [sent] = listField(answer.json, 'messages');
    return { kind: 'sent', ref: textField(sent, 'id') };
  }

  #call(method: 'GET' | 'POST', path: string, json?: JsonObject) {
    const { upstream, apiUrl, phoneNumberId, secrets } = this.#options;
    return callApi(upstream, {
      method,
      url: `${apiUrl}/${encodeURIComponent(phoneNumberId)}${path}`,
      authorization: `Bearer ${secrets['token'] ?? ''}`,
      ...(json !== undefined && { json }),
    });
  }
}

function content({ text: raw, confirmation, isQuestion }: OutboundMessage): JsonObject {
  const text = isQuestion === true ? `${BLOCK}${raw.replaceAll(BLOCK, "'''")}${BLOCK}` : raw;
  if (confirmation === undefined) {
    return { type: 'text', text: { body: text, preview_url: false } };
  }
  const buttons = confirmation.verdicts.map((verdict) => ({
    type: 'reply',
    reply: { id: buttonData(verdict, confirmation.code), title: BUTTON_LABELS[verdict] },
  }));
  const interactive = { type: 'button', body: { text }, action: { buttons } };
  return { type: 'interactive', interactive };
}
