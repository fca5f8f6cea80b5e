import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { factsOf } from '../chain/event-line.ts';
import { digestOf, linkHash } from '../chain/hash-chain.ts';
import { parseWitness } from '../chain/signed-head.ts';
import type { Database } from '../sqlite/load.ts';
import { Shim, T0_MS } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';

/** Ten calls in one run, closed: events 1 to 32. */
async function filled(): Promise<LedgerHome> {
  const home = new LedgerHome();
  const shim = new Shim('shim-a');
  const calls = Array.from({ length: 10 }, (_, index) => shim.call(`c${index}`));
  await home.record([shim.runStart(), ...calls.flat(), shim.runEnd(10)]);
  return home;
}

function hashOf(db: Database, seq: number): Uint8Array {
  const row = db.prepare('SELECT hash FROM events WHERE seq = ?').get(seq) as { hash: Uint8Array };
  return row.hash;
}

/** Writes a row as the ledger would, with a hash that follows. */
function forge(db: Database, seq: number, line: string): void {
  const link = { seq, producer: 'shim-a', producerSeq: 1_000 + seq, digest: digestOf(line) };
  const hash = linkHash(hashOf(db, seq - 1), link);
  const { type, tsMs, runId } = factsOf(line);
  db.prepare(
    `INSERT INTO events (seq, producer_id, producer_seq, hash, type, ts, run_id)
     VALUES (?, 1, ?, ?, ?, ?, ?)`,
  ).run(seq, 1_000 + seq, hash, type, tsMs, runId);
  db.prepare('INSERT INTO lines (seq, line) VALUES (?, ?)').run(seq, line);
}

describe('verifying an untouched ledger', () => {
  it('finds nothing, and says what it has looked at', async () => {
    const home = await filled();
    expect(await home.verify({ deep: true })).toMatchObject({
      ok: true,
      events: 32,
      signedSeq: 32,
      pruned: 0,
      heads: 2,
      tip: { seq: 32 },
      signatures: 'checked',
      projections: 'compared',
      findings: [],
    });
    expect(readdirSync(home.folder).filter((name) => !name.startsWith('ledger.'))).toEqual([]);
  });

  it('holds for an empty ledger, an open one and one that was opened often', async () => {
    const home = new LedgerHome();
    await home.record();
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true, events: 0, findings: [] });
    const shim = new Shim('shim-a');
    const ledger = await home.open();
    await ledger.ingest(shim.call('a'));
    await ledger.ingest(shim.call('b'));
    const open = await home.verify({ deep: true, isWritten: true });
    expect(open).toMatchObject({ ok: true, events: 6, signedSeq: 3 });
    expect(open.findings).toMatchObject([{ kind: 'unsigned', level: 'note' }]);
    await ledger.close();
    for (const id of ['c', 'd']) await home.record(shim.call(id));
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true, events: 12, heads: 6 });
  });
});

