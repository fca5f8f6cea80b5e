// A session that leaves its config as it is makes an import of it (`--no-restore`).
import type { ConfigProblem } from '../types.ts';
import { findRecord } from './find.ts';
import type { Store } from './ports.ts';
import { rewriteRecord } from './record.ts';

/** For the holder of the lock: without an owner, nobody takes the change back on his own. */
function keepChange(path: string, store: Store): ConfigProblem | undefined {
  const found = findRecord(path, store);
  if (found.kind === 'problem') return found;
  if (found.kind === 'none') return undefined;
  const { owner: _owner, wrap_id: _wrapId, ...record } = found.record;
  return rewriteRecord({ ...found, record: { ...record, kind: 'import' } }, store.paths);
}

export { keepChange };
