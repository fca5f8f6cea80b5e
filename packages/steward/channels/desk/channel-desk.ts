// The one place between channels and the agent: who may write, what is answered, who decides.
import {
  type Failure,
  isFailure,
  isObject,
  STEWARD_CHANNELS,
  tableFailure,
} from '@subluminal/contracts';
import { Claims, RequestFollower } from '@subluminal/plane/approval-channels';
import type { Desk, Ended, Entry } from '@subluminal/plane/approvals';
import { splitText, withoutHidden } from '../shared/split-text.ts';
import type {
  ButtonPress,
  Channel,
  ChannelName,
  ChatAddress,
  ChatPerson,
  Confirmation,
  DeskChannel,
  InboundMessage,
  OutboundMessage,
  SendResult,
  WebhookAnswer,
  WebhookRequest,
} from '../shared/types.ts';
import { Admissions, type IgnoreReason } from './admission.ts';
import { approvalQuestion, decidedWords, endWords } from './approval-question.ts';
import type { ChannelStore, PairedSender } from './channel-store.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';
import { questionMessages } from './question-messages.ts';
import { type OpenQuestion, type PersonAnswer, Questions, typedAnswer } from './questions.ts';

/** Something that the user or the monitor should know; made of hostile text in part. */
export interface ChannelReport {
  readonly kind: 'trouble' | 'lost' | 'foreign_press' | IgnoreReason;
  readonly channel: ChannelName;
  readonly sender?: string;
  readonly message: string;
}

export interface ChannelDeskOptions {
  readonly channels: readonly DeskChannel[];
  readonly store: ChannelStore;
  readonly approvals: Desk;
  /** Who asked for what this run does; undefined for runs of others. */
  readonly personOf: (runId: string) => ChatPerson | undefined;
  /** Takes an accepted message. Resolves when it is written down, not when it is answered. */
  readonly receive: (message: InboundMessage) => Promise<void>;
  /** Takes secrets out of what leaves, and personal data where not only the user reads. */
  readonly redact: (text: string, reader: { readonly isPrivate: boolean }) => string;
  readonly report: (report: ChannelReport) => void;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export type PairResult =
  | { readonly kind: 'paired'; readonly sender: PairedSender }
  | { readonly kind: 'unknown' | 'void' };

const PARTS_MAX = 20;
/** Marks of the queue: which questions were sent, and where. */
const MARK = 'steward';

export class ChannelDesk {
  readonly #options: ChannelDeskOptions;
  readonly #channels: ReadonlyMap<ChannelName, Channel>;
  readonly #admissions: Admissions;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #questions = new Questions();
  #follower: RequestFollower | undefined;

  constructor(options: ChannelDeskOptions) {
    const { channels, store, approvals } = options;
    this.#options = options;
    this.#channels = new Map(channels.map(({ channel }) => [channel.name, channel]));
    const access = new Map(channels.map((one) => [one.channel.name, one.access]));
    this.#admissions = new Admissions(access, store);
    this.#inbox = new Inbox(options.receive);
    this.#outbox = new Outbox({ nowMs: () => approvals.ports.nowMs(), wait: options.wait });
  }

  /** A channel that cannot be started is reported; the others run. */
  async start(): Promise<void> {
    this.#rememberOpen();
    await Promise.all([...this.#channels.values()].map((channel) => this.#start(channel)));
    this.#follower = new RequestFollower(this.#options.approvals, MARK, {
      tell: (entry) => this.#askApproval(entry),
      ended: (ended, value) => this.#tellEnd(ended, value),
    });
  }

  async #start(channel: Channel): Promise<void> {
    const trouble = (message: string) => this.#report('trouble', channel, message);
    const failed = await channel.start({
      message: (message) => this.#message(message),
      press: (press) => this.#buttonPress(press),
      trouble,
    });
    if (failed !== undefined) trouble(failed.message);
  }

