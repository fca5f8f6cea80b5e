// How a client merges its files: which entry counts where several have one name.
import { projectKeys } from './project-folders.ts';
import { clientOf } from './registry.ts';
import type { ConfigFile, ReadConfig, ServerEntry } from './types.ts';

export interface EffectiveServer {
  readonly entry: ServerEntry;
  readonly file: ConfigFile;
  /** By the entry, or by what another file says of it in this project. */
  readonly isDisabled: boolean;
  /** The files whose entries of the same name don't count. */
  readonly overridden: readonly ConfigFile[];
  /** The client takes a part of what it starts from another file: no entry tells it alone. */
  readonly isSplit: boolean;
}

interface NamedEntry {
  readonly entry: ServerEntry;
  readonly config: ReadConfig;
}

/**
 * The project's file wins over the user's, and what a user's file holds for a single project wins
 * over both. With the folder of a project given, entries for other projects are left out.
 */
export function effectiveServers(
  configs: readonly ReadConfig[],
  project?: string,
): readonly EffectiveServer[] {
  const keys = project === undefined ? undefined : projectKeys(project);
  const named = new Map<string, NamedEntry[]>();
  for (const config of configs) {
    for (const entry of config.entries) {
      if (entry.project !== undefined && keys?.has(entry.project) === false) continue;
      const apart = project === undefined ? entry.project : undefined;
      const key = JSON.stringify([config.file.client, entry.name, apart]);
      const same = named.get(key) ?? [];
      named.set(key, [...same, { entry, config }]);
    }
  }
  const off = offIn(configs, keys);
  return [...named.values()].flatMap((same) => {
    const ranked = same.toSorted((a, b) => rankOf(a) - rankOf(b));
    const winner = ranked.pop();
    if (winner === undefined) return [];
    const { entry, config } = winner;
    const key = JSON.stringify([config.file.client, entry.name]);
    return [
      {
        entry,
        file: config.file,
        isDisabled: entry.isDisabled || off.has(key),
        overridden: ranked.map((one) => one.config.file),
        isSplit:
          clientOf(config.file.client).mergesFiles &&
          ranked.some((one) => isSplit(entry, one.entry)),
      },
    ];
  });
}

/** Of a client that merges its files value by value. One part with an address takes no command from another. */
function isSplit(entry: ServerEntry, below: ServerEntry): boolean {
  return (
    entry.transport === 'remote' ||
    below.transport === 'remote' ||
    (entry.command === undefined && below.command !== undefined) ||
    (entry.args === undefined && below.args !== undefined)
  );
}

/** Of equals the last counts, as in the list of a client's files. */
function rankOf({ entry, config: { file } }: NamedEntry): number {
  if (entry.project !== undefined) return 2;
  return file.scope === 'project' ? 1 : 0;
}

function offIn(
  configs: readonly ReadConfig[],
  keys: ReadonlySet<string> | undefined,
): ReadonlySet<string> {
  return new Set(
    configs.flatMap(({ file: { client }, switchedOff }) =>
      switchedOff
        .filter((one) => keys?.has(one.project) === true)
        .map(({ name }) => JSON.stringify([client, name])),
    ),
  );
}
