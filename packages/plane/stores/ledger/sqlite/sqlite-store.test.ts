import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { Shim } from '../testing/events.ts';
import { storeSuite } from '../testing/store-suite.ts';
import { LedgerHome, tempFolder } from '../testing/temp-ledger.ts';
import { openSqliteReader, openSqliteStore } from './sqlite-store.ts';

storeSuite('SQLite', () =>
  openSqliteStore({ file: join(tempFolder(), 'ledger.db'), synchronous: 'off' }),
);

describe('a ledger on disk', () => {
  it('takes 10,000 events of ten shims at once, and finds them when opened again', async () => {
    verifies('SL-11.1', 'T-C.1', 'T-C.2');
    const home = new LedgerHome();
    const ledger = await home.open();
    const batches = Array.from({ length: 10 }, (_, n) => {
      const shim = new Shim(`s${n}`, { run: `run-${n % 5}`, tool: `tool-${n}` });
      const calls = Array.from({ length: 334 }, (__, call) => {
        const id = `c${n}-${call}`;
        const refused = call === 7 ? ({ action: 'BLOCK', rule_id: 'r' } as const) : {};
        return [shim.start(id), shim.decision(id, refused), shim.end(id)];
      });
      return calls.flat();
    });
    await Promise.all(batches.map((batch) => ledger.ingest(batch)));
    await ledger.close();
    const report = await home.verify({ deep: true });
    expect(report).toMatchObject({ ok: true, events: 10_020, signedSeq: 10_020, findings: [] });
    const reader = await openSqliteReader({ file: home.file });
    const page = { limit: 1_000 };
    expect((await reader.calls({ runId: 'run-3' }, page)).rows).toHaveLength(668);
    expect((await reader.calls({ toolName: 'tool-3' }, page)).rows).toHaveLength(334);
    expect((await reader.calls({ decision: 'BLOCK' }, page)).rows).toHaveLength(10);
    await reader.close();
  });
});
