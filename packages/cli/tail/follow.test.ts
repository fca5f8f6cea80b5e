import { expect, test } from 'vitest';
import { type Followed, type FollowSource, followOn } from './follow.ts';
import { end } from './recorded.test-support.ts';

/** A daemon that ends after each of these, and says where it was asked to go on. */
function daemon(
  sessions: readonly (readonly number[])[],
  tips: readonly (number | undefined)[] = [],
) {
  const asked: number[] = [];
  const stop = new AbortController();
  const source: FollowSource = {
    ensure: async () => undefined,
    tip: async () => tips[asked.length],
    follow: async function* ({ after }): AsyncGenerator<Followed, undefined> {
      const session = sessions[asked.length];
      asked.push(after);
      if (session === undefined) stop.abort();
      for (const seq of session ?? []) yield { seq, event: end({}, { call_id: `c${seq}` }) };
      return undefined;
    },
  };
  return { source, asked, stop };
}

async function idsOf({ source, stop }: ReturnType<typeof daemon>, after = 0): Promise<string[]> {
  const ids: string[] = [];
  const wish = { after, signal: stop.signal, onTrouble: () => undefined };
  for await (const { event } of followOn(source, wish)) {
    if (event.type === 'tool_call_end') ids.push(event.call.call_id);
  }
  return ids;
}

test('the stream continues after the last event when the daemon comes back', async () => {
  const one = daemon([[3, 4], [5], [], [7]]);
  expect(await idsOf(one, 2)).toEqual(['c3', 'c4', 'c5', 'c7']);
  expect(one.asked).toEqual([2, 4, 5, 5, 7]);
});

test('the stream has no event twice, whatever the daemon sends again', async () => {
  expect(
    await idsOf(
      daemon([
        [1, 2],
        [1, 2, 3],
      ]),
    ),
  ).toEqual(['c1', 'c2', 'c3']);
});

test('the stream starts over when another ledger was put in its place', async () => {
  const one = daemon([[8, 9], [1]], [7, 1, 1]);
  expect(await idsOf(one, 7)).toEqual(['c8', 'c9', 'c1']);
  expect(one.asked).toEqual([7, 0, 1]);
});

test('the stream reports once why there is no daemon, and keeps trying', async () => {
  const troubles: string[] = [];
  const stop = new AbortController();
  let tries = 0;
  const source: FollowSource = {
    tip: async () => undefined,
    ensure: async () => {
      tries++;
      return tries < 3 ? 'no disk' : undefined;
    },
    follow: async function* (): AsyncGenerator<Followed, undefined> {
      yield { seq: 1, event: end() };
      stop.abort();
      return undefined;
    },
  };
  const seen = [];
  const wish = { after: 0, signal: stop.signal, onTrouble: (text: string) => troubles.push(text) };
  for await (const event of followOn(source, wish)) seen.push(event);
  expect(seen).toHaveLength(1);
  expect(troubles).toEqual(['no disk']);
});

test('the stream ends at once when it is aborted while it waits', async () => {
  const stop = new AbortController();
  const source: FollowSource = {
    tip: async () => undefined,
    ensure: async () => {
      queueMicrotask(() => stop.abort());
      return 'nobody';
    },
    follow: () => {
      throw new Error('it must not come to this');
    },
  };
  const wish = { after: 0, signal: stop.signal, onTrouble: () => undefined };
  expect(await followOn(source, wish).next()).toEqual({ done: true, value: undefined });
});
