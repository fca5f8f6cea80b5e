// How a config is made to start shims: from what it was without any, so that a second import adds to
// the first and can be taken back together with it.
import type {
  Client,
  ConfigFile,
  ConfigProblem,
  EntryChange,
  ReadConfig,
  Rewritten,
  ServerEntry,
  ShimCall,
} from '../../clients/index.ts';
import { entryKey } from './server-state.ts';

interface RewriteWish {
  readonly client: Client;
  readonly file: ConfigFile;
  /** As the file is now. */
  readonly current: ReadConfig;
  /** The entries that come under governance now, by `entryKey`. */
  readonly chosen: ReadonlySet<string>;
  readonly call: ShimCall;
}

interface Group {
  readonly call: ShimCall;
  readonly keys: Set<string>;
}

/** Takes the config without our edits; what was governed so far stays so, with its own options. */
function rewriter(wish: RewriteWish): (baseText: string) => Rewritten | ConfigProblem {
  const { client, file, current, chosen, call } = wish;
  const groups = [...keptGroups(current, call), { call, keys: chosen }];
  return (baseText) => {
    let config = client.read(file, baseText);
    const changes: EntryChange[] = [];
    for (const group of groups) {
      if (config.kind === 'problem') return config;
      const entries = config.entries.filter(
        (entry) => group.keys.has(entryKey(entry)) && isOpen(entry),
      );
      if (entries.length === 0) continue;
      const rewritten = client.plan(config, entries, group.call);
      changes.push(...rewritten.changes);
      config = client.read(file, rewritten.text);
    }
    return config.kind === 'problem' ? config : { text: config.text, changes };
  };
}

function isOpen({ governed, transport }: ServerEntry): boolean {
  return governed === undefined && transport === 'stdio';
}

/** By their options; all by the path that `sub` has now. */
function keptGroups({ entries }: ReadConfig, { program }: ShimCall): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const entry of entries) {
    if (entry.governed === undefined) continue;
    const flags = ownFlags(entry.governed.flags);
    const id = JSON.stringify(flags);
    const group = groups.get(id) ?? { call: { program, flags }, keys: new Set() };
    group.keys.add(entryKey(entry));
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** Without the name, which is written anew, and without a session that is over by now. */
function ownFlags(flags: readonly string[]): readonly string[] {
  return flags.filter(
    (word, at) =>
      !/^--(?:server-name|server-id|wrap)(?:=|$)/.test(word) &&
      !/^--(?:server-name|server-id|wrap)$/.test(flags[at - 1] ?? ''),
  );
}

export { rewriter };
