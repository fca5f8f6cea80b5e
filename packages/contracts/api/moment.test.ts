import { expect, test } from 'vitest';
import { durationMs, momentMs } from './moment.ts';

const NOW_MS = Date.parse('2026-03-01T00:00:00Z');

test.each([
  ['90s', '2026-02-28T23:58:30.000Z'],
  ['15m', '2026-02-28T23:45:00.000Z'],
  ['3d', '2026-02-26T00:00:00.000Z'],
  ['1w', '2026-02-22T00:00:00.000Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
  ['2026-01-31 12:00:00.5z', '2026-01-31T12:00:00.500Z'],
])('%s is %s', (text, time) => {
  expect(new Date(momentMs(text, NOW_MS) ?? 0).toISOString()).toBe(time);
});

test.each(['', 'now', '3', 'd', '-3d', '3y', '2026-02-30', '2026-13-01', '2026-01-31T12:00:00'])(
  '`%s` is no time',
  (text) => expect(momentMs(text, NOW_MS)).toBe(undefined),
);

test('a duration is counted in milliseconds', () => {
  expect(durationMs('2h')).toBe(7_200_000);
  expect(durationMs('2026-01-31')).toBe(undefined);
});
