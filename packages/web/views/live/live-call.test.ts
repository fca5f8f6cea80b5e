import { expect, test } from 'vitest';
import { type LiveCall, mergeCalls } from './live-call.ts';

function call(id: number, atMs: number, status: string | null = null): LiveCall {
  const names = { runId: 'r', callId: `c${id}`, place: 's', name: 't', agent: 'a', rule: '' };
  const none = { decision: null, would: null, latencyMs: null, isTurn: false, argument: '' };
  return { key: `r c${id}`, id, atMs, status, ...names, ...none };
}

function ids(rows: readonly LiveCall[]) {
  return rows.map(({ id }) => id);
}

test('new calls stand above older ones, late ones where their time puts them', () => {
  const rows = [call(5, 50), call(3, 30), call(1, 10)];
  expect(ids(mergeCalls(rows, [call(6, 60), call(4, 30), call(2, 5)]))).toEqual([6, 5, 4, 3, 1, 2]);
});

test('a call that has changed stays in its place', () => {
  const merged = mergeCalls([call(2, 20), call(1, 10)], [call(1, 10, 'OK')]);
  expect(merged.map(({ id, status }) => [id, status])).toEqual([
    [2, null],
    [1, 'OK'],
  ]);
});

test('without anything new the list is the same', () => {
  const rows = [call(1, 1)];
  expect(mergeCalls(rows, [])).toBe(rows);
  expect(ids(mergeCalls([], rows))).toEqual([1]);
});
