import { expect, it } from 'vitest';
import { Shim } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';

it('calls are found by the hash of their arguments in every part of the index', async () => {
  const home = new LedgerHome();
  const shim = new Shim('a', { args: '2' });
  await home.record([...shim.call('c1'), ...shim.call('c2'), ...shim.call('c3')]);
  await home.tamper((db) => {
    db.exec("UPDATE tool_calls SET id = 5000000 WHERE call_id = 'c3'");
    db.exec("UPDATE tool_calls SET id = 20000 WHERE call_id = 'c2'");
  });
  const ledger = await home.open();
  const argsHash = shim.ref('').args_hash;
  const { rows } = await ledger.store.calls({ argsHash }, {});
  expect(rows.map(({ call_id }) => call_id)).toEqual(['c3', 'c2', 'c1']);
  expect((await ledger.store.calls({ argsHash: 'f'.repeat(64) }, {})).rows).toEqual([]);
  await ledger.close();
});
