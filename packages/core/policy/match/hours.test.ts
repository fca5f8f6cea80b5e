// Rules that hold in a window of the day.
import { expect, test } from 'vitest';
import { decide } from '../decide/decide.ts';
import { initialState } from '../decide/verdict.ts';
import { callOf, deny, snapshotOf } from '../testing/scenario.ts';

const OFFICE = { from: '09:00', to: '18:00', days: ['mon', 'fri'], utc_offset: '+02:00' } as const;
const NIGHT = { from: '22:00', to: '06:00' } as const;

async function actionAt(time: object, moment: string): Promise<string> {
  const snapshot = await snapshotOf([deny('r', { time })]);
  const at = Date.parse(moment);
  return decide(snapshot, callOf({}), initialState(snapshot), at).decision.action;
}

// The first is a Monday.
test.each([
  ['2026-11-16T06:59:00Z', 'ALLOW'],
  ['2026-11-16T07:00:00Z', 'BLOCK'],
  ['2026-11-16T15:59:59Z', 'BLOCK'],
  ['2026-11-16T16:00:00Z', 'ALLOW'],
  ['2026-11-17T10:00:00Z', 'ALLOW'],
])('a rule with hours in another time zone at %s: %s', async (moment, action) => {
  expect(await actionAt({ hours: OFFICE }, moment)).toBe(action);
});

test.each([
  ['2026-11-16T21:59:00Z', 'BLOCK'],
  ['2026-11-16T23:00:00Z', 'ALLOW'],
  ['2026-11-17T05:59:00Z', 'ALLOW'],
  ['2026-11-17T06:00:00Z', 'BLOCK'],
])('a rule outside of a window that runs over midnight at %s: %s', async (moment, action) => {
  expect(await actionAt({ not_hours: NIGHT }, moment)).toBe(action);
});

test('both windows must fit', async () => {
  const time = { hours: { from: '00:00', to: '24:00' }, not_hours: NIGHT };
  expect(await actionAt(time, '2026-11-16T12:00:00Z')).toBe('BLOCK');
  expect(await actionAt(time, '2026-11-16T23:00:00Z')).toBe('ALLOW');
});

test('the spelling of a window does not change the hash of a policy', async () => {
  const one = await snapshotOf([
    deny('r', { time: { hours: { ...NIGHT, days: ['mon', 'fri'] } } }),
  ]);
  const other = await snapshotOf([
    deny('r', { time: { hours: { ...NIGHT, days: ['fri', 'mon'] } } }),
  ]);
  expect(other.document).toEqual(one.document);
});