describe('verifying a ledger that was changed', () => {
  it.each([
    ['a line', "UPDATE lines SET line = replace(line, 'c3', 'c4') WHERE seq = 12", 'changed', 12],
    ['a hash', 'UPDATE events SET hash = zeroblob(32) WHERE seq = 12', 'changed', 12],
    [
      'the hash of the last event',
      'UPDATE events SET hash = zeroblob(32) WHERE seq = 32',
      'changed',
      32,
    ],
    ['the first event', "UPDATE lines SET line = line || ' ' WHERE seq = 1", 'changed', 1],
    ['the number of a line', 'UPDATE events SET producer_seq = 999 WHERE seq = 12', 'changed', 12],
    ['the name of a producer', "UPDATE producers SET name = 'shim-b'", 'changed', 1],
    ['the type beside a line', "UPDATE events SET type = 'run_end' WHERE seq = 12", 'changed', 12],
    ['the run beside a line', "UPDATE events SET run_id = 'other' WHERE seq = 12", 'changed', 12],
    ['the time beside a line', 'UPDATE events SET ts = 0 WHERE seq = 12', 'changed', 12],
    ['a row in the middle', 'DELETE FROM events WHERE seq = 12', 'removed', 12],
    ['the first row', 'DELETE FROM events WHERE seq = 1', 'removed', 1],
    ['the end', 'DELETE FROM events WHERE seq > 20', 'removed', 21],
    ['a line alone', 'DELETE FROM lines WHERE seq = 12', 'changed', 12],
    [
      'a row before the first',
      "INSERT INTO events (seq, producer_id, producer_seq, hash, line) VALUES (0, 1, 999, zeroblob(32), '{}')",
      'added',
      0,
    ],
  ])('names the row: %s', async (_, sql, kind, seq) => {
    const home = await filled();
    await home.tamper((db) => db.exec(sql));
    const report = await home.verify();
    expect(report.ok).toBe(false);
    expect(report.findings[0]).toMatchObject({ kind, fromSeq: seq });
  });

  it('names both rows when two were exchanged', async () => {
    const home = await filled();
    await home.tamper((db) => {
      db.exec('UPDATE events SET seq = -1 WHERE seq = 12');
      db.exec('UPDATE events SET seq = 12 WHERE seq = 15');
      db.exec('UPDATE events SET seq = 15 WHERE seq = -1');
    });
    const { findings } = await home.verify();
    expect(findings.map(({ fromSeq }) => fromSeq)).toEqual(expect.arrayContaining([12, 15]));
    expect(findings[0]).toMatchObject({ kind: 'changed', fromSeq: 12 });
  });

  it('blames one row alone when only its hash was changed', async () => {
    const home = await filled();
    await home.tamper((db) => db.exec('UPDATE events SET hash = zeroblob(32) WHERE seq = 12'));
    const { findings } = await home.verify();
    expect(findings).toHaveLength(1);
  });

  it('is not fooled by a chain that was recomputed to its end', async () => {
    const home = await filled();
    await home.tamper((db) => {
      const rows = db
        .prepare(
          'SELECT seq, producer_seq, l.line FROM events JOIN lines l USING (seq) ORDER BY seq',
        )
        .all();
      let hash: Uint8Array = new Uint8Array(32);
      for (const row of rows as { seq: number; producer_seq: number; line: string }[]) {
        const line = row.seq === 12 ? row.line.replace('c3', 'c4') : row.line;
        const link = { seq: row.seq, producer: 'shim-a', producerSeq: row.producer_seq };
        hash = linkHash(hash, { ...link, digest: digestOf(line) });
        db.prepare('UPDATE events SET hash = ? WHERE seq = ?').run(hash, row.seq);
        db.prepare('UPDATE lines SET line = ? WHERE seq = ?').run(line, row.seq);
      }
    });
    const report = await home.verify();
    expect(report.findings[0]).toMatchObject({ kind: 'changed', fromSeq: 1, toSeq: 32 });
  });

  it('finds a row that was added to a closed ledger, though its hash follows', async () => {
    const home = await filled();
    await home.tamper((db) => forge(db, 33, new Shim('x').start('forged').line));
    expect((await home.verify()).findings[0]).toMatchObject({
      kind: 'added',
      fromSeq: 33,
      toSeq: 33,
    });
  });

  it('finds a row that was added and does not follow', async () => {
    const home = await filled();
    await home.tamper((db) => {
      forge(db, 33, new Shim('x').start('forged').line);
      db.exec('UPDATE events SET hash = zeroblob(32) WHERE seq = 33');
    });
    expect((await home.verify()).findings[0]).toMatchObject({ kind: 'added', fromSeq: 33 });
  });

  it('reports a row that cannot be read instead of failing', async () => {
    const home = await filled();
    await home.tamper((db) => db.exec('UPDATE events SET ts = 9223372036854775807 WHERE seq = 12'));
    const report = await home.verify();
    expect(report.findings[0]).toMatchObject({ kind: 'unreadable' });
  });
});

