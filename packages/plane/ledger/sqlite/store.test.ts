import { join } from 'node:path';
import { storeSuite } from '../testing/store-suite.ts';
import { tempFolder } from '../testing/temp-ledger.ts';
import { openSqliteStore } from './store.ts';

storeSuite('SQLite', () =>
  openSqliteStore({ file: join(tempFolder(), 'ledger.db'), synchronous: 'off' }),
);
