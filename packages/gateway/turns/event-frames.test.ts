import { sseReader } from '@subluminal/core/wires';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeEnd, dataFrame, withoutByteOrderMarks } from './event-frames.ts';

const bytes = (text: string) => Buffer.from(text);

test.each([
  ['nothing complete', 'event: a\ndata: 1\n', 0],
  ['one event', 'data: 1\n\n', 9],
  ['an event and the start of the next', 'data: 1\n\ndata: 2\n', 9],
  ['carriage returns', 'data: 1\r\n\r\ndata', 11],
  ['both kinds of line ends', 'data: 1\n\r\n', 10],
  ['a comment', ': ping\n\n', 8],
  ['no bytes', '', 0],
])('the end of what is complete is found with %s', (_what, text, end) => {
  expect(completeEnd(bytes(text))).toBe(end);
});

test('an event is found behind others, comments not counted', () => {
  const text = ': ping\n\ndata: 1\n\nevent: x\r\ndata: 2\r\n\r\ndata: 3\n\n';
  const frame = (skipped: number) => {
    const { start, end } = dataFrame(bytes(text), skipped);
    return text.slice(start, end);
  };
  expect(frame(0)).toBe('data: 1\n\n');
  expect(frame(1)).toBe('event: x\r\ndata: 2\r\n\r\n');
  expect(frame(2)).toBe('data: 3\n\n');
});

test('a field that only begins like data is none', () => {
  const text = 'database: 1\n\ndata: 2\n\n';
  expect(dataFrame(bytes(text), 0)).toEqual({ start: 13, end: 22 });
});

const PIECES = [
  '\n',
  '\r',
  '\r\n',
  'data: 1',
  'data: 2',
  'data',
  'database: 3',
  'event: x',
  ': ping',
  'id: 4',
];
const STREAMS = fc
  .array(fc.constantFrom(...PIECES, '\uFEFF'), { maxLength: 30 })
  .map((pieces) => withoutByteOrderMarks(bytes(`${pieces.join('')}\n\n`)));

test('each event that a reader sees has its frame, whatever ends its lines', () => {
  const read = (stream: Buffer) => sseReader({ eventBytesMax: 4_096 }).push(stream);
  const words = ({ event, data }: { readonly event: string; readonly data: string }) => [
    event,
    data,
  ];
  fc.assert(
    fc.property(STREAMS, (stream) => {
      const frames = read(stream).map((_event, place) => {
        const { start, end } = dataFrame(stream, place);
        // A frame is read in the middle of a stream.
        return read(Buffer.concat([bytes('\n'), stream.subarray(start, end)])).map(words);
      });
      expect(frames).toEqual(read(stream).map((event) => [words(event)]));
    }),
    { numRuns: 2_000 },
  );
});
