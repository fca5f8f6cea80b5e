// A real ledger in a file, for tests only.
import { type Event, isFailure } from '@subluminal/contracts';
import { createKeyPair, signerFromPem } from '@subluminal/plane/crypto';
import { fileWitness, openLedger, openSqliteStore } from '@subluminal/plane/ledger';

/** Makes a ledger with these events, and signs it; returns the private key. */
export async function makeLedger(file: string, events: readonly Event[]): Promise<string> {
  const { privatePem } = createKeyPair();
  const made = signerFromPem(privatePem);
  if (isFailure(made)) throw new Error('the key cannot sign');
  const witness = fileWitness(`${file.replace(/\.db$/, '')}.head`);
  const store = await openSqliteStore({ file });
  const ledger = await openLedger({ store, signer: made, witness, nowMs: Date.now });
  const lines = events.map((event, index) => ({
    producer: 'test',
    seq: index + 1,
    line: JSON.stringify(event),
  }));
  const { rejected } = await ledger.ingest(lines);
  await ledger.close();
  if (rejected > 0) throw new Error(`${rejected} lines are no events`);
  return privatePem;
}
