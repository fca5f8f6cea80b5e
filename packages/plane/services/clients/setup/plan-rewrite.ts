// How a config is made to start shims: from what it was without any, so that a second import adds to
// the first and can be taken back together with it.
import {
  type Client,
  type ConfigFailure,
  type ConfigFile,
  type EntryChange,
  flagIn,
  type ReadConfig,
  type RewrittenConfig,
  type ServerEntry,
  type ShimCall,
} from '../index.ts';
import { entryKey, isUngoverned, startedCommand } from '../inspect/server-view.ts';

interface RewriteOptions {
  readonly client: Client;
  readonly file: ConfigFile;
  /** As the file is now. */
  readonly current: ReadConfig;
  /** The entries that come under governance now, by `entryKey`. */
  readonly chosen: ReadonlySet<string>;
  /** The entries that start our shim with options that nobody here wrote, by `entryKey`. */
  readonly loose: ReadonlySet<string>;
  readonly call: ShimCall;
  /** The governed entries that take over the options of the call, by `entryKey`. */
  readonly renewed?: ReadonlySet<string>;
}

interface ShimGroup {
  readonly call: ShimCall;
  readonly keys: ReadonlySet<string>;
}

/** The options of `sub shim` for a policy and a profile. */
export function policyFlags({
  policyPath,
  profile,
}: {
  readonly policyPath?: string | undefined;
  readonly profile?: string | undefined;
}): readonly string[] {
  return [
    ...(policyPath === undefined ? [] : ['--policy', policyPath]),
    ...(profile === undefined ? [] : ['--profile', profile]),
  ];
}

/** Takes the config without our edits; what was governed so far stays so. */
export function createRewrite(
  wish: RewriteOptions,
): (baseText: string) => RewrittenConfig | ConfigFailure {
  const { client, file, chosen, call } = wish;
  const groups = [...keptGroups(wish), { call, keys: chosen }];
  const isReplaced = replacedIn(wish);
  return (baseText) => {
    let config = client.read(file, baseText);
    const changes: EntryChange[] = [];
    for (const group of groups) {
      if (config.kind === 'failure') return config;
      const entries = config.entries.filter(
        (entry) => group.keys.has(entryKey(entry)) && (isUngoverned(entry) || isReplaced(entry)),
      );
      if (entries.length === 0) continue;
      const rewritten = client.plan(config, entries, { ...group.call, replacesShim: true });
      changes.push(...rewritten.changes);
      config = client.read(file, rewritten.text);
    }
    return config.kind === 'failure' ? config : { text: config.text, changes };
  };
}

/**
 * Whether the config without our edits has a shim there that was not ours: a loose one that is chosen
 * now, or one that an earlier import has replaced already, which is told by what stands there today.
 */
function replacedIn({ current, chosen, loose }: RewriteOptions): (entry: ServerEntry) => boolean {
  const today = new Map(current.entries.map((entry) => [entryKey(entry), startedCommand(entry)]));
  return (entry) => {
    const key = entryKey(entry);
    if (entry.governed === undefined || entry.transport !== 'stdio') return false;
    if (loose.has(key)) return chosen.has(key);
    const now = today.get(key);
    return now !== undefined && now !== startedCommand(entry);
  };
}

/** By their options; all by the path that `sub` has now. */
function keptGroups({
  current,
  call,
  chosen,
  loose,
  renewed,
}: RewriteOptions): readonly ShimGroup[] {
  const { program } = call;
  const groups = new Map<string, { readonly call: ShimCall; readonly keys: Set<string> }>();
  for (const entry of current.entries) {
    const key = entryKey(entry);
    if (entry.governed === undefined || chosen.has(key)) continue;
    // An entry that somebody has loosened since its import stays governed, without what loosens it.
    const own = loose.has(key) ? [] : ownFlags(entry.governed.flags);
    const flags = renewed?.has(key) === true ? withFlags(own, call.flags) : own;
    const id = JSON.stringify(flags);
    const group = groups.get(id) ?? { call: { program, flags }, keys: new Set<string>() };
    group.keys.add(key);
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** The new options in place of those of the same name; what says the same already stays put. */
function withFlags(own: readonly string[], added: readonly string[]): readonly string[] {
  let flags = own;
  for (let at = 0; at + 1 < added.length; at += 2) {
    const [option = '', value = ''] = added.slice(at, at + 2);
    if (flagIn(flags, option.slice(2)) === value) continue;
    flags = [...withoutFlags(flags, [option.slice(2)]), option, value];
  }
  return flags;
}

/** Without what is written anew by what the entry says, and without a session that is over by now. */
function ownFlags(flags: readonly string[]): readonly string[] {
  return withoutFlags(flags, ['server-name', 'server-id', 'server-env', 'wrap']);
}

function withoutFlags(flags: readonly string[], names: readonly string[]): readonly string[] {
  const options = names.map((name) => `--${name}`);
  return flags.filter(
    (word, at) =>
      !options.some((option) => word === option || word.startsWith(`${option}=`)) &&
      !options.includes(flags[at - 1] ?? ''),
  );
}
