// A ledger of an older schema: the next version opens it, and nothing of it is lost.

import { readFileSync, writeFileSync } from 'node:fs';
import { isFailure } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifierFromPems } from '../../../os/crypto/index.ts';
import { fileWitness } from '../chain/signed-head.ts';
import { Shim, T0_MS } from '../testing/events.ts';
import { LedgerHome, PAIR, signer } from '../testing/temp-ledger.ts';
import { type VerifyReport, verifyLedger } from '../verify/verify.ts';
import { openLedger } from '../write/ledger.ts';
import { MIGRATIONS } from './schema.ts';
import { openSqliteReader, openSqliteStore } from './sqlite-store.ts';

const OLD = readFileSync(new URL('../testing/schema-1.sql', import.meta.url), 'utf8');
const OLD_EVENTS = 25;

/** What a later version may want: a column with a value, an index, a table. */
const LATER = [
  ...MIGRATIONS,
  `ALTER TABLE tool_calls ADD COLUMN turn INTEGER GENERATED ALWAYS AS (events) VIRTUAL;
   CREATE INDEX calls_turn ON tool_calls (turn);`,
  'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;',
];

/** The old file, with its last head beside it. */
async function oldHome(): Promise<LedgerHome> {
  const home = new LedgerHome();
  await home.tamper((db) => db.exec(OLD));
  writeFileSync(home.headFile, `${/^-- Head: (.+)$/m.exec(OLD)?.[1] ?? ''}\n`);
  return home;
}

/** With the key of then, and the key of those who wrote since. */
function verifier() {
  const key = /^-- Key: (.+)$/m.exec(OLD)?.[1] ?? '';
  const publicPem = `-----BEGIN PUBLIC KEY-----\n${key}\n-----END PUBLIC KEY-----\n`;
  const made = verifierFromPems([publicPem, PAIR.publicPem]);
  if (isFailure(made)) throw new Error(made.message);
  return made;
}

/** Before heads were sealed, anybody could have put an older one in `ledger.head`. */
const UNSEALED = [{ kind: 'witness', level: 'warning' }];

interface Steps {
  readonly migrations?: readonly string[];
}

async function verified(home: LedgerHome, steps: Steps = {}): Promise<VerifyReport> {
  const reader = await openSqliteReader({ file: home.file, ...steps });
  try {
    const witness = fileWitness(home.headFile);
    return await verifyLedger(reader, { verifier: verifier(), witness, deep: true });
  } finally {
    await reader.close();
  }
}

/** Appends as the daemon does, and closes. */
async function record(home: LedgerHome, call: string, steps: Steps = {}): Promise<void> {
  const store = await openSqliteStore({ file: home.file, ...steps });
  const witness = fileWitness(home.headFile);
  const ledger = await openLedger({ store, signer: signer(), witness, nowMs: () => T0_MS });
  await ledger.ingest(new Shim(`new-${call}`, { run: 'run-new' }).call(call));
  await ledger.close();
}

async function schemaOf(home: LedgerHome): Promise<number> {
  let version = -1;
  await home.tamper((db) => {
    const row = db.prepare('PRAGMA user_version').get() as { user_version: number };
    version = row.user_version;
  });
  return version;
}

async function expectAll(home: LedgerHome, steps: Steps = {}): Promise<void> {
  const reader = await openSqliteReader({ file: home.file, ...steps });
  const runs = (await reader.runs({}, {})).rows.map(({ run_id }) => run_id);
  expect(runs.filter((run) => run !== 'run-new')).toEqual(['run-a', 'run-lean']);
  const { rows } = await reader.calls({ runId: 'run-a' }, {});
  expect(rows.map(({ call_id, decision, status }) => [call_id, decision, status])).toEqual([
    ['a3', 'ALLOW', 'ERROR'],
    ['a2', 'BLOCK', null],
    ['a1', 'ALLOW', 'OK'],
  ]);
  expect(await reader.call('run-a', 'a1')).toMatchObject({
    args_preview: '{"of":"a1"}',
    result_preview: 'result of a1',
  });
  expect(await reader.call('run-lean', 'l1')).toMatchObject({ args_preview: null });
  expect(await reader.policies(9)).toMatchObject([{ policy_id: 'team', version: '1.2.0' }]);
  expect(await reader.rejects(9)).toMatchObject([{ producer: 'a', line: 'no event' }]);
  const lines = await reader.events({ afterSeq: 0, limit: OLD_EVENTS, producer: 'a' });
  expect(lines.map(({ type }) => type)).toContain('of_tomorrow');
  await reader.close();
}

