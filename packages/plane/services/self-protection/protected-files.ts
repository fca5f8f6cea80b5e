// What an agent must not touch: the policy, `SUB_HOME`, and everything else that decides about it.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths } from '../../stores/config/index.ts';
import { listRecords, recordFolder, recordKeys } from '../clients/store/records.ts';
import type { ProtectedSources } from './finder-options.ts';

export interface ProtectedFile {
  readonly path: string;
  /** In words that tell an agent nothing new. */
  readonly what: string;
}

const POLICY = 'the policy in force';
const POLICY_PLACE = 'a place where a policy is looked for';
const ENTRIES_MAX = 256;

/** The files and folders that are known from the configuration alone. */
export function configuredFiles(sources: ProtectedSources): readonly ProtectedFile[] {
  const { paths, config, policies, policyPlaces } = sources;
  const sink = config['events.sink'];
  const named: readonly (readonly [string | null, string])[] = [
    ...policies.map((path) => [path, POLICY] as const),
    [paths.home, 'the folder of sub (SUB_HOME)'],
    [config['surface.manifests'], 'the folder of the manifests'],
    [config['ledger.path'], 'the ledger'],
    [config['ledger.socket'], 'the socket of the ledger'],
    [sink.kind === 'file' ? sink.path : null, 'the file of the events'],
    [config['cedar.policies'], 'the Cedar policies'],
    [config['cedar.schema'], 'the schema of the Cedar policies'],
    [config['cedar.entities'], 'the entities of the Cedar policies'],
    [config['secrets.passphrase_file'], 'the passphrase of the secrets'],
    ...policyPlaces.map((path) => [path, POLICY_PLACE] as const),
  ];
  return named.flatMap(([path, what]) => (path === null ? [] : [{ path, what }]));
}

/** The configs of clients that `sub import` or `sub wrap` has changed; read when there are others. */
export class GovernedConfigs {
  readonly #paths: Pick<HomePaths, 'backups' | 'run'>;
  #mark = '';
  #files: readonly ProtectedFile[] = [];

  constructor(paths: Pick<HomePaths, 'backups' | 'run'>) {
    this.#paths = paths;
  }

  files(): readonly ProtectedFile[] {
    const { backups } = this.#paths;
    // A record is written into its folder after that was made.
    const folders = recordKeys(this.#paths).map((key) => recordFolder(key, this.#paths));
    const mark = [backups, ...folders].map(markOf).join(' ');
    if (mark === this.#mark) return this.#files;
    const what = 'a client config that sub governs';
    this.#files = listRecords(this.#paths).flatMap((found) => {
      if (found.kind !== 'record') return [];
      const { path, target } = found.record;
      return [...new Set([path, target])].map((one) => ({ path: one, what }));
    });
    this.#mark = mark;
    return this.#files;
  }
}

function markOf(folder: string): string {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs}`;
}

/** The files of a folder itself: one of them may have a second name elsewhere. */
export function filesIn({ path, what }: ProtectedFile): readonly ProtectedFile[] {
  try {
    const names = readdirSync(path).slice(0, ENTRIES_MAX);
    return names.map((name) => ({ path: join(path, name), what }));
  } catch {
    return [];
  }
}
