// Taking events in, as tests.
import { expect, it } from 'vitest';
import type { IncomingLine } from '../chain/event-line.ts';
import { Shim, T0_MS } from './events.ts';
import { expectProven, ids, type OpenStore, open, tables } from './suite-tools.ts';

export function ingestSuite(openStore: OpenStore): void {
  it('takes 10,000 events of many producers in without losing one', async () => {
    const ledger = await open(openStore);
    const shims = Array.from({ length: 10 }, (_, n) => new Shim(`s${n}`, { run: `run-${n % 4}` }));
    const lines = Array.from(
      { length: 3_334 },
      (_, n) => shims[n % 10]?.call(`c${n}`) ?? [],
    ).flat();
    const batches = Array.from({ length: 21 }, (_, n) => lines.slice(n * 500, (n + 1) * 500));
    // All at once: the ledger puts them in a row.
    const results = await Promise.all(batches.map((batch) => ledger.ingest(batch)));
    expect(results.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(10_002);
    expect(await ledger.store.counts()).toEqual({ runEvents: 10_002, callEvents: 10_002 });
    expect(await ledger.store.stats({})).toMatchObject({ runs: 4, calls: { total: 3_334 } });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('stores what is sent twice once', async () => {
    const ledger = await open(openStore);
    const lines = new Shim('a').call('c');
    const first = lines.slice(0, 2);
    expect(await ledger.ingest([...first, ...first])).toEqual({
      accepted: 2,
      duplicates: 2,
      rejected: 0,
    });
    expect(await ledger.ingest(lines)).toEqual({ accepted: 1, duplicates: 2, rejected: 0 });
    expect(await ledger.ingest(lines)).toEqual({ accepted: 0, duplicates: 3, rejected: 0 });
    // The same numbers of another producer are other lines.
    expect(await ledger.ingest(new Shim('b').call('c'))).toMatchObject({ accepted: 3 });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('sets aside what it cannot read, with the reason, and keeps the rest', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    const wrong = [
      '',
      'text',
      '[]',
      '{}',
      '{"type":7}',
      '{"type":"run_start"}',
      '\ud800',
      '"'.repeat(10_000),
    ];
    const lines = [...wrong.map((line) => shim.raw(line)), shim.start('c')];
    expect(await ledger.ingest(lines)).toEqual({ accepted: 1, duplicates: 0, rejected: 8 });
    const rejects = await ledger.store.rejects(100);
    expect(rejects).toHaveLength(8);
    expect(rejects.every(({ line }) => line.length <= 2_048)).toBe(true);
    expect(rejects.at(-1)).toMatchObject({
      producer: 'a',
      producerSeq: 0,
      line: '',
      createdAtMs: T0_MS,
    });
    expect(rejects.at(-6)?.reason).toMatch(/^SUB_EVENT_MALFORMED: /);
    // The same again is not set aside again.
    await ledger.ingest(lines);
    expect(await ledger.store.rejects(100)).toHaveLength(8);
    await ledger.close();
  });

  it('takes nothing under its own name, and no line without a proper number', async () => {
    const ledger = await open(openStore);
    const [line = ''] = new Shim('a').call('c').map((one) => one.line);
    const lines: readonly IncomingLine[] = [
      { producer: 'subluminal.ledger', seq: 1, line },
      { producer: '', seq: 1, line },
      { producer: 'p'.repeat(257), seq: 1, line },
      { producer: 'a\ud800', seq: 1, line },
      { producer: 'a', seq: -1, line },
      { producer: 'a', seq: 0.5, line },
      { producer: 'a', seq: Number.NaN, line },
      { producer: 'a', seq: 2 ** 53, line },
    ];
    expect(await ledger.ingest(lines)).toEqual({ accepted: 0, duplicates: 0, rejected: 8 });
    expect((await ledger.store.tip()).seq).toBe(0);
    await ledger.close();
  });

  it('keeps events of types that it does not know, and makes no rows of them', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    const line =
      '{"type":"from_the_future","run_id":"r","ts":"2026-01-31T12:00:00Z","more":{"a":[1]}}';
    expect(await ledger.ingest([shim.raw(line)])).toMatchObject({ accepted: 1 });
    const [stored] = await ledger.store.events({ afterSeq: 0, limit: 10 });
    expect(stored).toMatchObject({ line, type: 'from_the_future', runId: 'r', tsMs: T0_MS });
    expect(await ledger.store.run('r')).toBeUndefined();
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('makes the same rows in whatever order and batches the events of a call arrive', async () => {
    const shim = new Shim('a');
    const [start, decision, end] = [shim.start('c'), shim.decision('c'), shim.end('c')];
    const orders = [
      [[start, decision, end]],
      [[start], [decision], [end]],
      [[end], [start], [decision]],
      [[decision, end], [start]],
      [[end, decision, start]],
    ];
    for (const batches of orders) {
      const ledger = await open(openStore);
      for (const batch of batches) await ledger.ingest(batch);
      expect(await ledger.store.call('run-1', 'c')).toMatchObject({
        decision: 'ALLOW',
        status: 'OK',
        latency_ms: 12,
        bytes_in: 100,
        bytes_out: 34,
        args_preview: '{"of":"c"}',
        result_preview: 'result of c',
        created_at_ms: T0_MS,
      });
      await ledger.close();
    }
  });

  it('lets a later decision replace an earlier one as a whole', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    await ledger.ingest([shim.start('c'), shim.decision('c', { action: 'BLOCK', rule_id: 'r' })]);
    await ledger.ingest([shim.decision('c')]);
    expect(await ledger.store.call('run-1', 'c')).toMatchObject({
      decision: 'ALLOW',
      rule_id: null,
    });
    await ledger.close();
  });

  it('keeps texts with whatever characters they have', async () => {
    const ledger = await open(openStore);
    const id = 'b\'";--\u2028\ud83d\ude00%_\\\\u0000\\';
    const shim = new Shim('a', { run: id, tool: id });
    const lone = shim.start('\ud800').line.replace(String.raw`\ud800`, '\ud800');
    await ledger.ingest([...shim.call(id), shim.start('\udfff'), shim.raw(lone)]);
    expect(await ledger.store.call(id, id)).toMatchObject({
      run_id: id,
      call_id: id,
      tool_name: id,
    });
    expect(ids(await ledger.store.calls({ runId: id, toolName: id }, {}))).toContain(id);
    // A NUL fits into no column; the line keeps it.
    await ledger.ingest(new Shim('b', { run: 'x\0y' }).call('z\0\\\0'));
    expect(ids(await ledger.store.calls({ runId: 'x\ufffdy' }, {}))).toEqual(['z\ufffd\\\ufffd']);
    const [stored] = await ledger.store.events({ afterSeq: 0, limit: 1, runId: 'x\ufffdy' });
    expect(stored?.line).toContain(String.raw`"run_id":"x\u0000y"`);
    await expectProven(ledger.store);
    expect(await ledger.prune({ keepRuns: 0 })).toEqual({ runs: 2, events: 8 });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('fails as a whole or not at all', async () => {
    const ledger = await open(openStore);
    await ledger.ingest(new Shim('a').call('c'));
    const before = await tables(ledger.store);
    const failing = ledger.store.transaction(async (transaction) => {
      await transaction.clearProjections();
      throw new Error('in between');
    });
    await expect(failing).rejects.toThrow('in between');
    expect(await tables(ledger.store)).toEqual(before);
    await ledger.ingest(new Shim('b').call('d'));
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('notices that something else has written to the store', async () => {
    const ledger = await open(openStore);
    await ledger.ingest(new Shim('a').call('c'));
    const [row] = await ledger.store.events({ afterSeq: 2, limit: 1 });
    await ledger.store.transaction(async (transaction) => {
      if (row !== undefined) await transaction.addEvents([{ ...row, seq: 4, producerSeq: 99 }]);
    });
    await expect(ledger.ingest(new Shim('b').call('d'))).rejects.toMatchObject({
      code: 'SUB_LEDGER_TAMPERED',
    });
    await ledger.store.close();
  });
}
