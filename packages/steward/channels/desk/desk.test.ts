import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { splitText } from '../shared/split-text.ts';
import type { Channel, InboundMessage, SendResult } from '../shared/types.ts';
import { Admissions } from './admission.ts';
import { openChannelStore } from './channel-store.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';
import { PairingCodes } from './pairing-codes.ts';
import { RateWindow } from './rate-window.ts';

const NOW_MS = Date.parse('2026-01-31T12:00:00Z');
let count = 0;

function message(more: Partial<InboundMessage> = {}): InboundMessage {
  count += 1;
  return {
    channel: 'telegram',
    conversation: 'chat',
    sender: 'owner',
    senderName: 'Owner',
    messageId: String(count),
    text: 'Hello.',
    atMs: NOW_MS,
    place: 'direct',
    isMention: false,
    ...more,
  };
}

async function admissions() {
  const folder = mkdtempSync(join(tmpdir(), 'sub-admission-'));
  const store = await openChannelStore(join(folder, 'channels.db'));
  if (isFailure(store)) throw new Error(store.message);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });
  const allowed = ['owner', ...Array.from({ length: 9 }, (_, at) => `friend-${at}`)];
  const access = { allowed, groups: ['room'] };
  return new Admissions(new Map([['telegram', access]]), store);
}

describe('admission', () => {
  test('opens the breaker of a channel when all senders together are too many, and closes it again', async () => {
    const desk = await admissions();
    const kinds = Array.from({ length: 8 }, (_, at) =>
      Array.from({ length: 8 }, () => desk.admit(message({ sender: `friend-${at}` }), NOW_MS).kind),
    ).flat();
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(60);
    expect(kinds.filter((kind) => kind === 'answered')).toHaveLength(1);
    const laterMs = NOW_MS + 240_000;
    expect(desk.admit(message({ atMs: laterMs }), laterMs)).toEqual({
      kind: 'ignored',
      why: 'flood',
    });
    const muchLaterMs = NOW_MS + 300_001;
    expect(desk.admit(message({ atMs: muchLaterMs }), muchLaterMs).kind).toBe('accepted');
  });

  test('answers few strangers, and lets none of them use up what the user has', async () => {
    const desk = await admissions();
    const told = Array.from({ length: 500 }, (_, at) =>
      desk.admit(message({ sender: `stranger-${at}` }), NOW_MS),
    ).filter(({ kind }) => kind === 'answered');
    expect(told).toHaveLength(3);
    expect(desk.admit(message(), NOW_MS).kind).toBe('accepted');
  });

  test('refuses messages from the future, without ids, without text, and endless ones', async () => {
    const desk = await admissions();
    const why = (more: Partial<InboundMessage>) => {
      const admission = desk.admit(message(more), NOW_MS);
      return admission.kind === 'accepted' ? 'accepted' : `${admission.kind} ${admission.why}`;
    };
    expect(why({ atMs: NOW_MS + 301_000 })).toBe('ignored replay');
    expect(why({ atMs: Number.NaN })).toBe('ignored malformed');
    expect(why({ messageId: '' })).toBe('ignored malformed');
    expect(why({ sender: 'x'.repeat(257) })).toBe('ignored malformed');
    expect(why({ text: ' \n' })).toBe('answered malformed');
    expect(why({ text: 'x'.repeat(16_001) })).toBe('answered malformed');
    expect(why({ isForwarded: true })).toBe('answered forwarded');
  });
});

describe('pairing codes', () => {
  test('expire, count once, and are void after a few wrong ones', () => {
    const codes = new PairingCodes();
    const first = codes.issue(message({ sender: 'a' }), NOW_MS) ?? '';
    expect(first).toMatch(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/);
    expect(codes.issue(message({ sender: 'a' }), NOW_MS)).toBeUndefined();
    expect(codes.redeem(first, NOW_MS + 900_001)).toEqual({ kind: 'unknown' });
    const second = codes.issue(message({ sender: 'a' }), NOW_MS + 900_001) ?? '';
    expect(codes.redeem(first, NOW_MS + 900_002)).toEqual({ kind: 'unknown' });
    const wrong = Array.from({ length: 3 }, () => codes.redeem('AAAA-AAAA', NOW_MS + 900_003).kind);
    expect(wrong).toEqual(['unknown', 'unknown', 'void']);
    expect(codes.redeem(second, NOW_MS + 900_004)).toEqual({ kind: 'unknown' });
  });
});

