// The project folder of a run, by the ledger.
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isObject } from '@subluminal/contracts';
import type { RunRow, StoreReader } from '@subluminal/plane/ledger';

/** Undefined when it is not on record, or not a folder any more. */
export function folderOfRun({ metadata_json }: Pick<RunRow, 'metadata_json'>): string | undefined {
  const meta: unknown = JSON.parse(metadata_json ?? 'null');
  const workload: unknown = isObject(meta) ? meta['workload'] : undefined;
  const folder: unknown = isObject(workload) ? workload['repo_path'] : undefined;
  if (typeof folder !== 'string' || !isAbsolute(folder)) return undefined;
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? folder : undefined;
}

/** Of the run that has called the server last. */
export async function folderOfServer(
  reader: Pick<StoreReader, 'calls' | 'run'>,
  serverName: string,
): Promise<string | undefined> {
  const [last] = (await reader.calls({ serverName }, { limit: 1 })).rows;
  const run = last && (await reader.run(last.run_id));
  return run && folderOfRun(run);
}
