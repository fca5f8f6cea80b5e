// The ledger itself, over the API: what it is like, and what is removed of it.
import type { ApiLedger } from '@subluminal/contracts';
import { expect, it, vi } from 'vitest';
import { Shim, T0_MS } from '../../plane/stores/ledger/testing/events.ts';
import { pageHome } from './page-home.test-support.ts';

const DAY_MS = 86_400_000;

it('tells its size and chain, counts what a prune would remove, and then removes that', async () => {
  const { live, get, post } = await pageHome();
  for (let n = 0; n < 3; n++) {
    const shim = new Shim(`s${n}`, { run: `run-${n}` }, T0_MS + n * DAY_MS);
    await live.ingest(shim.runStart(), ...shim.call(`c${n}`));
  }
  const ledger = async () => (await get('ledger', 'ledger')) as ApiLedger;
  expect(await ledger()).toMatchObject({
    events: 12,
    runs: 3,
    calls: 3,
    pruned: 0,
    oldest_ms: T0_MS,
    tip: { seq: 12 },
    head: { n: 1 },
    retention: { days: 90, last_at_ms: null },
    verify: null,
    prune: null,
  });
  expect((await ledger()).tip.hash).toMatch(/^[0-9a-f]{64}$/);
  const older_than_ms = T0_MS + DAY_MS;
  const dry = { older_than_ms, dry_run: true };
  const step = { what: 'all', older_than_ms, keep_runs: null, runs: 1 };
  expect(await post('prune', 'ledger/prune', { body: dry })).toMatchObject({
    state: 'done',
    dry_run: true,
    steps: [{ ...step, events: null }],
  });
  expect(await ledger()).toMatchObject({ runs: 3, prune: null });
  const begun = await post('prune', 'ledger/prune', { body: { older_than_ms } });
  expect(begun).toMatchObject({ state: 'running', dry_run: false });
  await vi.waitFor(async () => expect((await ledger()).prune?.state).toBe('done'));
  expect(await ledger()).toMatchObject({
    runs: 2,
    pruned: 4,
    prune: { steps: [{ ...step, events: 4 }], error: null },
  });
  await post('prune', 'ledger/prune', { body: { older_than: 1 }, status: 400 });
});

it('applies the retention of the configuration without a word about which runs', async () => {
  const { live, get, post } = await pageHome();
  await live.ingest(...new Shim('s', {}, Date.now()).call('c'));
  const answer = await post('prune', 'ledger/prune', { body: { dry_run: true } });
  expect(answer).toMatchObject({ steps: [{ what: 'all' }, { what: 'previews', runs: 0 }] });
  const previews = { dry_run: true, previews_only: true };
  expect(await post('prune', 'ledger/prune', { body: previews })).toMatchObject({
    steps: [{ what: 'previews' }],
  });
  expect(await get('ledger', 'ledger')).toMatchObject({ runs: 1 });
});
