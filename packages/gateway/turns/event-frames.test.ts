import { expect, test } from 'vitest';
import { completeEnd, dataFrame } from './event-frames.ts';

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