describe('verifying heads', () => {
  it.each([
    [
      'a signature',
      "UPDATE heads SET signature = replace(signature, substr(signature, 1, 4), 'AAAA') WHERE n = 1",
    ],
    ['a number', 'UPDATE heads SET seq = 31, count = 31 WHERE n = 2'],
    ['a hash', "UPDATE heads SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE n = 1"],
    ['a time', 'UPDATE heads SET created_at = 1 WHERE n = 2'],
    ['a head in the middle', 'DELETE FROM heads WHERE n = 1'],
  ])('finds %s that was changed', async (_, sql) => {
    const home = await filled();
    await home.tamper((db) => db.exec(sql));
    expect((await home.verify()).ok).toBe(false);
  });

  it('finds the end cut off together with its heads, by the head beside the ledger', async () => {
    const home = new LedgerHome();
    const shim = new Shim('shim-a');
    await home.record(shim.call('a'));
    await home.record(shim.call('b'));
    await home.tamper((db) => {
      db.exec('DELETE FROM events WHERE seq > 3');
      db.exec('DELETE FROM lines WHERE seq > 3');
      db.exec('DELETE FROM heads WHERE seq > 3');
    });
    const report = await home.verify();
    expect(report.findings[0]).toMatchObject({ kind: 'removed', fromSeq: 4, toSeq: 6 });
  });

  it('finds a ledger that was replaced by an older copy', async () => {
    const home = new LedgerHome();
    const shim = new Shim('shim-a');
    await home.record(shim.call('a'));
    copyFileSync(home.file, `${home.file}.old`);
    await home.record(shim.call('b'));
    copyFileSync(`${home.file}.old`, home.file);
    const report = await home.verify();
    expect(report.findings[0]).toMatchObject({ kind: 'removed', fromSeq: 4, toSeq: 6 });
  });

  it('finds a ledger that was replaced by another one', async () => {
    const [home, other] = [await filled(), new LedgerHome()];
    await other.record(new Shim('shim-a').call('a'));
    copyFileSync(other.file, home.file);
    expect((await home.verify()).findings[0]).toMatchObject({ kind: 'removed' });
  });

  it('proves nothing about the end without a head outside, and is not content', async () => {
    const home = new LedgerHome();
    const shim = new Shim('shim-a');
    await home.record(shim.call('a'));
    await home.record(shim.call('b'));
    const kept = parseWitness(readFileSync(home.headFile, 'utf8'));
    rmSync(home.headFile);
    await home.tamper((db) => {
      db.exec('DELETE FROM events WHERE seq > 3');
      db.exec('DELETE FROM lines WHERE seq > 3');
      db.exec('DELETE FROM heads WHERE seq > 3');
      db.exec('DELETE FROM tool_calls WHERE id > 3');
      db.exec('UPDATE runs SET events = 3');
      db.exec("DELETE FROM meta WHERE key = 'signed_head'");
    });
    const alone = await home.verify();
    expect(alone).toMatchObject({ ok: false, findings: [{ kind: 'witness', level: 'error' }] });
    expect(kept).toBeDefined();
    const helped = await home.verify({ kept: kept === undefined ? [] : [kept] });
    expect(helped.findings).toContainEqual(
      expect.objectContaining({ kind: 'removed', fromSeq: 4 }),
    );
  });

  it('does not believe a head outside that nobody trusted signed', async () => {
    const home = await filled();
    const stranger = await filled();
    copyFileSync(stranger.headFile, home.headFile);
    expect((await home.verify()).ok).toBe(false);
  });
});

describe('verifying the rows that events make', () => {
  it.each([
    ['a decision', "UPDATE tool_calls SET decision = 'BLOCK' WHERE call_id = 'c4'", 'tool_calls'],
    [
      'a preview',
      "UPDATE previews SET args_seq = 1 WHERE id = (SELECT id FROM tool_calls WHERE call_id = 'c4')",
      'previews',
    ],
    ['a run', "UPDATE runs SET agent_id = 'other'", 'runs'],
    [
      'a policy',
      "INSERT INTO policy_versions VALUES ('p', '1', 'h', NULL, NULL, 0)",
      'policy_versions',
    ],
    ['a hint', "INSERT INTO hints VALUES ('r', 'c', 't', NULL, NULL, NULL, 0)", 'hints'],
  ])('names the row when it compares them all: %s', async (_, sql, table) => {
    const home = await filled();
    await home.tamper((db) => db.exec(sql));
    expect((await home.verify()).ok).toBe(true);
    const report = await home.verify({ deep: true });
    expect(report.ok).toBe(false);
    expect(report.findings[0]).toMatchObject({ kind: 'projection' });
    expect(report.findings[0]?.message).toMatch(new RegExp(`^${table}: `));
  });

  it('sees by counting that a row is missing', async () => {
    const home = await filled();
    await home.tamper((db) => db.exec("DELETE FROM tool_calls WHERE call_id = 'c4'"));
    expect((await home.verify()).findings[0]).toMatchObject({ kind: 'projection' });
  });
});

