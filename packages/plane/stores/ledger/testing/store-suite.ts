// What the store must do, as tests. They are called with a way to get an empty store.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { T0_MS } from './events.ts';
import { ingestSuite } from './ingest-suite.ts';
import { pruneSuite } from './prune-suite.ts';
import { querySuite } from './query-suite.ts';
import { anyHistory } from './random-events.ts';
import { searchSuite } from './search-suite.ts';
import { serverSuite } from './server-suite.ts';
import { DAY_MS, expectProven, type OpenStore, open, tables } from './suite-tools.ts';
import { timeSuite } from './time-suite.ts';

export function storeSuite(name: string, openStore: OpenStore): void {
  describe(`the ${name} store`, () => {
    ingestSuite(openStore);
    querySuite(openStore);
    searchSuite(openStore);
    serverSuite(openStore);
    timeSuite(openStore);
    pruneSuite(openStore);
    historySuite(openStore);
  });
}

function historySuite(openStore: OpenStore): void {
  it('rebuilds the same rows from the events of any history, however it was batched', async () => {
    const property = fc.asyncProperty(
      anyHistory(),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(undefined, 'all' as const, 'previews' as const),
      async (lines, size, what) => {
        const [ledger, single] = [await open(openStore), await open(openStore)];
        for (let at = 0; at < lines.length; at += size) {
          await ledger.ingest(lines.slice(at, at + size));
        }
        for (const line of lines) await single.ingest([line]);
        expect(await tables(ledger.store)).toEqual(await tables(single.store));
        if (what !== undefined) await ledger.prune({ olderThanMs: T0_MS + DAY_MS, what });
        const before = await tables(ledger.store);
        await expectProven(ledger.store);
        await ledger.rebuild();
        expect(await tables(ledger.store)).toEqual(before);
        await Promise.all([ledger.close(), single.close()]);
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });
}
