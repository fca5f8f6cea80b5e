import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import {
  type CounterTable,
  ENTRIES_MAX,
  emptyTable,
  keyIn,
  keyName,
  tableGet,
  tableSet,
  tableSize,
  withLimits,
} from './table.ts';

const LIFE_MS = 100;
const SHARE = { lifeMs: LIFE_MS, whenFull: 'share' } as const;
const EVICT = { lifeMs: LIFE_MS, whenFull: 'evict' } as const;

function filled(
  limits: CounterTable<number>['limits'],
  count: number,
  nowMs = 0,
): CounterTable<number> {
  let table = emptyTable<number>(limits);
  for (let index = 0; index < count; index++) {
    table = tableSet(table, keyIn(table, `k${index}`), { value: index, nowMs });
  }
  return table;
}

describe('a table', () => {
  it('keeps an entry for its life after it was written', () => {
    const writes = fc.array(
      fc.record({ key: fc.constantFrom('a', 'b', 'c'), stepMs: fc.nat(2 * LIFE_MS) }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(writes, fc.constantFrom(SHARE, EVICT), (list, limits) => {
        let table = emptyTable<number>(limits);
        let nowMs = 0;
        const written = new Map<string, { value: number; atMs: number }>();
        for (const [value, { key, stepMs }] of list.entries()) {
          nowMs += stepMs;
          table = tableSet(table, key, { value, nowMs });
          written.set(key, { value, atMs: nowMs });
          for (const [known, entry] of written) {
            const found = tableGet(table, known);
            expect(nowMs - entry.atMs >= LIFE_MS || found === entry.value).toBe(true);
          }
        }
      }),
    );
  });

  it('forgets entries that were not written for three lifetimes', () => {
    let table = tableSet(emptyTable<number>(SHARE), 'old', { value: 1, nowMs: 0 });
    for (const nowMs of [90, 180, 300]) table = tableSet(table, 'other', { value: 2, nowMs });
    expect(tableGet(table, 'old')).toBeUndefined();
    expect(tableGet(table, 'other')).toBe(2);
  });

  it('forgets everything after a long silence', () => {
    const table = tableSet(filled(SHARE, 1_000), 'new', { value: 1, nowMs: 2 * LIFE_MS });
    expect(tableSize(table)).toBe(1);
  });

  it('forgets nothing early when the clock goes back', () => {
    const times = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(times, (list) => {
        let table = tableSet(emptyTable<number>(SHARE), 'kept', { value: 7, nowMs: 500 });
        let forwardMs = 0;
        let lastMs = 500;
        for (const nowMs of list) {
          forwardMs += Math.max(0, nowMs - lastMs);
          lastMs = nowMs;
          table = tableSet(table, 'other', { value: 1, nowMs });
          expect(forwardMs >= LIFE_MS || tableGet(table, 'kept') === 7).toBe(true);
        }
      }),
    );
  });

  it('still forgets after the clock went back', () => {
    let table = tableSet(emptyTable<number>(SHARE), 'old', { value: 1, nowMs: 1e12 });
    for (const nowMs of [0, 100, 200, 300]) table = tableSet(table, 'x', { value: 2, nowMs });
    expect(tableGet(table, 'old')).toBeUndefined();
  });

  it('that lives for the run never forgets', () => {
    let table = emptyTable<number>({ lifeMs: Number.POSITIVE_INFINITY, whenFull: 'share' });
    table = tableSet(table, 'first', { value: 1, nowMs: 0 });
    for (const nowMs of [1e9, 1e12, 5, 1e15]) table = tableSet(table, 'x', { value: 2, nowMs });
    expect(tableGet(table, 'first')).toBe(1);
  });

  it('leaves an older version of itself as it was', () => {
    const before = tableSet(emptyTable<number>(SHARE), 'a', { value: 1, nowMs: 0 });
    const after = tableSet(before, 'a', { value: 2, nowMs: 250 });
    expect([tableGet(before, 'a'), tableGet(after, 'a'), tableGet(before, 'a')]).toEqual([1, 2, 1]);
  });
});

describe('a full table', () => {
  it('counts new names together when it shares, and never resets a known one', () => {
    verifies('SL-7.3');
    const table = filled(SHARE, ENTRIES_MAX);
    expect(tableSize(table)).toBe(ENTRIES_MAX);
    expect(keyIn(table, 'k0')).toBe('k0');
    expect(keyIn(table, 'new')).toBe(keyIn(table, 'newer'));
    expect(keyIn(table, 'new')).not.toBe('new');
    const shared = tableSet(table, keyIn(table, 'new'), { value: 99, nowMs: 0 });
    expect(tableGet(shared, keyIn(shared, 'newer'))).toBe(99);
    expect(tableGet(shared, 'k0')).toBe(0);
  });

  it('forgets the oldest when it evicts, and keeps the newest half', () => {
    const table = filled(EVICT, 3 * ENTRIES_MAX);
    expect(tableSize(table)).toBeLessThanOrEqual(ENTRIES_MAX);
    expect(tableGet(table, 'k0')).toBeUndefined();
    for (let back = 1; back <= ENTRIES_MAX / 2; back++) {
      const index = 3 * ENTRIES_MAX - back;
      expect(tableGet(table, `k${index}`)).toBe(index);
    }
  });

  it('stays bounded while time goes on', () => {
    for (const limits of [SHARE, EVICT]) {
      let table = emptyTable<number>(limits);
      let largest = 0;
      for (let index = 0; index < 60_000; index++) {
        const nowMs = Math.floor(index / 150);
        table = tableSet(table, keyIn(table, `k${index}`), { value: index, nowMs });
        largest = Math.max(largest, tableSize(table));
      }
      expect(largest).toBeLessThanOrEqual(2 * (ENTRIES_MAX + 1));
    }
  });

  it('has room again once its names are old', () => {
    const table = tableSet(filled(SHARE, ENTRIES_MAX), 'x', { value: 1, nowMs: 2 * LIFE_MS });
    expect(keyIn(table, 'new')).toBe('new');
  });

  it('keeps its entries under new limits', () => {
    const table = withLimits(filled(SHARE, 10), { lifeMs: 5, whenFull: 'evict' });
    expect(tableGet(table, 'k3')).toBe(3);
    expect(tableSize(tableSet(table, 'x', { value: 1, nowMs: 10 }))).toBe(1);
  });
});

describe('keyName', () => {
  it('keeps short names, and cuts long ones without mixing them up', () => {
    const long = 'x'.repeat(100_000);
    expect(keyName('name')).toBe('name');
    expect(keyName('x'.repeat(256))).toBe('x'.repeat(256));
    expect(keyName(long).length).toBeLessThan(300);
    const all = [long, `${long}y`, `${long.slice(1)}y`, 'x'.repeat(256), 'x'.repeat(257)].map(
      keyName,
    );
    expect(new Set(all).size).toBe(5);
  });
});