describe('a ledger of schema 1', () => {
  it('is opened by this version with everything in it, verified, and goes on', async () => {
    const home = await oldHome();
    await expectAll(home);
    const before = await verified(home);
    expect(before).toMatchObject({ ok: true, events: OLD_EVENTS, pruned: 7, findings: UNSEALED });
    await record(home, 'c');
    await expectAll(home);
    const after = await verified(home);
    // What it found, the ledger says for good.
    expect(after).toMatchObject({ ok: true, events: OLD_EVENTS + 4, findings: UNSEALED });
    expect(after.findings[0]?.fromSeq).toBe(OLD_EVENTS + 1);
    expect(await schemaOf(home)).toBe(MIGRATIONS.length);
  });

  it('loses what is pruned, wherever its lines stand', async () => {
    const home = await oldHome();
    await record(home, 'c');
    expect(readFileSync(home.file).includes('result of a1')).toBe(true);
    const store = await openSqliteStore({ file: home.file });
    const witness = fileWitness(home.headFile);
    const ledger = await openLedger({ store, signer: signer(), witness, nowMs: () => T0_MS });
    await ledger.prune({ keepRuns: 0 });
    await ledger.close();
    expect(readFileSync(home.file).includes('result of a1')).toBe(false);
    expect(await verified(home)).toMatchObject({ ok: true, findings: UNSEALED });
  });

  it('is led on to a later schema by its next writer', async () => {
    const home = await oldHome();
    await record(home, 'c', { migrations: LATER });
    expect(await schemaOf(home)).toBe(LATER.length);
    await expectAll(home, { migrations: LATER });
    await home.tamper((db) => {
      const rows = db.prepare("SELECT turn FROM tool_calls WHERE run_id = 'run-a'").all();
      expect(rows).toMatchObject([{ turn: 3 }, { turn: 2 }, { turn: 3 }]);
    });
    const report = await verified(home, { migrations: LATER });
    expect(report).toMatchObject({ ok: true, events: OLD_EVENTS + 4, findings: UNSEALED });
  });

  it('is led on by whoever looks at it first, when nobody writes', async () => {
    const home = await oldHome();
    await expectAll(home, { migrations: LATER });
    expect(await schemaOf(home)).toBe(LATER.length);
    expect(await verified(home, { migrations: LATER })).toMatchObject({
      ok: true,
      findings: UNSEALED,
    });
  });

  it('is not read by a later version while an earlier one writes to it', async () => {
    const home = await oldHome();
    const store = await openSqliteStore({ file: home.file });
    const read = openSqliteReader({ file: home.file, migrations: LATER });
    await expect(read).rejects.toMatchObject({ code: 'SUB_LEDGER_LOCKED' });
    await store.close();
    expect(await schemaOf(home)).toBe(MIGRATIONS.length);
  });

  it('stays as it is when a step fails', async () => {
    const home = await oldHome();
    const migrations = [...LATER, 'NONSENSE;'];
    await expect(openSqliteStore({ file: home.file, migrations })).rejects.toThrow('NONSENSE');
    expect(await schemaOf(home)).toBe(1);
    await expectAll(home);
    expect(await verified(home)).toMatchObject({
      ok: true,
      findings: UNSEALED,
    });
  });
});

describe('a ledger of a later schema', () => {
  it('is refused by this version, to write and to read, and stays whole', async () => {
    const home = await oldHome();
    await record(home, 'c', { migrations: LATER });
    const newer = {
      code: 'SUB_LEDGER_NEWER',
      message: expect.stringContaining(
        `it has schema ${LATER.length}, this version knows ${MIGRATIONS.length}`,
      ) as unknown,
    };
    await expect(openSqliteStore({ file: home.file })).rejects.toMatchObject(newer);
    await expect(openSqliteReader({ file: home.file })).rejects.toMatchObject(newer);
    expect(await verified(home, { migrations: LATER })).toMatchObject({
      ok: true,
      findings: UNSEALED,
    });
  });
});

describe('a file that was made and never filled', () => {
  it('is no ledger yet', async () => {
    const home = new LedgerHome();
    writeFileSync(home.file, '');
    await expect(openSqliteReader({ file: home.file })).rejects.toMatchObject({
      code: 'SUB_LEDGER_MISSING',
    });
    await home.record(new Shim('a').call('c'));
    expect(await home.verify()).toMatchObject({ ok: true, events: 3 });
  });
});

it('an upgrade tells once that it may take a while', async () => {
  const home = await oldHome();
  const told: string[] = [];
  const notice = (message: string) => void told.push(message);
  for (let time = 0; time < 2; time++) {
    const reader = await openSqliteReader({ file: home.file, notice });
    await reader.close();
  }
  expect(told).toEqual([expect.stringContaining('upgraded once') as string]);
});

it('a writer tells it as a warning, and says nothing about a new ledger', async () => {
  const told: string[] = [];
  const onWarning = (message: string) => void told.push(message);
  await (await new LedgerHome().open({ onWarning })).close();
  expect(told).toEqual([]);
  const home = await oldHome();
  await (await home.open({ onWarning, onRollback: 'record' })).close();
  expect(told).toEqual([expect.stringContaining('upgraded once') as string]);
});
