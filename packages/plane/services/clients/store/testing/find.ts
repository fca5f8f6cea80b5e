// The record of a config, by the name that the client knows it by; for tests only.

import { realpathSync } from 'node:fs';
import { systemCode } from '../../../../os/index.ts';
import type { ConfigFailure } from '../../types.ts';
import { type ChangeStore, configKey } from '../change-store.ts';
import { type FoundRecord, listRecords, type NoRecord, readRecord } from '../records.ts';
import { type RestoreRequest, type RestoreResult, restoreRecord } from '../restore-config.ts';

/** The file itself decides. Where it is gone, or a link leads elsewhere now, its old name does. */
export function findRecord(
  path: string,
  { paths }: ChangeStore,
): FoundRecord | NoRecord | ConfigFailure {
  const target = realPath(path);
  if (target !== undefined) {
    const found = readRecord(configKey(target), paths);
    if (found.kind !== 'none') return found;
  }
  const named = listRecords(paths).find(
    (found) => found.kind === 'record' && found.record.path === path,
  );
  return named ?? { kind: 'none' };
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (systemCode(cause) === undefined) throw cause;
    return undefined;
  }
}

/** Takes a change back by the path of the config alone. */
export function restoreConfig(request: RestoreRequest & { readonly path: string }): RestoreResult {
  const found = findRecord(request.path, request);
  if (found.kind === 'none') return { kind: 'none', path: request.path };
  if (found.kind === 'failure') return found;
  return restoreRecord(found, request);
}