test('a rate window tells the first one too many from the others, and forgets the oldest keys', () => {
  const window = new RateWindow({ countMax: 2, windowMs: 1_000 });
  const verdicts = [0, 1, 2, 3, 1_000].map((atMs) => window.take('key', NOW_MS + atMs));
  expect(verdicts).toEqual(['within', 'within', 'first_over', 'over', 'within']);
});

test('an inbox hands messages over in order within a conversation, and is bounded', async () => {
  const seen: string[] = [];
  const holds: (() => void)[] = [];
  const inbox = new Inbox(async ({ text }) => {
    await new Promise<void>((resolve) => holds.push(resolve));
    seen.push(text);
  });
  const taken = Array.from({ length: 21 }, (_, at) => inbox.take(message({ text: String(at) })));
  const elsewhere = inbox.take(message({ text: 'elsewhere', conversation: 'other' }));
  expect(await taken[20]).toBe('busy');
  while (seen.length < 21) {
    holds.shift()?.();
    await Promise.resolve();
  }
  expect([...new Set(await Promise.all([...taken.slice(0, 20), elsewhere]))]).toEqual(['taken']);
  expect(seen.filter((text) => text !== 'elsewhere')).toEqual(
    Array.from({ length: 20 }, (_, at) => String(at)),
  );
});

test('an outbox waits as long as a service wants, gives up when that is too long, and stops an agent that talks without end', async () => {
  const waits: number[] = [];
  const results: SendResult[] = [{ kind: 'later', why: 'Busy.', afterMs: 5_000 }];
  const sent: string[] = [];
  const channel = {
    send: async (_to: unknown, { text }: { readonly text: string }) => {
      const next = results.shift();
      if (next === undefined) sent.push(text);
      return next ?? { kind: 'sent', ref: '1' };
    },
  } as Partial<Channel> as Channel;
  const outbox = new Outbox({
    nowMs: () => NOW_MS,
    wait: async (ms) => void waits.push(ms),
  });
  const to = { channel: 'telegram', conversation: 'chat' } as const;
  expect(await outbox.send(channel, to, [{ text: 'a' }, { text: 'b' }])).toEqual({
    kind: 'sent',
    ref: '1',
  });
  expect([waits, sent]).toEqual([[5_000], ['a', 'b']]);
  results.push({ kind: 'later', why: 'Busy.', afterMs: 3_600_000 });
  const late = await outbox.send(channel, to, [{ text: 'c' }, { text: 'd' }]);
  expect(late).toMatchObject({ kind: 'later', why: 'Busy. 2 of 2 parts were not sent.' });
  const many = Array.from({ length: 60 }, () => ({ text: 'x' }));
  expect((await outbox.send(channel, to, many)).kind).toBe('refused');
  expect(sent.length).toBeLessThanOrEqual(60);
});

test('a split text loses nothing but space at its breaks, and no part is too long', () => {
  const escape = (text: string) => text.replaceAll(/[*_]/g, '\\$&');
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('word', ' ', '\n', '*', '_', '😀', 'x'.repeat(30)), {
        maxLength: 200,
      }),
      (pieces) => {
        const text = pieces.join('');
        const { parts, leftOut } = splitText(text, { lengthMax: 24, partsMax: 10_000, escape });
        expect(leftOut).toBe(0);
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(24);
        const bare = (some: string) => some.replaceAll(/\s/g, '');
        expect(bare(parts.join(''))).toBe(bare(escape(text)));
        for (const part of parts) expect(part).not.toMatch(/\p{Cs}/u);
      },
    ),
  );
});
