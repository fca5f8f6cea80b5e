import { expect, it, vi } from 'vitest';
import { GENESIS } from '../chain/hash-chain.ts';
import { Shim } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';
import { append, ownEvent } from './append.ts';

const zlib = vi.hoisted(() => ({ fail: () => {} }));

vi.mock('node:zlib', async (original) => ({
  ...(await original<object>()),
  deflateRaw: (_bytes: Buffer, _options: object, done: (cause: Error) => void) => {
    zlib.fail = () => done(new Error('zlib failed'));
  },
}));

const NOTE = { type: 'ledger_recovered', recovered: { from_seq: 1, to_seq: 1 } } as const;

// Vitest fails a run in which a rejection has no handler.
it('a block that cannot be packed is no unhandled rejection when its events could not be added', async () => {
  const home = new LedgerHome();
  const ledger = await home.open();
  const line = 'x'.repeat(70_000);
  const event = { ...ownEvent(NOTE, 0), bytes: Buffer.from(line), producer: 'a', producerSeq: 1 };
  const adding = ledger.store.transaction((transaction) =>
    append(
      { ...transaction, addEvents: () => Promise.reject(new Error('disk full')) },
      { seq: 0, hash: GENESIS },
      [event],
    ),
  );
  await expect(adding).rejects.toThrow('disk full');
  zlib.fail();
  await new Promise(setImmediate);
  expect((await ledger.ingest(new Shim('b').call('c'))).accepted).toBe(3);
});