  async stop(): Promise<void> {
    // What is being sent goes out first, so that it is known to be sent.
    await this.#outbox.stop();
    await this.#follower?.stop();
    await Promise.all([...this.#channels.values()].map((channel) => channel.stop()));
    await this.#inbox.settled();
  }

  /** Sends what the agent says, in as many messages as it takes. */
  async reply(to: ChatAddress, text: string): Promise<SendResult> {
    const channel = this.#channels.get(to.channel);
    if (channel === undefined) return { kind: 'refused', why: 'There is no such channel.' };
    const isPrivate = !this.#admissions.isGroup(to);
    const clean = withoutHidden(this.#options.redact(text, { isPrivate }));
    const { textLengthMax: lengthMax } = channel.limits;
    const escape = (part: string) => channel.escape(part);
    const split = splitText(clean, { lengthMax, partsMax: PARTS_MAX, escape });
    const notice = `(${split.leftOut} more characters do not fit here.)`;
    const parts = split.leftOut === 0 ? split.parts : [...split.parts, escape(notice)];
    return this.#send(
      channel,
      to,
      parts.map((part) => ({ text: part })),
    );
  }

  /**
   * Asks a person about something that is no call, such as a change that was proposed. `decide` is
   * called once at most, with what was seen; its text is for the person. The caller ends the
   * question when it was decided elsewhere or its time is over.
   */
  async ask(
    person: ChatPerson,
    confirmation: Confirmation,
    decide: (answer: PersonAnswer) => string,
  ): Promise<{ readonly end: (words: string) => Promise<void> } | Failure> {
    const code = this.#questions.newCode();
    const once = (answer: PersonAnswer) => {
      this.#questions.remove(confirmation.id);
      return decide(answer);
    };
    const question = { code, person, confirmation, decide: once };
    const sent = await this.#question(question);
    if (sent.kind !== 'sent') return tableFailure('SUB_STEWARD_CHANNEL', sent.why);
    return {
      end: async (words) => {
        this.#questions.remove(confirmation.id);
        await this.#settle(question, sent.ref, words);
      },
    };
  }

  pair(code: string): PairResult {
    const nowMs = this.#nowMs();
    const redeemed = this.#admissions.pair(code, nowMs);
    if (redeemed.kind !== 'found') return redeemed;
    const { channel, conversation, sender, senderName } = redeemed.pending;
    void this.reply(
      { channel, conversation },
      'You are paired with this machine now. What can I do?',
    );
    return { kind: 'paired', sender: { channel, sender, senderName, atMs: nowMs } };
  }

  /** A request that a service sends to `/channels/NAME`. */
  async handle(name: string, request: WebhookRequest): Promise<WebhookAnswer> {
    const channel = [...this.#channels.values()].find((one) => one.name === name);
    const answer = await channel?.handle?.(request);
    return answer ?? { status: 404, body: { error: 'there is no such channel' } };
  }

  async #message(message: InboundMessage): Promise<void> {
    const nowMs = this.#nowMs();
    const admission = this.#admissions.admit(message, nowMs);
    if (admission.kind !== 'accepted') {
      const isKnown = this.#admissions.isKnown(message);
      if (isKnown && admission.why !== 'replay') this.#admissions.markTaken(message, nowMs);
      if (admission.why !== 'group') this.#reportIgnored(message, admission.why);
      // The service waits for us, so it does not wait for the answer to come through.
      if (admission.kind === 'answered') void this.reply(message, admission.text);
      return;
    }
    const typed = typedAnswer(message.text);
    if (typed !== undefined) {
      this.#admissions.markTaken(message, nowMs);
      void this.reply(message, await this.#press({ ...message, ...typed }));
      return;
    }
    const taken = await this.#inbox.take(message);
    if (taken === 'busy')
      return void this.reply(message, 'I still have messages of yours to read.');
    if (taken === 'failed') {
      this.#report('trouble', message, 'A message could not be taken.');
      throw new Error('not taken');
    }
    if (taken === 'taken') this.#admissions.markTaken(message, nowMs);
  }

  async #buttonPress(press: ButtonPress): Promise<string> {
    return this.#admissions.admitPress(press, this.#nowMs()) ? this.#press(press) : '';
  }

  async #press(press: ButtonPress): Promise<string> {
    const isKnown = this.#admissions.isKnown(press);
    const result = this.#questions.press(press, { isKnown, nowMs: this.#nowMs() });
    if (result.kind === 'foreign') {
      this.#report('foreign_press', press, 'Somebody else has tried to decide a question.');
    }
    if (result.kind !== 'details') return result.text;
    void this.reply(press, (result.question.confirmation.details ?? []).join('\n'));
    return 'More about it follows.';
  }

  async #question(question: OpenQuestion): Promise<SendResult> {
    const { person } = question;
    const channel = this.#channels.get(person.channel);
    if (channel === undefined) return { kind: 'refused', why: 'There is no such channel.' };
    const { messages, isWhole } = questionMessages(channel, this.#redacted(question));
    const confirmation = { ...question.confirmation, isWhole };
    // Before it is sent: an answer may come while the last part is still under way.
    this.#questions.add({ ...question, confirmation });
    const sent = await this.#send(channel, person, messages);
    if (sent.kind !== 'sent') this.#questions.remove(confirmation.id);
    return sent;
  }

  /** Who decides must see whom it reaches, so only secrets are taken out; what looks like one may be anything. */
  #redacted(question: OpenQuestion): OpenQuestion {
    const { confirmation } = question;
    const clean = (line: string) => this.#options.redact(line, { isPrivate: true });
    const lines = confirmation.lines.map(clean);
    const isShown = lines.every((line, at) => line === confirmation.lines[at]);
    const isWhole = confirmation.isWhole && isShown;
    return { ...question, confirmation: { ...confirmation, lines, isWhole } };
  }

