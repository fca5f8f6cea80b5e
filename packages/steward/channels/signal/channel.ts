// A number of Signal. Its messages have no markup unless one asks for it, and no buttons.
import type { Failure } from '@subluminal/contracts';
import { fieldIn } from '../shared/call-api.ts';
import type { ChannelParts } from '../shared/channel-kind.ts';
import { ConnectionLoop } from '../shared/connection-loop.ts';
import type {
  Channel,
  ChannelEvents,
  ChatAddress,
  OutboundMessage,
  SendResult,
  SettledQuestion,
} from '../shared/types.ts';
import { readEnvelope, recipientOf } from './read-envelope.ts';
import { RpcConnection } from './rpc-connection.ts';

interface SignalOptions extends ChannelParts {
  /** HOST:PORT, or the path of a socket. */
  readonly rpc: string;
  readonly account: string;
}

export class SignalChannel implements Channel {
  readonly name = 'signal';
  readonly limits = { textLengthMax: 1_900 };
  readonly #options: SignalOptions;
  #connection: RpcConnection | undefined;
  #loop: ConnectionLoop | undefined;

  constructor(options: SignalOptions) {
    this.#options = options;
  }

  escape(text: string): string {
    return text;
  }

  start(events: ChannelEvents): Promise<Failure | undefined> {
    const { rpc, account, wait } = this.#options;
    const connection = new RpcConnection(async (params) => {
      const message = readEnvelope(params, account);
      // signal-cli does not send it again; the desk has reported it.
      if (message !== undefined) await events.message(message).catch(() => undefined);
    });
    this.#connection = connection;
    this.#loop = new ConnectionLoop({
      connect: (signal) => connection.run(rpc, signal),
      trouble: (message) => events.trouble(message),
      wait,
    });
    return Promise.resolve(undefined);
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  async send({ conversation }: ChatAddress, { text }: OutboundMessage): Promise<SendResult> {
    const { account } = this.#options;
    const params = { account, message: text, ...recipientOf(conversation) };
    const answer = await this.#connection?.call('send', params);
    if (answer === undefined) return { kind: 'later', why: 'Signal has not been started.' };
    if (answer.kind !== 'result') return answer;
    return { kind: 'sent', ref: String(fieldIn(answer.result, 'timestamp')) };
  }

  settle(to: ChatAddress, { words }: SettledQuestion): Promise<SendResult> {
    return this.send(to, { text: words });
  }
}
