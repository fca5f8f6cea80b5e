// A writer in a process of its own, to be killed: ingests without end and tells what is committed.

import { readFileSync } from 'node:fs';
import { isFailure } from '@subluminal/contracts';
import { signerFromPem } from '../../../os/crypto/index.ts';
import { fileWitness } from '../chain/signed-head.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import { openLedger } from '../write/ledger.ts';
import { Shim } from './events.ts';

const [folder = '.', producer = 'shim'] = process.argv.slice(2);
const made = signerFromPem(readFileSync(`${folder}/ledger.key`, 'utf8'));
if (isFailure(made)) throw new Error(made.message);

try {
  const ledger = await openLedger({
    store: await openSqliteStore({ file: `${folder}/ledger.db` }),
    signer: made,
    witness: fileWitness(`${folder}/ledger.head`),
    nowMs: Date.now,
    headEvery: { events: 200, ms: 50 },
  });
  const shim = new Shim(producer);
  for (let call = 0; ; ) {
    const lines = Array.from({ length: 30 }, () => shim.call(`${producer}-${call++}`)).flat();
    await ledger.ingest(lines);
    process.stdout.write(`${shim.count}\n`);
  }
} catch (cause) {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  process.stdout.write(`${code}\n`);
  process.exitCode = 1;
}
