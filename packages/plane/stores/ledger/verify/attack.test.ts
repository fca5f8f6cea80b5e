// What somebody does who may write all files of the ledger, and has no key: with a database shell
// and SHA-256, and nothing of our own code.
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Database } from '../sqlite/load.ts';
import { Shim, T0_MS } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';

const T0 = new Date(T0_MS).toISOString();

interface Row {
  readonly seq: number;
  readonly producer_seq: number;
  readonly name: string;
  readonly line: string;
}

/** Three runs, each in a session of its own, closed: events 1 to 15. */
async function threeRuns(): Promise<LedgerHome> {
  const home = new LedgerHome();
  for (const run of ['one', 'two', 'three']) {
    const shim = new Shim(`shim-${run}`, { run });
    await home.record([shim.runStart(), ...shim.call('c'), shim.runEnd(1)]);
  }
  return home;
}

function number8(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** All hashes anew, over whatever lines stand there now, numbered from 1. */
function rechain(db: Database): void {
  const rows = db
    .prepare(
      `SELECT e.seq, e.producer_seq, l.line, p.name FROM events e JOIN lines l ON l.seq = e.seq
       JOIN producers p ON p.id = e.producer_id ORDER BY e.seq`,
    )
    .all() as unknown as readonly Row[];
  let hash = Buffer.alloc(32);
  for (const [index, row] of rows.entries()) {
    const digest = createHash('sha256').update(row.line).digest();
    hash = createHash('sha256')
      .update(hash)
      .update(number8(index + 1))
      .update(number8(row.producer_seq))
      .update(digest)
      .update(row.name)
      .digest();
    db.prepare('UPDATE events SET seq = ?, hash = ? WHERE seq = ?').run(index + 1, hash, row.seq);
    db.prepare('UPDATE lines SET seq = ? WHERE seq = ?').run(index + 1, row.seq);
  }
}

/** The second run never happened, and the call of the first was another one. */
function rewrite(db: Database): void {
  for (const table of ['events', 'tool_calls', 'runs']) {
    db.exec(`DELETE FROM ${table} WHERE run_id = 'two'`);
  }
  db.exec(`DELETE FROM previews WHERE id NOT IN (SELECT id FROM tool_calls)`);
  db.exec('DELETE FROM lines WHERE seq NOT IN (SELECT seq FROM events)');
  db.exec(`UPDATE lines SET line = replace(line, '"log"', '"status"')
    WHERE seq IN (SELECT seq FROM events WHERE run_id = 'one')`);
  db.exec(`UPDATE tool_calls SET tool_name = 'status' WHERE run_id = 'one'`);
  // The id of a call is the number of its first event, which has moved.
  db.exec(`UPDATE previews SET id = id - 5, args_seq = args_seq - 5, result_seq = result_seq - 5
    WHERE id > 5`);
  db.exec(`UPDATE tool_calls SET id = id - 5 WHERE id > 5`);
  rechain(db);
}

function forget(db: Database): void {
  db.exec('DELETE FROM heads');
  db.exec("DELETE FROM meta WHERE key NOT IN ('ledger_id', 'projection')");
}

/** The last run goes, with all that was signed over it. */
function cutLastRun(db: Database): void {
  for (const table of ['tool_calls', 'runs']) {
    db.exec(`DELETE FROM ${table} WHERE run_id = 'three'`);
  }
  db.exec('DELETE FROM previews WHERE id > 10');
  db.exec('DELETE FROM events WHERE seq > 10');
  db.exec('DELETE FROM lines WHERE seq > 10');
  db.exec('DELETE FROM heads WHERE seq > 10');
  db.exec("DELETE FROM meta WHERE key NOT IN ('ledger_id', 'projection')");
}

interface HeadCells {
  readonly [column: string]: string | number;
}

/** `ledger.head`, made from the last row that the table of heads still has. */
function witnessFrom(db: Database): string {
  const id = db.prepare("SELECT value FROM meta WHERE key = 'ledger_id'").get() as {
    value: string;
  };
  const row = db
    .prepare(
      `SELECT n, kind, seq, hash, count, created_at AS createdAtMs, prev, key_id AS keyId, signature
       FROM heads ORDER BY n DESC LIMIT 1`,
    )
    .get() as HeadCells;
  return `${JSON.stringify({ format: 'subluminal.head.v1', ledger_id: id.value, head: row })}\n`;
}

async function errorsOf(home: LedgerHome, deep = true): Promise<readonly string[]> {
  const { findings } = await home.verify({ deep });
  return findings.filter(({ level }) => level === 'error').map(({ kind }) => kind);
}

describe('a history that was written anew without the key', () => {
  async function rewritten(): Promise<LedgerHome> {
    const home = await threeRuns();
    await home.tamper((db) => {
      rewrite(db);
      forget(db);
    });
    rmSync(home.headFile);
    return home;
  }

  it.each([true, false])('is found, because nobody has signed it (deep: %s)', async (deep) => {
    const home = await rewritten();
    const report = await home.verify({ deep });
    expect(report).toMatchObject({ ok: false, events: 10, heads: 0 });
    // Everything else fits: that alone gives it away.
    expect(report.findings).toMatchObject([
      { kind: 'unsigned', level: 'error', fromSeq: 1, toSeq: 10 },
    ]);
  });

  it('is not signed by the next daemon either', async () => {
    const home = await rewritten();
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_TAMPERED' });
    expect(await errorsOf(home)).toEqual(['unsigned']);
  });

  it('is told of for good when somebody goes on with it all the same', async () => {
    const home = await rewritten();
    const ledger = await home.open({ onRollback: 'record' });
    await ledger.close();
    const report = await home.verify({ deep: true });
    expect(report.ok).toBe(true);
    expect(report.findings).toMatchObject([
      { kind: 'rollback', level: 'warning', fromSeq: 11 },
      { kind: 'recovered', level: 'warning' },
    ]);
    expect(report.findings[1]?.message).toContain('events 1 to 10');
  });

  it('is found when the heads and their witness were left as they were', async () => {
    const home = await threeRuns();
    await home.tamper(rewrite);
    expect(await errorsOf(home)).toContain('changed');
  });
});

describe('an end that was cut off without the key', () => {
  it('is found when `ledger.head` went with it', async () => {
    const home = await threeRuns();
    await home.tamper(cutLastRun);
    rmSync(home.headFile);
    expect(await errorsOf(home)).toEqual(['witness']);
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_TAMPERED' });
  });

  it('is found when what the ledger says of its last head was left in it', async () => {
    const home = await threeRuns();
    const before = await metaOf(home);
    await home.tamper((db) => {
      cutLastRun(db);
      for (const { key, value } of before) {
        db.prepare('INSERT OR IGNORE INTO meta VALUES (?, ?)').run(key, value);
      }
    });
    rmSync(home.headFile);
    expect(await errorsOf(home)).toEqual(['witness', 'removed']);
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_ROLLED_BACK' });
  });

  it('is found when `ledger.head` was made anew from an older head of the ledger', async () => {
    const home = await threeRuns();
    await home.tamper((db) => {
      cutLastRun(db);
      writeFileSync(home.headFile, witnessFrom(db));
    });
    // It is a true head, but nobody has put it there with the key.
    expect(await errorsOf(home)).toEqual(['witness']);
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_TAMPERED' });
  });

  it('is found when the seal of `ledger.head` is that of another head', async () => {
    const home = await threeRuns();
    const { seal } = JSON.parse(readFileSync(home.headFile, 'utf8')) as { seal: string };
    await home.tamper((db) => {
      cutLastRun(db);
      const made = JSON.parse(witnessFrom(db)) as object;
      writeFileSync(home.headFile, JSON.stringify({ ...made, seal }));
    });
    expect(await errorsOf(home)).toEqual(['witness']);
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_TAMPERED' });
  });

  it('is found by a copy of `ledger.head` that was kept elsewhere', async () => {
    const home = new LedgerHome();
    const shim = new Shim('a');
    await home.record(shim.call('a'));
    for (const file of [home.file, home.headFile]) copyFileSync(file, `${file}.old`);
    await home.record(shim.call('b'));
    const kept = readFileSync(home.headFile, 'utf8');
    // The whole of an older state, its witness included: from the inside that cannot be seen.
    for (const file of [home.file, home.headFile]) copyFileSync(`${file}.old`, file);
    expect(await errorsOf(home)).toEqual([]);
    const witness = JSON.parse(kept) as { head: never; ledger_id: string };
    const report = await home.verify({
      kept: [{ ledgerId: witness.ledger_id, head: witness.head }],
    });
    expect(report.findings).toMatchObject([{ kind: 'removed', fromSeq: 4, toSeq: 6 }]);
  });

  async function metaOf(home: LedgerHome) {
    let rows: readonly { key: string; value: string }[] = [];
    await home.tamper((db) => {
      rows = db.prepare('SELECT key, value FROM meta').all() as typeof rows;
    });
    return rows;
  }
});

describe('events that were added to a closed ledger', () => {
  it('are not signed by the next daemon', async () => {
    const home = await threeRuns();
    await home.tamper((db) => {
      db.exec(`INSERT INTO events (seq, producer_id, producer_seq, hash, type, ts, run_id)
        SELECT 16, producer_id, 99, zeroblob(32), type, ts, run_id FROM events WHERE seq = 2`);
      db.exec('INSERT INTO lines SELECT 16, line FROM lines WHERE seq = 2');
      rechain(db);
    });
    expect(await errorsOf(home)).toContain('added');
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_TAMPERED' });
  });
});

describe('a key that is gone', () => {
  it('is an error: heads that nobody can check prove nothing', async () => {
    const home = await threeRuns();
    const report = await home.verify({ verifier: undefined });
    expect(report).toMatchObject({ ok: false, signatures: 'unchecked' });
    expect(report.findings).toMatchObject([{ kind: 'key', level: 'error' }]);
  });
});

describe('`ledger.head`', () => {
  it.each(['', 'garbage', '{"format":"subluminal.head.v1"}'])(
    'that holds `%s` is an error',
    async (text) => {
      const home = await threeRuns();
      writeFileSync(home.headFile, text);
      expect(await errorsOf(home)).toEqual(['witness']);
      await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_TAMPERED' });
    },
  );

  it('may be missing behind the first head: a crash comes between the two', async () => {
    const home = new LedgerHome();
    const crashed = await home.open({
      witness: { read: async () => undefined, write: () => Promise.reject(new Error('killed')) },
    });
    await crashed.ingest(new Shim('a').call('c'));
    await crashed.store.close();
    const report = await home.verify({ deep: true });
    expect(report).toMatchObject({ ok: true, findings: [{ kind: 'witness', level: 'warning' }] });
    await home.record(new Shim('b').call('c'));
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true, findings: [] });
  });

  it('that lags behind the heads is told of', async () => {
    const home = new LedgerHome();
    const shim = new Shim('a');
    await home.record(shim.call('a'));
    const old = readFileSync(home.headFile, 'utf8');
    await home.record(shim.call('b'));
    writeFileSync(home.headFile, old);
    expect((await home.verify()).findings).toMatchObject([
      { kind: 'witness', level: 'warning', fromSeq: 4, toSeq: 6 },
    ]);
  });
});

