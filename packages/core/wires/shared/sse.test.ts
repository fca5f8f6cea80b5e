import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SseEvent, sseReader, sseText } from './sse.ts';

const LIMIT = { eventBytesMax: 1_000 };

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function eventsOf(...pieces: readonly (string | Uint8Array)[]): readonly SseEvent[] {
  const reader = sseReader(LIMIT);
  return pieces.flatMap((piece) => reader.push(typeof piece === 'string' ? bytesOf(piece) : piece));
}

describe('the SSE reader', () => {
  it.each([
    ['line feeds', 'event: a\ndata: 1\n\ndata: 2\n\n'],
    ['carriage returns', 'event: a\rdata: 1\r\rdata: 2\r\r'],
    ['both', 'event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n'],
    ['a mixture', 'event: a\r\ndata: 1\n\rdata: 2\r\n\n'],
  ])('reads events whose lines end with %s', (_, text) => {
    const events = [
      { event: 'a', data: '1' },
      { event: 'message', data: '2' },
    ];
    expect(eventsOf(text)).toEqual(events);
  });

  it.each<[string, string, readonly SseEvent[]]>([
    ['joins several lines of data', 'data: a\ndata:b\ndata:  c\n\n', [message('a\nb\n c')]],
    ['keeps data that is empty', 'data\n\ndata:\n\n', [message(''), message('')]],
    ['ignores comments', ': hello\ndata: 1\n:\n\n: bye\n\n', [message('1')]],
    ['drops an event without data', 'event: a\n\ndata: 1\n\n', [message('1')]],
    ['ignores fields that it does not know', 'retry: 3\nfoo: 1\nDATA: 2\n\n', []],
    ['takes off a byte order mark, once', '\uFEFFdata: 1\n\n\uFEFFdata: 2\n\n', [message('1')]],
    ['keeps the colons of a value', 'data: {"a":1}\n\n', [message('{"a":1}')]],
    ['drops what has not ended', 'data: 1\n\ndata: 2\n', [message('1')]],
  ])('%s', (_, text, events) => {
    expect(eventsOf(text)).toEqual(events);
  });

  it('gives an event the id that was sent last', () => {
    const events = eventsOf('id: 7\ndata: 1\n\ndata: 2\n\nid: 8\0\ndata: 3\n\n');
    expect(events.map(({ id }) => id)).toEqual(['7', '7', '7']);
  });

  it('takes a line feed at the start of a piece for a part of the carriage return before it', () => {
    expect(eventsOf('data: 1\r', '\ndata: 2\r', '\n', '\r', '\n')).toEqual([message('1\n2')]);
  });

  it('replaces what is not UTF-8, and reads on', () => {
    const bytes = Uint8Array.of(...bytesOf('data: a'), 0xff, 0xc3, ...bytesOf('b ä\n\n'));
    expect(eventsOf(bytes)).toEqual([message('a\uFFFD\uFFFDb ä')]);
  });

  it.each([
    ['one long line', ['data: ', 'x'.repeat(2_000)]],
    ['a line in many pieces', Array.from({ length: 2_000 }, () => 'x')],
    ['a whole line that is too long', [`data: ${'x'.repeat(2_000)}\n\n`]],
    ['many lines of data', [`data: ${'x'.repeat(90)}\n`.repeat(12)]],
    ['many empty lines of data', ['data\n'.repeat(2_000)]],
    ['a comment without an end', [`:${'x'.repeat(2_000)}`]],
  ])('stops at %s', (_, pieces) => {
    const reader = sseReader(LIMIT);
    const before = reader.push(bytesOf('data: 1\n\n'));
    expect(before).toEqual([message('1')]);
    const events = pieces.flatMap((piece) => reader.push(bytesOf(piece)));
    expect(events).toEqual([]);
    expect(reader.isTooLarge).toBe(true);
    expect(reader.push(bytesOf('\n\ndata: 2\n\n'))).toEqual([]);
  });

  it('never counts events that have ended', () => {
    const reader = sseReader(LIMIT);
    const text = `:${'c'.repeat(900)}\ndata: ${'x'.repeat(900)}\n\n`;
    for (let count = 0; count < 50; count++) expect(reader.push(bytesOf(text))).toHaveLength(1);
    expect(reader.isTooLarge).toBe(false);
  });

  it('reads a stream alike however it is cut', () => {
    const piece = fc.constantFrom(
      'data',
      'event',
      'id',
      ': ',
      ':',
      '\n',
      '\r',
      '\r\n',
      'é',
      '😀',
      'x',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.array(fc.nat(40)), (words, cuts) => {
        const bytes = bytesOf(words.join(''));
        const pieces: Uint8Array[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(bytes.subarray(at, at + cut));
          at = Math.min(bytes.length, at + cut);
        }
        pieces.push(bytes.subarray(at));
        expect(eventsOf(...pieces)).toEqual(eventsOf(bytes));
      }),
    );
  });

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(Array.isArray(eventsOf(bytes))).toBe(true);
      }),
    );
  });
});

describe('sseText', () => {
  it('writes what the reader reads', () => {
    const data = fc.string({ unit: 'binary-ascii' }).map((text) => text.replaceAll('\r', '\n'));
    fc.assert(
      fc.property(fc.constantFrom('message', 'ping'), data, (event, text) => {
        expect(eventsOf(sseText(event, text))).toEqual([{ event, data: text }]);
      }),
    );
  });

  it('names no event that is a plain message', () => {
    expect(sseText('message', '[DONE]')).toBe('data: [DONE]\n\n');
    expect(sseText('ping', '{}')).toBe('event: ping\ndata: {}\n\n');
  });
});

function message(data: string): SseEvent {
  return { event: 'message', data };
}
