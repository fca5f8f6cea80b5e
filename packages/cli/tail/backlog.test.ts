import { expect, test } from 'vitest';
import { CallFold, type Folded } from './fold.ts';
import { end, runStart } from './recorded.test-support.ts';
import { Backlog } from './screen.ts';

function kept(callsMax: number, ...names: readonly string[]): readonly string[] {
  const backlog = new Backlog(callsMax);
  const fold = new CallFold();
  for (const name of names) {
    const event = name === 'run' ? runStart() : end({}, { call_id: name });
    for (const folded of fold.push(event)) backlog.add(folded);
  }
  const nameOf = (one: Folded) => (one.kind === 'call' ? one.call_id : 'run');
  const taken = backlog.take().map(nameOf);
  expect(backlog.take()).toEqual([]);
  return taken;
}

test('a backlog keeps the last calls, and the notices since the first of them', () => {
  expect(kept(2, 'run', 'a', 'b', 'run', 'c')).toEqual(['b', 'run', 'c']);
  expect(kept(5, 'run', 'a', 'b')).toEqual(['run', 'a', 'b']);
  expect(kept(0, 'run', 'a', 'run')).toEqual(['run']);
});

test('a backlog keeps a bounded number of notices', () => {
  const runs = Array.from({ length: 5_000 }, () => 'run');
  expect(kept(3, 'a', ...runs, 'b')).toHaveLength(1_003);
});
