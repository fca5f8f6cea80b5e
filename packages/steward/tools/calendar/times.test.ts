import { expect, test } from 'vitest';
import { dayAfter, isTimeZone, readTime, shownAt } from './times.ts';

const BERLIN = 'Europe/Berlin';

test.each([
  ['2026-07-03T16:00', BERLIN, '2026-07-03T14:00:00.000Z'],
  ['2026-12-03 16:00', BERLIN, '2026-12-03T15:00:00.000Z'],
  ['2026-07-03T16:00:00Z', BERLIN, '2026-07-03T16:00:00.000Z'],
  ['2026-07-03T16:00-05:00', BERLIN, '2026-07-03T21:00:00.000Z'],
  // Clocks are put forward over it.
  ['2026-03-29T02:30', BERLIN, '2026-03-29T01:30:00.000Z'],
  // Clocks show it twice.
  ['2026-10-25T02:30', BERLIN, '2026-10-25T00:30:00.000Z'],
  ['2026-10-25T03:30', BERLIN, '2026-10-25T02:30:00.000Z'],
  ['2026-01-01T00:00', 'Asia/Kathmandu', '2025-12-31T18:15:00.000Z'],
  ['2026-01-01T00:00', 'Pacific/Kiritimati', '2025-12-31T10:00:00.000Z'],
])('%s in %s is %s', (text, zone, expected) => {
  const read = readTime(text, zone);
  expect(read?.kind === 'time' ? new Date(read.ms).toISOString() : undefined).toBe(expected);
});

test.each([
  '',
  'noon',
  '2026-02-30',
  '2026-13-01T10:00',
  '2026-01-01T25:00',
  '2026-01-01T10:00X',
  '20260101',
])('%j is no time', (text) => {
  expect(readTime(text, BERLIN)).toBeUndefined();
});

test('a day is a day', () => {
  expect(readTime('2026-02-28', BERLIN)).toEqual({ kind: 'day', day: '2026-02-28' });
  expect(dayAfter('2026-02-28')).toBe('2026-03-01');
  expect(shownAt(Date.parse('2026-11-20T23:30:00Z'), BERLIN)).toBe('2026-11-21 00:30');
});

test('zones are known by their names', () => {
  expect([BERLIN, 'UTC', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false]);
});
