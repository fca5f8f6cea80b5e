// A ledger in a folder of its own that goes away with the test.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { onTestFinished } from 'vitest';
import { createKeyPair, signerFromPem, verifierFromPems } from '../../../os/crypto/index.ts';
import { fileWitness } from '../chain/signed-head.ts';
import { type Database, loadSqlite } from '../sqlite/load.ts';
import { openSqliteReader, openSqliteStore, type SqliteOptions } from '../sqlite/sqlite-store.ts';
import { type VerifyOptions, type VerifyReport, verifyLedger } from '../verify/verify.ts';
import { type Ledger, type LedgerOptions, openLedger } from '../write/ledger.ts';
import { T0_MS } from './events.ts';

export const PAIR = createKeyPair();

export function signer() {
  const made = signerFromPem(PAIR.privatePem);
  if (isFailure(made)) throw new Error(made.message);
  return made;
}

export function verifier() {
  const made = verifierFromPems([PAIR.publicPem]);
  if (isFailure(made)) throw new Error(made.message);
  return made;
}

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'subluminal-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Where a ledger lives, and how tests open, look at and change it. */
export class LedgerHome {
  readonly folder: string;
  readonly file: string;
  readonly headFile: string;

  constructor(folder = tempFolder()) {
    this.folder = folder;
    this.file = join(folder, 'ledger.db');
    this.headFile = join(folder, 'ledger.head');
  }

  async open(
    options: Partial<LedgerOptions> & Partial<Omit<SqliteOptions, 'file'>> = {},
  ): Promise<Ledger> {
    const { bytesMax, synchronous, ...rest } = options;
    const store = await openSqliteStore({
      file: this.file,
      ...(bytesMax !== undefined && { bytesMax }),
      ...(synchronous !== undefined && { synchronous }),
    });
    try {
      const ledger = await openLedger({
        store,
        signer: signer(),
        witness: fileWitness(this.headFile),
        nowMs: () => T0_MS,
        ...rest,
      });
      onTestFinished(() => ledger.close().catch(() => undefined));
      return ledger;
    } catch (cause) {
      await store.close();
      throw cause;
    }
  }

  /** Ingests into a ledger that is then closed. */
  async record(...batches: readonly Parameters<Ledger['ingest']>[0][]): Promise<void> {
    const ledger = await this.open();
    for (const batch of batches) await ledger.ingest(batch);
    await ledger.close();
  }

  async verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    const reader = await openSqliteReader({ file: this.file });
    try {
      const witness = fileWitness(this.headFile);
      return await verifyLedger(reader, { verifier: verifier(), witness, ...options });
    } finally {
      await reader.close();
    }
  }

  /** What somebody with a database shell could do. */
  async tamper(work: (db: Database) => void): Promise<void> {
    const { DatabaseSync } = await loadSqlite();
    const db = new DatabaseSync(this.file, {
      enableForeignKeyConstraints: false,
      defensive: false,
    });
    try {
      work(db);
    } finally {
      db.close();
    }
  }
}
