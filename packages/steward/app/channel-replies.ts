// Channels beside the terminal and the page: messages come in, replies go out.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Failure,
  type IntegrationsFile,
  isFailure,
  tableFailure,
} from '@subluminal/contracts';
import type { Desk } from '@subluminal/plane/approvals';
import { openUpstream, proxyOf, tunnelAgent } from '@subluminal/plane/upstream';
import {
  ChannelDesk,
  openChannelStore,
  openChannels,
  openWebhookListener,
} from '../channels/index.ts';
import type { Journal } from '../journal/index.ts';
import { type Conversations, channelOf } from '../loop/index.ts';
import { isReader, ReplyDelivery } from './deliver-replies.ts';
import type { Pairing } from './pairing-handlers.ts';

export interface ChannelOptions {
  readonly integrations: IntegrationsFile;
  /** Who was paired, and which messages came. */
  readonly storeFile: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly secret: (ref: string) => Promise<string | Failure>;
  readonly approvals: Desk;
  readonly journal: Journal;
  readonly conversations: Conversations;
  readonly redact: (text: string, reader: { readonly isPrivate: boolean }) => string;
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
}

export interface RunningChannels {
  readonly kind: 'channels';
  state(): readonly { readonly name: string; readonly trouble: string | null }[];
  readonly desk: ChannelDesk;
  readonly pairing: Pairing;
  close(): Promise<void>;
}

export async function startChannels(options: ChannelOptions): Promise<RunningChannels | Failure> {
  const { integrations, env, secret, approvals, journal, conversations, log, nowMs } = options;
  const store = await openChannelStore(options.storeFile);
  if (isFailure(store)) return store;
  const upstream = openUpstream({ proxy: proxyOf(env) });
  const agent = tunnelAgent(env);
  const wait = (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal });
  const { webhooks } = integrations;
  const [host] = webhooks?.hosts ?? [];
  const publicUrl = host === undefined ? {} : { publicUrl: `https://${host}` };
  const parts = { secret, upstream, agent, nowMs, wait, ...publicUrl };
  const opened = await openChannels(integrations.channels, parts);
  const trouble = new Map<string, string>();
  const fails = (channel: string, message: string) => {
    log(`${channel}: ${message}`);
    trouble.set(channel, message);
  };
  for (const { name, failure } of opened.failed) fails(name, `${failure.message} ${failure.fix}`);
  const desk = new ChannelDesk({
    channels: opened.channels,
    store,
    approvals,
    personOf: (runId) => personOf(journal, runId),
    receive: async ({ channel, sender, conversation, text }) => {
      // It can be heard again.
      trouble.delete(channel);
      const asker = { channel, person: sender, address: conversation };
      const taken = conversations.receive({ ...asker, text });
      if (taken.kind === 'refused') await desk.reply({ channel, conversation }, taken.why);
    },
    redact: options.redact,
    report: ({ kind, channel, message }) =>
      kind === 'trouble' ? fails(channel, message) : log(`${channel}: ${message}`),
    wait,
  });
  await desk.start();
  const listener = opened.called.length === 0 ? undefined : await listen(webhooks, desk);
  if (isFailure(listener)) for (const name of opened.called) fails(name, listener.message);
  const names = [
    ...opened.channels.map(({ channel }) => channel.name),
    ...opened.failed.map(({ name }) => name),
  ];
  const reply: ChannelDesk['reply'] = (to, text) => desk.reply(to, text);
  const delivery = new ReplyDelivery({ journal, reply, wait, log });
  return {
    kind: 'channels',
    state: () => names.map((name) => ({ name, trouble: trouble.get(name) ?? null })),
    desk,
    pairing: {
      paired: () => store.paired(),
      pair: (code) => desk.pair(code),
      unpair: (channel, sender) => store.unpair(channel, sender),
    },
    close: async () => {
      if (listener !== undefined && !isFailure(listener)) await listener.close();
      delivery.stop();
      await desk.stop();
      await delivery.settled();
      store.close();
      agent.destroy();
      await upstream.close();
    },
  };
}

function listen(webhooks: IntegrationsFile['webhooks'], desk: ChannelDesk) {
  if (webhooks === undefined) {
    const detail = 'It hears nothing without `webhooks` in integrations.yaml.';
    return tableFailure('SUB_STEWARD_CHANNEL', detail);
  }
  return openWebhookListener({
    ...webhooks,
    handle: (name, asked) => desk.handle(name, asked),
  });
}

export function personOf(journal: Journal, runId: string) {
  const own = journal.conversationOfRun(runId);
  const conversation = own?.parentId ? journal.conversation(own.parentId) : own;
  if (conversation === undefined) return undefined;
  const channel = channelOf(conversation.channel);
  if (channel === 'schedule' || isReader(channel)) return undefined;
  return { channel, conversation: conversation.address, sender: conversation.person };
}
