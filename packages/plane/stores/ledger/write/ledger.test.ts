import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseWitness } from '../chain/signed-head.ts';
import { Shim, T0_MS } from '../testing/events.ts';
import { memoryWitness } from '../testing/memory-witness.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('heads', () => {
  it('are written with the first events, after so many of them, and at the end', async () => {
    const home = new LedgerHome();
    const ledger = await home.open({ headEvery: { events: 6, ms: 1_000_000 } });
    const shim = new Shim('a');
    for (const id of ['a', 'b', 'c', 'd']) await ledger.ingest(shim.call(id));
    await ledger.close();
    const reader = await home.open();
    const heads = await reader.store.heads(0, 10);
    expect(heads.map(({ kind, seq, count }) => [kind, seq, count])).toEqual([
      ['open', 3, 3],
      ['interval', 9, 9],
      ['close', 12, 12],
    ]);
  });

  it('are written some time after the last event', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const home = new LedgerHome();
    const ledger = await home.open({ headEvery: { events: 1_000, ms: 500 } });
    const shim = new Shim('a');
    await ledger.ingest(shim.call('a'));
    await ledger.ingest(shim.call('b'));
    expect(await ledger.store.lastHead()).toMatchObject({ seq: 3 });
    await vi.advanceTimersByTimeAsync(500);
    // Behind the one that the timer has started.
    await ledger.seal();
    expect(await ledger.store.heads(0, 10)).toHaveLength(2);
    expect(await ledger.store.lastHead()).toMatchObject({ kind: 'interval', seq: 6 });
    await ledger.close();
  });

  it('are not repeated when nothing happened', async () => {
    const home = new LedgerHome();
    const ledger = await home.open();
    expect(await ledger.seal()).toBeUndefined();
    await ledger.ingest(new Shim('a').call('a'));
    const head = await ledger.seal();
    expect(await ledger.seal()).toEqual(head);
    expect(await ledger.ingest(new Shim('a').call('a'))).toMatchObject({ accepted: 0 });
    expect(await ledger.seal()).toEqual(head);
    await ledger.close();
    await home.record();
    const again = await home.open();
    expect(await again.store.heads(0, 10)).toHaveLength(2);
  });

  it('are kept beside the ledger, for its user alone', async () => {
    const home = new LedgerHome();
    await home.record(new Shim('a').call('a'));
    const kept = parseWitness(readFileSync(home.headFile, 'utf8'));
    expect(kept?.head).toMatchObject({ n: 2, kind: 'close', seq: 3, createdAtMs: T0_MS });
    for (const text of [
      '',
      '{}',
      'null',
      '{"format":"subluminal.head.v1","ledger_id":"x","head":{}}',
    ]) {
      expect(parseWitness(text), text).toBeUndefined();
    }
  });

  it('that cannot be kept beside the ledger stop nothing, and are told of', async () => {
    const home = new LedgerHome();
    const warnings: string[] = [];
    mkdirSync(home.headFile);
    const witness = { ...memoryWitness(), write: () => Promise.reject(new Error('no room')) };
    const ledger = await home.open({ witness, onWarning: (text) => warnings.push(text) });
    expect(await ledger.ingest(new Shim('a').call('a'))).toMatchObject({ accepted: 3 });
    expect(warnings.join()).toContain('no room');
    await ledger.close();
    rmSync(home.headFile, { recursive: true });
    // But the next writer cannot know any more that nothing was cut off.
    await expect(home.open()).rejects.toMatchObject({
      code: 'SUB_LEDGER_TAMPERED',
      message: expect.stringContaining('`ledger.head` is missing') as unknown,
    });
    writeFileSync(home.headFile, 'garbage');
    await expect(home.open()).rejects.toMatchObject({
      message: expect.stringContaining('`ledger.head` cannot be read') as unknown,
    });
    const next = await home.open({ onRollback: 'record' });
    await next.close();
    await home.record(new Shim('b').call('a'));
    expect(await home.verify()).toMatchObject({ ok: true, findings: [{ kind: 'rollback' }] });
  });
});

describe('a ledger', () => {
  it('refuses a batch without end', async () => {
    const ledger = await new LedgerHome().open();
    const line = new Shim('a').start('c');
    const lines = Array.from({ length: 20_001 }, () => line);
    await expect(ledger.ingest(lines)).rejects.toThrow(RangeError);
  });

  it('takes nothing more when it is closed, and can be closed twice', async () => {
    const home = new LedgerHome();
    const ledger = await home.open();
    await Promise.all([ledger.close(), ledger.close()]);
    await expect(ledger.ingest(new Shim('a').call('c'))).rejects.toMatchObject({
      code: 'SUB_LEDGER_IO',
    });
  });

  it('says which events it took over after a crash', async () => {
    const home = new LedgerHome();
    const crashed = await home.open();
    const shim = new Shim('a');
    await crashed.ingest(shim.call('a'));
    await crashed.ingest(shim.call('b'));
    await crashed.store.close();
    await home.record(shim.call('c'));
    const report = await home.verify({ deep: true });
    expect(report).toMatchObject({ ok: true, events: 10, signedSeq: 10 });
    expect(report.findings).toMatchObject([{ kind: 'recovered', level: 'warning', fromSeq: 7 }]);
  });
});
