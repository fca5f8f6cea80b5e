import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { SqlValue } from './load.ts';
import { type Search, scanCalls } from './scan-calls.ts';

const ALL: Search = { access: '', conditions: [] };

/** Calls from `newest` down to 1, each at the time of its id. */
function callsDownFrom(newest: number) {
  return {
    get: (_sql: string, ...values: readonly SqlValue[]) => {
      const offset = Number(values.at(-1));
      const before = values.length > 1 ? Number(values[0]) : newest + 1;
      const id = before - 1 - offset;
      return id < 1 ? undefined : { created_at: id, id };
    },
  };
}

/** The time that goes by with each look. */
function steadyClock(lookMs: number) {
  let nowMs = 0;
  return {
    clockMs: () => nowMs,
    look: () => {
      nowMs += lookMs;
      return false;
    },
  };
}

test('a search ends after a while, wherever it is, and says where', async () => {
  const slow = await scanCalls(callsDownFrom(10_000), ALL, steadyClock(400));
  // 20, then half of it, then half of that.
  expect(slow).toEqual({ atMs: 10_000 - 34, id: String(10_000 - 34) });
  expect(await scanCalls(callsDownFrom(10_000), ALL, steadyClock(1))).toBeUndefined();
  const many = await scanCalls(callsDownFrom(1_000_000), ALL, steadyClock(0));
  expect(1_000_000 - Number(many?.id)).toBeGreaterThanOrEqual(49_999);
});

test('others get their turn between the pieces, and searches come one after the other', async () => {
  const connection = callsDownFrom(6_000);
  const seen: string[] = [];
  const search = (name: string) =>
    scanCalls(connection, ALL, { look: () => seen.push(name) < 0, clockMs: () => 0 });
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  await Promise.all([search('a'), search('b')]);
  isOver = true;
  await others;
  expect(turns).toBeGreaterThanOrEqual(seen.length - 1);
  expect(seen.join('')).toMatch(/^a{5,}b{5,}$/);
});

test('a search that fails keeps no other from its turn', async () => {
  const connection = callsDownFrom(10);
  const failing = scanCalls(connection, ALL, {
    look: () => {
      throw new Error('no');
    },
  });
  const next = scanCalls(connection, ALL, { look: () => true });
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBeUndefined();
});
