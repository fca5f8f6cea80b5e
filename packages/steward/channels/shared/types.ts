// What channels, the desk and the loop say to each other. A channel is a way to reach a person: it reads
// and writes the messages of one service, and decides nothing.
import type { Failure, StewardChannel } from '@subluminal/contracts';

/** Where a person can write. */
export type ChannelName = Exclude<StewardChannel, 'schedule'>;

/** Where messages go: a chat of a channel, by the service's own id. */
export interface ChatAddress {
  readonly channel: ChannelName;
  readonly conversation: string;
}

/** The one who asked, where they asked. Only this person decides on what follows from it. */
export interface ChatPerson extends ChatAddress {
  readonly sender: string;
}

/** All of it is written by others. */
export interface InboundMessage extends ChatPerson {
  readonly senderName: string;
  /** The service's own id: the same message has the same id, however often it comes. */
  readonly messageId: string;
  readonly text: string;
  readonly atMs: number;
  readonly place: 'direct' | 'group';
  /** In a group: the message speaks to the agent. */
  readonly isMention: boolean;
  /** Somebody else has written it, and the sender has only passed it on. */
  readonly isForwarded?: boolean;
}

export type PressVerdict = 'approve' | 'reject' | 'details';

export interface ButtonPress extends ChatPerson {
  readonly senderName: string;
  readonly code: string;
  readonly verdict: PressVerdict;
}

export interface OutboundMessage {
  /** Hostile text. It fits into one message: see `ChannelLimits`. */
  readonly text: string;
  readonly confirmation?: ConfirmationButtons;
  /** It is part of a question: every character of it must be seen. */
  readonly isQuestion?: boolean;
}

/** What is under a question. */
export interface ConfirmationButtons {
  /** Stands for the question in buttons and in typed answers. */
  readonly code: string;
  readonly verdicts: readonly PressVerdict[];
}

/** Something that a person decides: a call that waits, or a change that was proposed. */
export interface Confirmation {
  /** The id of the approval or proposal. */
  readonly id: string;
  /** Of what is shown: the decision is about that and nothing else. */
  readonly sha256: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** For those who want to know more. */
  readonly details?: readonly string[];
  /** All of it is in `lines`; nothing is approved that was not shown. */
  readonly isWhole: boolean;
  /** Shows all of it, on the machine. */
  readonly showCommand: string;
  readonly expiresAtMs: number;
}

export type SendResult =
  /** `ref` finds the message again. */
  | { readonly kind: 'sent'; readonly ref: string }
  /** It did not work and may later, at the earliest after that time. */
  | { readonly kind: 'later'; readonly why: string; readonly afterMs?: number }
  | { readonly kind: 'refused'; readonly why: string };

export type FailedSend = Exclude<SendResult, { readonly kind: 'sent' }>;

/** Both texts are escaped. */
export interface SettledQuestion {
  readonly ref: string;
  /** The message with the buttons, as it was; empty when it is not known any more. */
  readonly question: string;
  readonly words: string;
}

/** What a channel hands on, as it comes. */
export interface ChannelEvents {
  /** Resolves when it was taken or turned away. Rejects when it could not be: it should come again. */
  message(message: InboundMessage): Promise<void>;
  /** The text is for the one who pressed; nothing is said when it is empty. */
  press(press: ButtonPress): Promise<string>;
  /** The channel itself has trouble, in a whole sentence without secrets. */
  trouble(message: string): void;
}

export interface ChannelLimits {
  /** Of one message, after `escape`. */
  readonly textLengthMax: number;
  /** Of a message with buttons, where that is another one. */
  readonly buttonTextLengthMax?: number;
}

export interface Channel {
  readonly name: ChannelName;
  readonly limits: ChannelLimits;
  /** Text as the service takes it, so that nothing in it is markup, a mention or a link of ours. */
  escape(text: string): string;
  start(events: ChannelEvents): Promise<Failure | undefined>;
  /** `text` is escaped already. */
  send(to: ChatAddress, message: OutboundMessage): Promise<SendResult>;
  /** A question is over: its buttons go, and what came of it is seen there. */
  settle(to: ChatAddress, over: SettledQuestion): Promise<SendResult>;
  /** For services that call us, under `/channels/NAME`. */
  handle?(request: WebhookRequest): Promise<WebhookAnswer>;
  stop(): Promise<void>;
}

export interface WebhookRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly rawBody: Uint8Array;
}

export interface WebhookAnswer {
  readonly status: number;
  /** Text is sent as plain text, everything else as JSON. */
  readonly body: string | { readonly [key: string]: string };
}

/** Who may write on a channel, beside those who are paired. */
export interface ChannelAccess {
  /** Ids of senders. */
  readonly allowed: readonly string[];
  /** Ids of groups in which those who may write are heard when they mention the agent. */
  readonly groups: readonly string[];
}

export interface DeskChannel {
  readonly channel: Channel;
  readonly access: ChannelAccess;
}
