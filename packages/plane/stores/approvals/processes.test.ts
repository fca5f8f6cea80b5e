// Several processes on one home: real ones, that race and are killed.

import { type ApprovalEnd, isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

import { Bench, ME, question } from './testing/bench.ts';
import { Child } from './testing/children.ts';

const ROUNDS = 150;

let bench: Bench;
let desk: Desk;
let children: Child[] = [];
beforeEach(() => {
  bench = new Bench();
  const opened = openDesk({ home: bench.home, ports: { nowMs: () => Date.now(), uuid: uuidv7 } });
  if (isFailure(opened)) throw new Error(opened.message);
  desk = opened;
});
afterEach(async () => {
  await Promise.all(children.map((child) => child.kill()));
  children = [];
  bench.end();
});

function started(count: number): Promise<readonly Child[]> {
  children = Array.from({ length: count }, () => new Child(bench.home));
  return Promise.all(children.map((child) => child.ready()));
}

function asked(timeoutMs = 600_000): string {
  const result = desk.queue.ask(question({ timeoutMs }));
  if (result.kind !== 'asked') throw new Error(result.kind);
  return result.id;
}

interface Said {
  readonly kind: string;
  readonly by: ApprovalEnd['by'];
}

describe('processes that end the same requests at the same time', () => {
  test('have exactly one winner each time, and all know who it was', async () => {
    const ids = Array.from({ length: ROUNDS }, () => asked());
    const racers = await started(2);
    const said = racers.map((child, index) =>
      child.does({ does: 'end', ids, by: index === 0 ? 'one' : 'two' }),
    );
    const [first = [], second = []] = (await Promise.all(said)) as (readonly Said[])[];
    for (const [index, id] of ids.entries()) {
      const both = [first[index], second[index]];
      const kinds = both.map((each) => String(each?.kind));
      expect(kinds.toSorted()).toEqual(['already', 'ended']);
      const winner = first[index]?.kind === 'ended' ? 'one' : 'two';
      expect(both.map((each) => each?.by)).toEqual([winner, winner]);
      const state = winner === 'one' ? 'approved' : 'rejected';
      expect(desk.queue.get(id)).toMatchObject({ state, outcome: { by: winner } });
    }
  });
});

describe('processes that want the same grant for once', () => {
  test('get it exactly once all together', async () => {
    for (let count = 0; count < 40; count++) {
      const id = desk.queue.ask(question({ wait: 'hint' }));
      if (id.kind !== 'asked') throw new Error(id.kind);
      expect(desk.decide(id.id, { state: 'approved', ...ME })).toMatchObject({ kind: 'ended' });
    }
    const grants = desk.grants.list();
    const given = isFailure(grants) ? [] : grants.found.map(({ grant }) => grant.id);
    const all = await started(3);
    const taken = await Promise.all(all.map((child) => child.does({ does: 'take', times: 40 })));
    const ids = taken.flatMap((list) => (list as (string | null)[]).filter((id) => id !== null));
    expect(ids.toSorted()).toEqual(given.toSorted());
  });
});

describe('a process that asked and was killed', () => {
  test('leaves its request, which others list, decide on and let expire', async () => {
    const [child] = await started(1);
    const first = (await child?.does({ does: 'ask', timeoutMs: 600_000 })) as { id: string };
    const second = (await child?.does({ does: 'ask', timeoutMs: 1 })) as { id: string };
    await child?.kill();
    expect(desk.queue.get(first.id)).toMatchObject({ state: 'pending' });
    const ended = await new Promise((resolve) => desk.queue.watch([second.id], resolve));
    expect(ended).toMatchObject({ state: 'expired' });
    expect(desk.decide(first.id, { state: 'approved', ...ME })).toMatchObject({ kind: 'ended' });
    expect(bench.open().queue.get(first.id)).toMatchObject({ state: 'approved' });
  });
});
