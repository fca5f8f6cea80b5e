import { isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, openDesk } from '../../../stores/approvals/desk.ts';
import type { Owner } from '../../../stores/approvals/ports.ts';
import { Bench, ME } from '../../../stores/approvals/testing/bench.ts';
import { Claims, RequestFollower } from './announce-requests.ts';

const ONE: Owner = { pid: 1, start: 'one' };
const TWO: Owner = { pid: 2, start: 'two' };

let bench: Bench;
const gone = new Set<number>();
beforeEach(() => {
  bench = new Bench();
  gone.clear();
});
afterEach(() => bench.end());

/** A process that knows which others have ended. */
function process(self: Owner): Desk {
  const desk = openDesk({
    home: bench.home,
    pollMs: 20,
    ports: {
      nowMs: () => bench.nowMs,
      uuid: uuidv7,
      warn: (message) => bench.warnings.push(message),
      self,
      isGone: ({ pid }) => gone.has(pid),
    },
  });
  if (isFailure(desk)) throw new Error(desk.message);
  return desk;
}

function claims(self: Owner) {
  return new Claims(process(self), 'test');
}

describe('a claim', () => {
  test('is heeded while its owner lives, however long that takes', () => {
    const id = bench.ask();
    expect(claims(ONE).claim(id)).toEqual({ kind: 'mine' });
    bench.nowMs += 3_600_000;
    expect(claims(TWO).claim(id)).toMatchObject({ kind: 'taken' });
  });

  test('of a process that has ended is free at once', () => {
    const id = bench.ask();
    claims(ONE).claim(id);
    gone.add(ONE.pid);
    expect(claims(TWO).claim(id)).toEqual({ kind: 'mine' });
    claims(TWO).markDone(id, { ts: '1' });
    expect(claims(ONE).claim(id)).toEqual({ kind: 'done' });
    expect(claims(ONE).done(id)).toEqual({ value: { ts: '1' } });
  });

  test('without an owner is free after a while', () => {
    const id = bench.ask();
    const bare = new Claims(bench.desk, 'test');
    expect(bare.claim(id)).toEqual({ kind: 'mine' });
    bench.nowMs += 20_000;
    expect(bare.claim(id)).toEqual({ kind: 'taken', againMs: 40_000 });
    bench.nowMs += 40_000;
    expect(bare.claim(id)).toEqual({ kind: 'mine' });
  });

  test('is given a bounded number of times', () => {
    const id = bench.ask();
    const own = claims(ONE);
    const kinds = Array.from({ length: 22 }, () => own.claim(id).kind);
    expect(kinds.filter((kind) => kind === 'mine')).toHaveLength(20);
    expect(kinds.at(-1)).toBe('spent');
  });
});

describe('a channel', () => {
  test('takes over announcements that another process had begun, and learns of ends it has not seen', async () => {
    const id = bench.ask();
    claims(ONE).claim(id);
    gone.add(ONE.pid);
    const told: string[] = [];
    let heard: () => void = () => undefined;
    const next = () =>
      new Promise<void>((resolve) => {
        heard = resolve;
      });
    const start = (self: Owner) =>
      new RequestFollower(process(self), 'test', {
        tell: async (entry) => {
          told.push(`asked ${entry.request.id}`);
          return { kind: 'told', value: { place: 7 } };
        },
        known: () => heard(),
        ended: async (ended, value) => {
          told.push(`ended ${ended.kind} ${JSON.stringify(value)}`);
          heard();
          return true;
        },
      });
    const known = next();
    const first = start(TWO);
    await known;
    await first.stop();
    bench.desk.decide(id, { state: 'rejected', ...ME });
    const over = next();
    const second = start(TWO);
    await over;
    await second.stop();
    // A third one finds nothing to say.
    await start(TWO).stop();
    expect(told).toEqual([`asked ${id}`, 'ended request {"place":7}']);
  });
});
