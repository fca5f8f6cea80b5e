// Which run is meant: its id, or `last`.

import { type Failure, failure } from '@subluminal/contracts';
import type { StoreReader } from '@subluminal/plane/ledger';

/** Stands for the run that began last. */
export const LAST = 'last';

/** The run, or why there is none. */
export async function findRun(reader: StoreReader, name: string): Promise<string | Failure> {
  if (name !== LAST) {
    const found = await reader.run(name);
    if (found !== undefined) return found.run_id;
    const message = `the ledger has no run \`${name}\`.`;
    return failure('SUB_LEDGER_QUERY', message, 'See `sub query --runs`.');
  }
  const [newest] = (await reader.runs({}, { limit: 1 })).rows;
  if (newest !== undefined) return newest.run_id;
  return failure('SUB_LEDGER_QUERY', 'the ledger has no runs yet.', 'Run an agent first.');
}
