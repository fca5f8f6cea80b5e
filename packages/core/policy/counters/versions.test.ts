import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyVersions, type Versions, versionGet, versionSet, versionSize } from './table.ts';

const KEYS = ['a', 'b', 'c', '__proto__', 'constructor', ''] as const;

/** Every version next to a plain copy of what it must hold. */
interface Kept {
  readonly version: Versions<number>;
  readonly model: ReadonlyMap<string, number>;
}

function expectSame({ version, model }: Kept): void {
  expect(versionSize(version)).toBe(model.size);
  for (const key of KEYS) expect(versionGet(version, key)).toBe(model.get(key));
}

const steps = fc.array(
  fc.record({
    /** Which of the versions so far is written to, or only read. */
    from: fc.nat(),
    key: fc.constantFrom(...KEYS),
    value: fc.nat(9),
    write: fc.boolean(),
  }),
  { maxLength: 60 },
);

describe('versions', () => {
  it('each read as a plain map, in whatever order they are written and read', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const kept: Kept[] = [{ version: emptyVersions(), model: new Map() }];
        for (const { from, key, value, write } of list) {
          const base = kept[from % kept.length];
          if (base === undefined) continue;
          if (!write) expectSame(base);
          else {
            const version = versionSet(base.version, key, value);
            kept.push({ version, model: new Map(base.model).set(key, value) });
          }
        }
        for (const one of kept) expectSame(one);
        for (const one of kept.toReversed()) expectSame(one);
      }),
      { numRuns: 300 },
    );
  });

  it('let two futures grow from one past', () => {
    const past = versionSet(emptyVersions<number>(), 'x', 1);
    const left = versionSet(past, 'x', 2);
    const right = versionSet(past, 'y', 3);
    expect([past, left, right].map((one) => versionGet(one, 'x'))).toEqual([1, 2, 1]);
    expect([past, left, right].map((one) => versionGet(one, 'y'))).toEqual([
      undefined,
      undefined,
      3,
    ]);
    expect([past, left, right].map(versionSize)).toEqual([1, 1, 2]);
  });

  it('read an old version after a long history, and the new one again', () => {
    const first = versionSet(emptyVersions<number>(), 'k', 0);
    let last = first;
    for (let index = 1; index <= 50_000; index++) last = versionSet(last, `k${index % 100}`, index);
    expect([versionSize(first), versionGet(first, 'k1')]).toEqual([1, undefined]);
    expect([versionSize(last), versionGet(last, 'k1')]).toEqual([101, 49_901]);
    expect(versionGet(first, 'k')).toBe(0);
  });

  it('of one map know nothing of those of another', () => {
    versionSet(emptyVersions<number>(), 'x', 1);
    expect(versionSize(emptyVersions())).toBe(0);
  });
});
