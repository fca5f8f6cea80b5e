// A desk with one channel, against the stand-in of its service; an agent that repeats what it hears.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type ApprovalCall, isFailure } from '@subluminal/contracts';
import { type Desk, type Ended, openDesk } from '@subluminal/plane/approvals';
import { openUpstream, tunnelAgent } from '@subluminal/plane/upstream';
import {
  ChannelDesk,
  type ChannelReport,
  type ChatPerson,
  type InboundMessage,
  openChannelStore,
  openChannels,
  openWebhookListener,
} from '@subluminal/steward/channels';
import { uuidv7 } from 'uuidv7';
import { onTestFinished } from 'vitest';
import type { ChatStandIn, Saying } from './stand-ins/chat/chat-service.ts';

const RUN = 'run-1';
export const SECRET = 'sk-ant-of-the-test';
export const PERSONAL = 'DE89 3704 0044 0532 0130 00';

export interface ChannelBench {
  readonly standIn: ChatStandIn;
  readonly desk: ChannelDesk;
  readonly approvals: Desk;
  readonly received: InboundMessage[];
  readonly reports: ChannelReport[];
  readonly person: ChatPerson;
  /** Added to the clock. */
  skipMs: number;
  /** So many messages cannot be written down. */
  refuseNext: number;
  untilReceived(text: string): Promise<InboundMessage>;
  untilReport(kind: ChannelReport['kind']): Promise<ChannelReport>;
  owner(text: string, more?: Partial<Saying>): Promise<number | undefined>;
  /** A call of the owner's run waits for a person. */
  ask(call?: Partial<ApprovalCall>): { readonly id: string; readonly ended: Promise<Ended> };
  pair(user: string): void;
  /** Another process in place of this one, on the same files. */
  restart(): Promise<ChannelDesk>;
}

/** A list that can be waited on. */
function watched<T>() {
  const looks = new Set<() => void>();
  const list: T[] = [];
  const until = (fits: (one: T) => boolean) =>
    new Promise<T>((resolve) => {
      const look = () => {
        const found = list.find(fits);
        if (found === undefined) return;
        looks.delete(look);
        resolve(found);
      };
      looks.add(look);
      look();
    });
  const add = (one: T) => {
    list.push(one);
    for (const look of looks) look();
  };
  return { list, until, add };
}

export async function channelBench(
  standIn: ChatStandIn,
  { isPaired = true } = {},
): Promise<ChannelBench> {
  const home = mkdtempSync(join(tmpdir(), 'sub-channels-'));
  const received = watched<InboundMessage>();
  const reports = watched<ChannelReport>();
  const bench = { skipMs: 0, refuseNext: 0 };
  const nowMs = () => Date.now() + bench.skipMs;
  const approvals = openDesk({ home, pollMs: 50, ports: { nowMs, uuid: uuidv7 } });
  if (isFailure(approvals)) throw new Error(approvals.message);
  const store = await openChannelStore(join(home, 'channels.db'));
  if (isFailure(store)) throw new Error(store.message);
  const upstream = openUpstream();
  const { owner } = standIn.users;
  const [channel = ''] = Object.keys(standIn.settings);
  const conversation = standIn.chatOf(owner);
  const person = { channel, conversation, sender: owner } as ChatPerson;
  if (isPaired) store.pair({ channel, sender: owner, senderName: 'Owner', atMs: 0 });
  let desk: ChannelDesk | undefined;
  const current = () => {
    if (desk === undefined) throw new Error('not started');
    return desk;
  };
  const listener = await openWebhookListener({
    listen: '127.0.0.1:0',
    hosts: ['bot.example.com'],
    handle: (name, request) => current().handle(name, request),
  });
  if (isFailure(listener)) throw new Error(listener.message);
  standIn.connect(`${listener.url}/channels/${channel}`);

  const start = async () => {
    const opened = await openChannels(standIn.settings, {
      upstream,
      agent: tunnelAgent({}),
      nowMs,
      publicUrl: listener.url,
      wait: (_ms, signal) => (signal.aborted ? Promise.resolve() : setImmediate()),
      secret: (ref) => Promise.resolve(standIn.secrets[ref] ?? ''),
    });
    const made: ChannelDesk = new ChannelDesk({
      channels: opened.channels,
      store,
      approvals,
      personOf: (runId) => (runId === RUN ? person : undefined),
      receive: (message) => {
        if (bench.refuseNext > 0) {
          bench.refuseNext -= 1;
          return Promise.reject(new Error('the disk is full'));
        }
        received.add(message);
        void made.reply(message, `You said: ${message.text}`);
        return Promise.resolve();
      },
      redact: (text, { isPrivate }) => {
        const clean = text.replaceAll(SECRET, '[secret]');
        return isPrivate ? clean : clean.replaceAll(PERSONAL, '[personal]');
      },
      report: reports.add,
      wait: () => setImmediate(),
    });
    desk = made;
    await made.start();
    return made;
  };
  const first = await start();
  onTestFinished(async () => {
    await current().stop();
    await standIn.close();
    await listener.close();
    await upstream.close();
    store.close();
    rmSync(home, { recursive: true, force: true });
  });
  return Object.assign(bench, {
    standIn,
    desk: first,
    approvals,
    person,
    received: received.list,
    reports: reports.list,
    untilReceived: (text: string) => received.until((message) => message.text === text),
    untilReport: (kind: ChannelReport['kind']) => reports.until((one) => one.kind === kind),
    owner: (text: string, more: Partial<Saying> = {}) =>
      standIn.say({ from: owner, text, ...more }),
    ask: (call: Partial<ApprovalCall> = {}) => {
      const asked = approvals.queue.ask(question(call));
      if (asked.kind !== 'asked') throw new Error(JSON.stringify(asked));
      const ended = new Promise<Ended>((resolve) => approvals.queue.watch([asked.id], resolve));
      return { id: asked.id, ended };
    },
    pair: (sender: string) => store.pair({ channel, sender, senderName: '', atMs: 0 }),
    restart: async () => {
      await current().stop();
      standIn.cut?.();
      return start();
    },
  });
}

function question(call: Partial<ApprovalCall>) {
  return {
    call: {
      run_id: RUN,
      call_id: uuidv7(),
      server: 'email',
      tool: 'send',
      args_hash: 'a'.repeat(64),
      policy_hash: 'b'.repeat(64),
      rule_id: 'human_approval',
      args: { to: ['ann@example.com'], subject: 'Lunch', body: 'At noon?' },
      args_complete: true,
      risk: ['egress'],
      reason: 'Sending mail needs your word.',
      ...call,
    },
    agent: { agent_id: 'steward', client: 'custom', env: 'dev', principal: 'owner' },
    about: {
      reasoning: 'Ann has asked when to meet.',
      task: 'Answer the mail of Ann.',
      channel: 'a channel',
      request: 'Tell Ann that noon is fine.',
      judgements: [{ by: 'guardian', verdict: 'ALLOW', reason: 'It is what was asked for.' }],
    },
    wait: 'hold',
    timeoutMs: 300_000,
    askedBy: { pid: process.pid, start: 'now' },
  } as const;
}