describe('verifying what was pruned', () => {
  async function pruned(what: 'all' | 'previews'): Promise<LedgerHome> {
    const home = new LedgerHome();
    const ledger = await home.open();
    for (const run of ['old', 'new']) {
      const shim = new Shim(run, { run }, run === 'old' ? T0_MS : T0_MS + 1_000);
      for (let call = 0; call < 40; call++) await ledger.ingest(shim.call(`c${call}`));
    }
    await ledger.prune({ keepRuns: 1, what });
    await ledger.close();
    return home;
  }

  it.each(['all', 'previews'] as const)('holds for %s', async (what) => {
    const home = await pruned(what);
    const report = await home.verify({ deep: true });
    expect(report).toMatchObject({ ok: true, pruned: what === 'all' ? 120 : 80, findings: [] });
  });

  it('tells of each time, of whoever wanted it, and what went', async () => {
    const home = await pruned('previews');
    const ledger = await home.open();
    await ledger.prune({ olderThanMs: T0_MS + 500, by: 'retention' });
    for (let more = 0; more < 12; more++) {
      await ledger.ingest(new Shim(`x${more}`, { run: `x${more}` }, T0_MS - 9_000).call('c'));
      await ledger.prune({ olderThanMs: T0_MS - 5_000 });
    }
    await ledger.close();
    const { prunes } = await home.verify({ deep: true });
    expect(prunes.total).toBe(14);
    expect(prunes.last).toHaveLength(10);
    expect(prunes.last.at(-1)).toMatchObject({ by: 'request', runs: 1, events: 3, atMs: T0_MS });
    const first = await pruned('all');
    expect((await first.verify()).prunes).toMatchObject({
      total: 1,
      last: [{ seq: 241, by: 'request', runs: 1, events: 120 }],
    });
  });

  it('finds a line that was removed as if it had been pruned', async () => {
    const home = await filled();
    await home.tamper((db) => {
      const row = db.prepare('SELECT line FROM lines WHERE seq = 12').get() as { line: string };
      db.prepare(
        'UPDATE events SET digest = ?, type = NULL, ts = NULL, run_id = NULL WHERE seq = 12',
      ).run(digestOf(row.line));
      db.exec('DELETE FROM lines WHERE seq = 12');
    });
    const { findings } = await home.verify();
    expect(findings[0]).toMatchObject({ kind: 'pruned', fromSeq: 12, toSeq: 12 });
  });

  it.each([
    ['one more line removed', 'all', 150],
    ['a shortened line changed', 'previews', 40],
  ] as const)('finds %s, and about where', async (_, what, seq) => {
    const home = await pruned(what);
    await home.tamper((db) => {
      const row = db.prepare('SELECT line FROM lines WHERE seq = ?').get(seq) as { line: string };
      const line = what === 'all' ? null : row.line.replace('"log"', '"gol"');
      db.prepare(
        `UPDATE events SET digest = COALESCE(digest, ?),
           type = CASE WHEN ?2 IS NULL THEN NULL ELSE type END,
           ts = CASE WHEN ?2 IS NULL THEN NULL ELSE ts END,
           run_id = CASE WHEN ?2 IS NULL THEN NULL ELSE run_id END WHERE seq = ?`,
      ).run(digestOf(row.line), line, seq);
      db.prepare('DELETE FROM lines WHERE seq = ?').run(seq);
      if (line !== null) db.prepare('INSERT INTO lines VALUES (?, ?)').run(seq, line);
    });
    const finding = (await home.verify()).findings.find(({ kind }) => kind === 'pruned');
    expect(finding?.fromSeq).toBeLessThanOrEqual(seq);
    expect(finding?.toSeq).toBeGreaterThanOrEqual(seq);
  });

  it('does not believe a record that nobody signed', async () => {
    const home = await filled();
    await home.tamper((db) => {
      const row = db.prepare('SELECT line FROM lines WHERE seq = 12').get() as { line: string };
      db.prepare('UPDATE events SET digest = ? WHERE seq = 12').run(digestOf(row.line));
      db.exec('DELETE FROM lines WHERE seq = 12');
      forge(
        db,
        33,
        '{"type":"ledger_prune","prune":{"count":1,"hash":"","events":1,"marks":[],"reason":""}}',
      );
    });
    expect((await home.verify()).findings).toContainEqual(
      expect.objectContaining({ kind: 'pruned', fromSeq: 12 }),
    );
  });

  it('is not covered up by pruning again', async () => {
    const home = await pruned('previews');
    await home.tamper((db) => {
      db.exec(`UPDATE lines SET line = replace(line, '"log"', '"gol"') WHERE seq = 40`);
    });
    const ledger = await home.open();
    await expect(ledger.prune({ keepRuns: 0 })).rejects.toMatchObject({
      code: 'SUB_LEDGER_TAMPERED',
    });
    await ledger.close();
  });

  it('still names a line that was changed before it was pruned', async () => {
    const home = await filled();
    await home.tamper((db) => {
      db.exec("UPDATE lines SET line = replace(line, 'c3', 'c4') WHERE seq = 12");
    });
    const ledger = await home.open();
    await ledger.prune({ keepRuns: 0 });
    await ledger.close();
    expect((await home.verify()).findings[0]).toMatchObject({ kind: 'changed', fromSeq: 12 });
  });
});
