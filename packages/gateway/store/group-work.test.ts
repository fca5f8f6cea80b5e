import { expect, it } from 'vitest';
import { GroupedWork, type GroupOptions } from './group-work.ts';
import { storeFailure } from './store-failure.ts';

const down = () => storeFailure('SUB_STORE_DOWN', 'It is away.');

function grouped(options: Partial<GroupOptions<number, number>>) {
  const groups: (readonly number[])[] = [];
  const { run = async (items: readonly number[]) => items.map((item) => item * 2) } = options;
  const work = new GroupedWork<number, number>({
    itemsMax: 100,
    waitingMax: 100,
    patienceMs: 10_000,
    ...options,
    run: (items) => {
      groups.push(items);
      return run(items);
    },
  });
  return { work, groups };
}

it('what comes within one moment is one group, and each item gets its own result', async () => {
  const { work, groups } = grouped({});
  expect(await Promise.all([1, 2, 3].map((item) => work.add(item)))).toEqual([2, 4, 6]);
  expect(groups).toEqual([[1, 2, 3]]);
});

it('what the next turn of the event loop brings is in the same group', async () => {
  const { work, groups } = grouped({});
  const first = work.add(1);
  await new Promise(setImmediate);
  await Promise.all([first, work.add(2)]);
  expect(groups).toEqual([[1, 2]]);
});

it('what comes while a group is on its way is the next one, in order', async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let isFirst = true;
  const { work, groups } = grouped({
    itemsMax: 2,
    run: async (items) => {
      if (isFirst) {
        isFirst = false;
        for (const item of [2, 3, 4]) void work.add(item);
        await held;
      }
      return items;
    },
  });
  const first = work.add(1);
  release();
  await first;
  await work.close();
  expect(groups).toEqual([[1], [2, 3], [4]]);
});

it('a database that is away is tried again until it is back', async () => {
  let failures = 2;
  const { work, groups } = grouped({
    run: async (items) => {
      failures -= 1;
      if (failures >= 0) throw down();
      return items;
    },
  });
  expect(await work.add(7)).toBe(7);
  expect(groups).toEqual([[7], [7], [7]]);
});

it('a database that stays away fails the whole group loudly, when the patience is over', async () => {
  const { work, groups } = grouped({
    patienceMs: 0,
    run: async () => {
      throw down();
    },
  });
  const outcomes = await Promise.allSettled([work.add(1), work.add(2)]);
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { code: 'SUB_STORE_DOWN' } },
    { status: 'rejected', reason: { code: 'SUB_STORE_DOWN' } },
  ]);
  expect(groups).toEqual([[1, 2]]);
});

it('one that is refused does not take the others along', async () => {
  const { work } = grouped({
    run: async (items) => {
      if (items.includes(2)) throw storeFailure('SUB_STORE_REFUSED', 'Two is refused.');
      return items;
    },
  });
  const outcomes = await Promise.allSettled([1, 2, 3].map((item) => work.add(item)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('more than may wait is refused at once', async () => {
  const { work } = grouped({ waitingMax: 2 });
  const outcomes = await Promise.allSettled([1, 2, 3].map((item) => work.add(item)));
  expect(outcomes).toMatchObject([
    { status: 'fulfilled' },
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'SUB_STORE_BUSY' } },
  ]);
});
