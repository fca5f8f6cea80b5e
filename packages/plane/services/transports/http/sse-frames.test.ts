import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Incoming } from '../types.ts';
import { MessageGatherer, type MessageLimits } from './gather-message.ts';
import { SseFrames } from './sse-frames.ts';

interface Read {
  readonly messages: string[];
  readonly kinds: string[];
  readonly ids: string[];
  readonly retries: number[];
  readonly events: { readonly name: string; readonly text: string | undefined }[];
}

/** Reads a stream that comes in these pieces. */
function readAll(pieces: readonly (string | Uint8Array)[], limits: MessageLimits = {}): Read {
  const read: Read = { messages: [], kinds: [], ids: [], retries: [], events: [] };
  const gather = new MessageGatherer(limits, {
    emit: (incoming: Incoming) => {
      read.kinds.push(incoming.kind);
      if ('bytes' in incoming) read.messages.push(Buffer.from(incoming.bytes).toString());
    },
    beginLarge: () => true,
    endLarge: () => {},
  });
  const frames = new SseFrames(gather, {
    event: (event) => void read.events.push(event),
    id: (id) => void read.ids.push(id),
    retry: (retryMs) => void read.retries.push(retryMs),
  });
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    expect(frames.feed(bytes)).toBe(bytes.length);
  }
  frames.end();
  return read;
}

describe('a stream of events', () => {
  it('holds no more of an event with a name than of a field', () => {
    const lines = Array.from({ length: 10_000 }, () => `data: ${'x'.repeat(1_000)}\n`);
    const { events, messages } = readAll(['event: endpoint\n', ...lines, '\n']);
    expect(events).toHaveLength(1);
    expect(events[0]?.text?.length).toBeLessThan(5_000);
    expect(messages).toEqual([]);
  });

  it.each([
    ['an event', 'data: {"a":1}\n\n', ['{"a":1}']],
    ['no space behind the colon', 'data:{"a":1}\n\n', ['{"a":1}']],
    ['a name', 'event: message\ndata: {"a":1}\n\n', ['{"a":1}']],
    ['CR LF', 'event: message\r\ndata: {"a":1}\r\n\r\n', ['{"a":1}']],
    ['CR alone', 'data: {"a":1}\r\rdata: {"b":2}\r\r', ['{"a":1}', '{"b":2}']],
    ['several lines of data', 'data: {"a":\ndata: 1}\n\n', ['{"a": 1}']],
    ['a byte order mark', '\u{feff}data: {"a":1}\n\n', ['{"a":1}']],
    ['comments', ': ping\n\n:\n\ndata: 1\n\n', ['1']],
    ['an unknown field', 'colour: red\ndata: 1\n\n', ['1']],
    ['a field without a colon', 'data\ndata: 1\n\n', [' 1']],
    ['no data', 'id: 7\ndata:\n\n', []],
    ['no end', 'data: {"a":1}\n', []],
    ['a long unknown field', `${'x'.repeat(10_000)}: 1\ndata: 1\n\n`, ['1']],
  ])('is read with %s, however it is cut', (_, text, wanted) => {
    expect(readAll([text]).messages).toEqual(wanted);
    expect(readAll([...Buffer.from(text)].map((byte) => Uint8Array.of(byte))).messages).toEqual(
      wanted,
    );
  });

  it('says where it can be resumed and when', () => {
    const read = readAll(['id: one\nretry: 500\ndata:\n\nid: two\ndata: 1\n\nid: lost\n']);
    expect([read.ids, read.retries]).toEqual([['one', 'two'], [500]]);
  });

  it('does not take an event of another name for a message', () => {
    const read = readAll(['event: endpoint\ndata: /messages?s=1\n\ndata: 1\n\n']);
    expect(read.messages).toEqual(['1']);
    expect(read.events).toEqual([
      { name: 'endpoint', text: '/messages?s=1' },
      { name: 'message', text: undefined },
    ]);
  });

  it('passes a large message on in parts', () => {
    const read = readAll(['data: 123', '45678\n', '\ndata: 1\n\n'], { inspectBytesMax: 4 });
    expect(read.kinds).toEqual(['head', 'piece', 'end', 'message']);
    expect(read.messages.slice(0, 2).join('')).toBe('12345678');
  });

  it('breaks a large message off when the stream ends, and beyond the cap', () => {
    expect(readAll(['data: 12345678'], { inspectBytesMax: 4 }).kinds.at(-1)).toBe('end');
    const read = readAll(['data: 12345678\n\ndata: 1\n\n'], {
      inspectBytesMax: 4,
      messageBytesMax: 6,
    });
    expect(read.kinds).toEqual(['head', 'too_large', 'message']);
  });

  it('gives the same messages whatever the pieces', () => {
    const message = fc.string({
      unit: fc.constantFrom('a', 'é', '{', ':', ' ', '"'),
      minLength: 1,
    });
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(fc.nat({ max: 9 }), { maxLength: 30 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        (messages, sizes, end) => {
          const wanted = messages.filter((one) => one.trim() !== '');
          let rest = Buffer.from(messages.map((one) => `data: ${one}${end}${end}`).join(''));
          const pieces: Buffer[] = [];
          for (const size of sizes) {
            pieces.push(rest.subarray(0, size));
            rest = rest.subarray(size);
          }
          expect(readAll([...pieces, rest]).messages).toEqual(wanted);
        },
      ),
    );
  });
});