describe('events that nobody has signed yet', () => {
  async function unsigned(): Promise<LedgerHome> {
    const home = new LedgerHome();
    const shim = new Shim('a');
    const crashed = await home.open();
    await crashed.ingest(shim.call('a'));
    await crashed.ingest(shim.call('b'));
    await crashed.store.close();
    return home;
  }

  it('are named: a crash leaves some', async () => {
    const home = await unsigned();
    const report = await home.verify({ deep: true });
    expect(report).toMatchObject({ ok: true, signedSeq: 3, tip: { seq: 6 } });
    expect(report.findings).toMatchObject([
      { kind: 'unsigned', level: 'warning', fromSeq: 4, toSeq: 6 },
    ]);
  });

  it('are no news while somebody writes', async () => {
    const home = await unsigned();
    const report = await home.verify({ deep: true, isWritten: true });
    expect(report.findings).toMatchObject([{ kind: 'unsigned', level: 'note', fromSeq: 4 }]);
  });
});

describe('a line in the name of another', () => {
  const [first, ...rest] = new Shim('shim-a').call('c');
  if (first === undefined) throw new Error('a call has lines');
  const forged = { ...first, line: first.line.replace('"log"', '"status"') };

  it('does not make the true one pass for known', async () => {
    const home = new LedgerHome();
    const warnings: string[] = [];
    const ledger = await home.open({ onWarning: (text) => warnings.push(text) });
    // Whatever was set aside before under this number does not hide it.
    await ledger.ingest([{ ...first, line: 'no event' }]);
    expect(await ledger.ingest([forged])).toMatchObject({ accepted: 1 });
    expect(await ledger.ingest([first, ...rest])).toEqual({
      accepted: 2,
      duplicates: 0,
      rejected: 1,
      conflicts: 1,
    });
    expect(warnings.join()).toContain('number 0 of shim-a');
    const [reject, ...others] = await ledger.store.rejects(9);
    expect(reject).toMatchObject({ producer: 'shim-a', producerSeq: 0, line: first.line });
    expect(reject?.reason).toContain('SUB_EVENT_CONFLICT');
    expect(others).toEqual([]);
    await ledger.close();
    const report = await home.verify({ deep: true });
    expect(report.ok).toBe(true);
    expect(report.findings).toMatchObject([{ kind: 'conflict', level: 'warning', fromSeq: 4 }]);
    expect(report.findings[0]?.message).toContain(`1 line was set aside on ${T0}`);
  });

  it('is told of when both come at once, and the count adds up', async () => {
    const home = new LedgerHome();
    await home.record([forged, first, forged, ...rest], [first], [forged]);
    const { findings } = await home.verify({ deep: true });
    expect(findings).toMatchObject([{ kind: 'conflict', level: 'warning' }]);
    expect(findings[0]?.message).toContain('2 lines were set aside between');
  });
});

describe('rows that were changed', () => {
  it('are found, though every event is as it was', async () => {
    const home = await threeRuns();
    await home.tamper((db) => {
      db.exec("UPDATE tool_calls SET decision = 'BLOCK', tool_name = 'rm' WHERE run_id = 'two'");
    });
    expect(await errorsOf(home)).toEqual(['projection']);
    // Counting them is not enough, and says no more than that.
    expect(await home.verify()).toMatchObject({ ok: true, projections: 'counted' });
  });
});
