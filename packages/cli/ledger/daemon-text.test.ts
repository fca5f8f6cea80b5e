import type { LedgerStatus } from '@subluminal/plane/ingest';
import { expect, test } from 'vitest';
import { dutiesOf } from './daemon-text.ts';

const STATUS: LedgerStatus = {
  pid: 7,
  version: '0.1.0',
  started_at: '2026-01-31T12:00:00.000Z',
  connections: 1,
  events_committed: 0,
  stays: true,
  conflicts: 0,
};

test('the status of a daemon names the channels that it asks people by, if there are any', () => {
  expect(dutiesOf({ ...STATUS, channels: ['webhook', 'slack'] })).toEqual([
    'It asks people for approvals by webhook, slack.',
  ]);
  expect(dutiesOf(STATUS)).toEqual([]);
  expect(dutiesOf({ ...STATUS, channels: [] })).toEqual([]);
});
