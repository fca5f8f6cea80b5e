// A session that leaves its config as it is makes an import of it (`--no-restore`).
import type { ConfigProblem } from '../types.ts';
import type { Lock } from './lock.ts';
import type { Store } from './ports.ts';
import { readRecord, rewriteRecord } from './record.ts';

/** For the holder of the lock: without an owner, nobody takes the change back on his own. */
export function keepChange({ key }: Pick<Lock, 'key'>, store: Store): ConfigProblem | undefined {
  const found = readRecord(key, store.paths);
  if (found.kind === 'problem') return found;
  if (found.kind === 'none') return undefined;
  const { owner: _owner, wrap_id: _wrapId, ...record } = found.record;
  return rewriteRecord({ ...found, record: { ...record, kind: 'import' } }, store.paths);
}