  async #askApproval(entry: Entry) {
    const person = this.#options.personOf(entry.request.call.run_id);
    if (person === undefined || !this.#channels.has(person.channel))
      return { kind: 'never' } as const;
    const code = this.#questions.newCode();
    const sent = await this.#question(this.#approvalQuestion(entry, person, code));
    if (sent.kind !== 'sent') return { kind: 'never' } as const;
    return { kind: 'told', value: { ...person, code, ref: sent.ref } } as const;
  }

  #approvalQuestion(entry: Entry, person: ChatPerson, code: string): OpenQuestion {
    const { id } = entry.request;
    return {
      code,
      person,
      confirmation: approvalQuestion(entry),
      decide: (answer) => decidedWords(this.#options.approvals.decide(id, answer)),
    };
  }

  /** After a restart the buttons of earlier questions work again. */
  #rememberAsked(entry: Entry, value: unknown): void {
    const asked = readAsked(value);
    const channel = asked && this.#channels.get(asked.channel);
    if (asked === undefined || channel === undefined) return;
    const question = this.#approvalQuestion(entry, asked, asked.code);
    const { isWhole } = questionMessages(channel, this.#redacted(question));
    this.#questions.add({ ...question, confirmation: { ...question.confirmation, isWhole } });
  }

  /** Before the first press can come. */
  #rememberOpen(): void {
    const { approvals } = this.#options;
    const claims = new Claims(approvals, MARK);
    const pending = approvals.queue.list({ state: 'pending' });
    if (isFailure(pending)) return;
    for (const entry of pending.found) {
      this.#rememberAsked(entry, claims.done(entry.request.id)?.value);
    }
  }

  async #tellEnd(ended: Ended, value: unknown): Promise<boolean> {
    this.#questions.remove(ended.kind === 'request' ? ended.request.id : ended.id);
    const asked = readAsked(value);
    if (asked === undefined || ended.kind !== 'request') return true;
    const question = this.#approvalQuestion(ended, asked, asked.code);
    await this.#settle(question, asked.ref, endWords(ended));
    return true;
  }

  async #settle(question: OpenQuestion, ref: string, words: string): Promise<void> {
    const { person } = question;
    const channel = this.#channels.get(person.channel);
    if (channel === undefined) return;
    const shown = questionMessages(channel, this.#redacted(question)).messages.at(-1)?.text ?? '';
    const over = { ref, question: shown, words: channel.escape(words) };
    const settled = await this.#outbox.settle(channel, person, over);
    if (settled.kind !== 'sent') this.#report('lost', person, settled.why);
  }

  async #send(channel: Channel, to: ChatAddress, messages: readonly OutboundMessage[]) {
    const sent = await this.#outbox.send(channel, to, messages);
    if (sent.kind !== 'sent') this.#report('lost', to, `A message did not get there: ${sent.why}`);
    return sent;
  }

  #reportIgnored(message: InboundMessage, why: IgnoreReason): void {
    this.#report(why, message, `A message was not taken (${why}).`);
  }

  #report(kind: ChannelReport['kind'], at: Channel | ChatAddress, message: string): void {
    const channel = 'channel' in at ? at.channel : at.name;
    const sender = 'sender' in at && typeof at.sender === 'string' ? { sender: at.sender } : {};
    this.#options.report({ kind, channel, message, ...sender });
  }

  #nowMs(): number {
    return this.#options.approvals.ports.nowMs();
  }
}

/** What was kept beside a request: a file that somebody may have changed. */
function readAsked(value: unknown): (ChatPerson & { code: string; ref: string }) | undefined {
  if (!isObject(value)) return undefined;
  const { channel, conversation, sender, code, ref } = value;
  if (!isChannelName(channel) || typeof conversation !== 'string') return undefined;
  if (typeof sender !== 'string' || typeof code !== 'string' || typeof ref !== 'string') {
    return undefined;
  }
  return { channel, conversation, sender, code, ref };
}

function isChannelName(value: unknown): value is ChannelName {
  return value !== 'schedule' && STEWARD_CHANNELS.some((name) => name === value);
}
