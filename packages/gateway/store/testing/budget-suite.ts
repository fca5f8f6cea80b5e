import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BudgetLimit, Settlement } from '../types.ts';
import { NOON_MS, sampleLimit, sampleRecord, sampleReservation } from './sample-rows.ts';
import type { Tested } from './suite.ts';

const LIMIT = sampleLimit();
const DAY = sampleLimit({ scope: 'user_day', key: 'ann', period: '2026-11-17', capMicros: 300 });

export function budgetSuite(tested: Tested): void {
  const state = async (limit: BudgetLimit = LIMIT) => {
    const [found] = await tested.store.budgets.states('default', [limit]);
    return [found?.usedMicros, found?.reservedMicros];
  };
  const settle = (settlement: Settlement) =>
    tested.store.records.write(sampleRecord({ settlement }));

  describe('budgets', () => {
    it('reserves the estimate and commits what was used', async () => {
      const reservation = sampleReservation();
      expect(await tested.store.budgets.reserve(reservation)).toEqual({
        kind: 'reserved',
        states: [{ limit: LIMIT, usedMicros: 0, reservedMicros: 100 }],
      });
      await settle({ kind: 'commit', reservationId: reservation.id, actualMicros: 40 });
      expect(await state()).toEqual([40, 0]);
    });

    it('commits more than was estimated, beyond the cap too', async () => {
      const reservation = sampleReservation();
      await tested.store.budgets.reserve(reservation);
      await settle({ kind: 'commit', reservationId: reservation.id, actualMicros: 2_500 });
      expect(await state()).toEqual([2_500, 0]);
      expect(await tested.store.budgets.reserve(sampleReservation())).toEqual({
        kind: 'exceeded',
        state: { limit: LIMIT, usedMicros: 2_500, reservedMicros: 0 },
      });
    });

    it('gives a released reservation back, whole', async () => {
      const reservation = sampleReservation();
      await tested.store.budgets.reserve(reservation);
      await settle({ kind: 'release', reservationId: reservation.id });
      expect(await state()).toEqual([0, 0]);
    });

    it('reserves up to the cap and not a micro-dollar more', async () => {
      const { budgets } = tested.store;
      const first = await budgets.reserve(sampleReservation({ estimateMicros: 999 }));
      const over = await budgets.reserve(sampleReservation({ estimateMicros: 2 }));
      const last = await budgets.reserve(sampleReservation({ estimateMicros: 1 }));
      const beyond = await budgets.reserve(sampleReservation({ estimateMicros: 1 }));
      expect([first, over, last, beyond].map(({ kind }) => kind)).toEqual([
        'reserved',
        'exceeded',
        'reserved',
        'exceeded',
      ]);
      expect(await state()).toEqual([0, 1_000]);
    });

    it('reserves all limits or none, and names the one that is exceeded', async () => {
      const limits = [LIMIT, DAY];
      await tested.store.budgets.reserve(sampleReservation({ limits, estimateMicros: 250 }));
      const refused = await tested.store.budgets.reserve(sampleReservation({ limits }));
      expect(refused).toEqual({
        kind: 'exceeded',
        state: { limit: DAY, usedMicros: 0, reservedMicros: 250 },
      });
      expect(await state()).toEqual([0, 250]);
      expect(await state(DAY)).toEqual([0, 250]);
    });

    it('never exceeds a cap that only warns, and counts it', async () => {
      const limits = [sampleLimit({ capMicros: 10, onExceeded: 'warn' })];
      const answer = await tested.store.budgets.reserve(sampleReservation({ limits }));
      expect(answer.kind).toBe('reserved');
      expect(await state()).toEqual([0, 100]);
    });

    it('counts tenants, keys and periods apart', async () => {
      const { budgets } = tested.store;
      await budgets.reserve(sampleReservation({ estimateMicros: 1_000 }));
      const next = [sampleLimit({ period: '2026-12' })];
      const other = { ...sampleReservation().caller, tenantId: 'other' };
      for (const reservation of [{ limits: next }, { caller: other }]) {
        expect((await budgets.reserve(sampleReservation(reservation))).kind).toBe('reserved');
      }
      expect(await state()).toEqual([0, 1_000]);
    });

    it('tells the states of several limits in their order, and of one that nobody has used', async () => {
      const { budgets } = tested.store;
      await budgets.reserve(sampleReservation({ limits: [LIMIT, DAY] }));
      await budgets.reserve(sampleReservation({ limits: [DAY], estimateMicros: 30 }));
      const unused = sampleLimit({ period: '2026-12' });
      expect(await budgets.states('default', [unused, DAY, LIMIT])).toEqual([
        { limit: unused, usedMicros: 0, reservedMicros: 0 },
        { limit: DAY, usedMicros: 0, reservedMicros: 130 },
        { limit: LIMIT, usedMicros: 0, reservedMicros: 100 },
      ]);
      expect(await budgets.states('default', [])).toEqual([]);
    });

    it('counts what a group has reserved before each of its turns', async () => {
      const { budgets } = tested.store;
      const wanted = [600, 600, 400, 1].map((estimateMicros) =>
        budgets.reserve(sampleReservation({ estimateMicros })),
      );
      const answers = await Promise.all(wanted);
      expect(answers).toEqual([
        { kind: 'reserved', states: [{ limit: LIMIT, usedMicros: 0, reservedMicros: 600 }] },
        { kind: 'exceeded', state: { limit: LIMIT, usedMicros: 0, reservedMicros: 600 } },
        { kind: 'reserved', states: [{ limit: LIMIT, usedMicros: 0, reservedMicros: 1_000 }] },
        { kind: 'exceeded', state: { limit: LIMIT, usedMicros: 0, reservedMicros: 1_000 } },
      ]);
      expect(await state()).toEqual([0, 1_000]);
    });

    it('reserves once when it is asked again with the same id', async () => {
      const reservation = sampleReservation();
      await tested.store.budgets.reserve(reservation);
      const again = await tested.store.budgets.reserve(reservation);
      expect(again.kind).toBe('reserved');
      expect(await state()).toEqual([0, 100]);
    });

    it('reserves with no limit at all', async () => {
      const reservation = sampleReservation({ limits: [] });
      expect(await tested.store.budgets.reserve(reservation)).toEqual({
        kind: 'reserved',
        states: [],
      });
      await settle({ kind: 'commit', reservationId: reservation.id, actualMicros: 1 });
    });
  });

  describe('settlements', () => {
    it.each([
      ['commit', 'commit', [40, 0]],
      ['commit', 'release', [40, 0]],
      ['release', 'release', [0, 0]],
      ['release', 'commit', [0, 0]],
    ] as const)('a %s holds when a %s follows', async (first, second, expected) => {
      const { id: reservationId } = await reserved();
      const settlements = {
        commit: { kind: 'commit', reservationId, actualMicros: 40 },
        release: { kind: 'release', reservationId },
      } as const;
      await settle(settlements[first]);
      await settle(settlements[second]);
      expect(await state()).toEqual(expected);
    });

    it('both commits of one reservation in one group count once', async () => {
      const { id: reservationId } = await reserved();
      const commit = { kind: 'commit', reservationId, actualMicros: 40 } as const;
      await Promise.all([settle(commit), settle(commit)]);
      expect(await state()).toEqual([40, 0]);
    });

    it('an unknown reservation settles nothing', async () => {
      await reserved();
      await settle({ kind: 'release', reservationId: randomUUID() });
      expect(await state()).toEqual([0, 100]);
    });

    it('a reservation that is too old expires once, and a late commit still counts', async () => {
      const { budgets } = tested.store;
      const old = await reserved();
      await reserved({ nowMs: NOON_MS + 1 });
      const expired = await budgets.expire(NOON_MS + 1, NOON_MS + 600_000);
      expect(expired).toEqual([
        {
          id: old.id,
          traceId: old.traceId,
          tenantId: 'default',
          userId: 'ann',
          teamId: 'core',
          estimateMicros: 100,
        },
      ]);
      expect(await budgets.expire(NOON_MS + 1, NOON_MS + 600_000)).toEqual([]);
      expect(await state()).toEqual([0, 100]);
      const late = { kind: 'commit', reservationId: old.id, actualMicros: 70 } as const;
      await settle(late);
      await settle(late);
      expect(await state()).toEqual([70, 100]);
    });

    it('a reservation that is renewed does not expire, and one that was settled stays settled', async () => {
      const { budgets } = tested.store;
      const [long, ended] = [await reserved(), await reserved()];
      await settle({ kind: 'commit', reservationId: ended.id, actualMicros: 7 });
      await budgets.renew([long.id, ended.id, randomUUID()], NOON_MS + 10);
      expect(await budgets.expire(NOON_MS + 10, NOON_MS + 10)).toEqual([]);
      expect(await state()).toEqual([7, 100]);
      expect(await budgets.expire(NOON_MS + 11, NOON_MS + 11)).toMatchObject([{ id: long.id }]);
      expect(await state()).toEqual([7, 0]);
    });

    it('two that expire reservations at once take each one once', async () => {
      for (let made = 0; made < 10; made += 1) await reserved();
      const { budgets } = tested.store;
      const taken = await Promise.all(
        [1, 2, 3].map(() => budgets.expire(NOON_MS + 1, NOON_MS + 2)),
      );
      expect(taken.flat()).toHaveLength(10);
      expect(await state()).toEqual([0, 0]);
    });
  });

  describe('the race for a budget', () => {
    it('of 200 at once against a cap for 50, exactly 50 get through', async () => {
      const limits = [sampleLimit({ capMicros: 5_000 }), { ...DAY, capMicros: 9_000 }];
      const reservations = Array.from({ length: 200 }, (_, place) =>
        sampleReservation({ limits: place % 2 === 0 ? limits : limits.toReversed() }),
      );
      const answers = await Promise.all(
        reservations.map((reservation) => tested.store.budgets.reserve(reservation)),
      );
      expect(answers.filter(({ kind }) => kind === 'reserved')).toHaveLength(50);
      expect(await state()).toEqual([0, 5_000]);
      expect(await state(DAY)).toEqual([0, 5_000]);
    });

    it('no money is lost while reservations, settlements and expiry cross', async () => {
      const limits = [sampleLimit({ capMicros: 1_000_000 }), { ...DAY, capMicros: 1_000_000 }];
      await Promise.all(
        Array.from({ length: 60 }, async (_, place) => {
          const { id: reservationId } = await reserved({ limits });
          if (place % 3 === 0) await settle({ kind: 'release', reservationId });
          else await settle({ kind: 'commit', reservationId, actualMicros: 7 });
          if (place % 10 === 0) await tested.store.budgets.expire(NOON_MS, NOON_MS + 1);
        }),
      );
      expect(await state()).toEqual([280, 0]);
      expect(await state(DAY)).toEqual([280, 0]);
    });
  });

  async function reserved(reservation: Parameters<typeof sampleReservation>[0] = {}) {
    const made = sampleReservation(reservation);
    expect((await tested.store.budgets.reserve(made)).kind).toBe('reserved');
    return made;
  }
}
