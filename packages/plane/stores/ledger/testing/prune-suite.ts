// Thinning a ledger out, as tests.
import { expect, it } from 'vitest';
import type { Ledger } from '../write/ledger.ts';
import { Shim, T0_MS } from './events.ts';
import { DAY_MS, expectProven, ids, type OpenStore, open } from './suite-tools.ts';

export function pruneSuite(openStore: OpenStore): void {
  async function filled(): Promise<Ledger> {
    const ledger = await open(openStore);
    for (let n = 0; n < 4; n++) {
      const shim = new Shim(`s${n}`, { run: `run-${n}` }, T0_MS + n * DAY_MS);
      await ledger.ingest([shim.runStart(), ...shim.call(`c${n}`), shim.runEnd(1)]);
    }
    return ledger;
  }

  it('removes old runs, and everything left can still be proven', async () => {
    const ledger = await filled();
    expect(await ledger.prune({ olderThanMs: T0_MS + 2 * DAY_MS })).toEqual({
      runs: 2,
      events: 10,
    });
    expect(ids(await ledger.store.calls({}, {}))).toEqual(['c3', 'c2']);
    const events = await ledger.store.events({ afterSeq: 0, limit: 10 });
    expect(
      events.every(({ line, runId, type }) => line === null && runId === null && type === null),
    ).toBe(true);
    await expectProven(ledger.store);
    // What was pruned is not taken in again.
    const again = new Shim('s0', { run: 'run-0' }, T0_MS);
    expect(await ledger.ingest([again.runStart()])).toMatchObject({ accepted: 0, duplicates: 1 });
    await ledger.close();
  });

  it('keeps the newest runs, and runs again without doing anything', async () => {
    const ledger = await filled();
    expect(await ledger.prune({ keepRuns: 1 })).toEqual({ runs: 3, events: 15 });
    const { seq } = await ledger.store.tip();
    expect(await ledger.prune({ keepRuns: 1 })).toEqual({ runs: 0, events: 0 });
    expect((await ledger.store.tip()).seq).toBe(seq);
    expect(await ledger.prune({})).toEqual({ runs: 0, events: 0 });
    expect(await ledger.prune({ keepRuns: 0, olderThanMs: T0_MS })).toEqual({ runs: 0, events: 0 });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('removes previews alone, and the rest of the calls stays', async () => {
    const ledger = await filled();
    const request = { olderThanMs: T0_MS + 2 * DAY_MS, what: 'previews' } as const;
    expect(await ledger.prune(request)).toEqual({ runs: 2, events: 4 });
    expect(await ledger.store.call('run-1', 'c1')).toMatchObject({
      decision: 'ALLOW',
      status: 'OK',
      args_preview: null,
      result_preview: null,
      redaction_flags: 48,
    });
    expect(await ledger.store.call('run-2', 'c2')).toMatchObject({ args_preview: '{"of":"c2"}' });
    expect(await ledger.prune(request)).toEqual({ runs: 0, events: 0 });
    await expectProven(ledger.store);
    // What has lost its previews can lose the rest.
    expect(await ledger.prune({ keepRuns: 0 })).toEqual({ runs: 4, events: 20 });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('keeps the policies that only pruned runs told of', async () => {
    const ledger = await filled();
    await ledger.prune({ keepRuns: 0 });
    expect(await ledger.store.policies(10)).toMatchObject([{ created_at_ms: T0_MS }]);
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('removes old events that belong to no run', async () => {
    const ledger = await filled();
    const shim = new Shim('x');
    const line = (ts: string) => shim.raw(`{"type":"other","ts":"${ts}"}`);
    await ledger.ingest([
      line('2020-01-01T00:00:00Z'),
      line('2026-02-28T00:00:00Z'),
      line('never'),
    ]);
    expect(await ledger.prune({ olderThanMs: T0_MS })).toEqual({ runs: 0, events: 2 });
    await expectProven(ledger.store);
    await ledger.close();
  });
}
