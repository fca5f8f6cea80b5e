// How a config is made to start shims: from what it was without any, so that a second import adds to
// the first and can be taken back together with it.
import {
  type Client,
  type ConfigFailure,
  type ConfigFile,
  flagIn,
  type MovedSecret,
  REMOTE_FLAGS,
  type ReadConfig,
  type RemoteHeader,
  type RewrittenConfig,
  type ServerEntry,
  type ShimCall,
} from '../index.ts';
import { entryKey, isUngoverned, startedCommand } from '../inspect/server-view.ts';
import { sameData } from '../text/plain-data.ts';

interface RewriteOptions {
  readonly client: Client;
  readonly file: ConfigFile;
  /** As the file is now. */
  readonly current: ReadConfig;
  /** The entries that come under governance now, by `entryKey`. */
  readonly chosen: ReadonlySet<string>;
  /** The entries that start our shim with options that `sub` did not write, by `entryKey`. */
  readonly loose: ReadonlySet<string>;
  readonly call: ShimCall;
  /** The governed entries that take over the options of the call, by `entryKey`. */
  readonly renewed?: ReadonlySet<string>;
}

type Rewrite = (baseText: string) => RewrittenConfig | ConfigFailure;

/**
 * With a text at the end of the file, which goes with the rest. It stays where it is in the current one
 * if nothing else changes: clients write behind it.
 */
export function endingWith(rewrite: Rewrite, block: string, current: string): Rewrite {
  return (baseText) => {
    const config = rewrite(baseText);
    if ('kind' in config) return config;
    const at = current.indexOf(block);
    const rest = at === -1 ? undefined : current.slice(0, at) + current.slice(at + block.length);
    const text = rest === config.text ? current : config.text + block;
    return { ...config, text, hooks: { block } };
  };
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
  options: RewriteOptions,
): (baseText: string, moved?: readonly MovedSecret[]) => RewrittenConfig | ConfigFailure {
  const { client, file, call } = options;
  const flags = flagsByEntry(options);
  const isReplaced = replacedIn(options);
  return (baseText, moved = []) => {
    const config = client.read(file, baseText);
    if (config.kind === 'failure') return config;
    const entries = config.entries.filter(
      (entry) => flags.has(entryKey(entry)) && (isUngoverned(entry) || isReplaced(entry)),
    );
    const flagsFor = (entry: ServerEntry) => flags.get(entryKey(entry)) ?? [];
    const storedHeaders = (entry: ServerEntry) => storedIn(entry, moved);
    return client.plan(config, entries, { ...call, flagsFor, storedHeaders, replacesShim: true });
  };
}

/** The headers of an entry that are in the store: its shim gets them by its bindings. */
function storedIn({ path }: ServerEntry, moved: readonly MovedSecret[]): readonly RemoteHeader[] {
  return moved.flatMap(({ path: place, variable }) =>
    variable !== undefined && sameData(place.slice(0, -2), path)
      ? [{ name: String(place.at(-1)), variable }]
      : [],
  );
}

/**
 * Whether the config without our edits has a shim there that was not ours: a loose one that is chosen
 * now, or one that an earlier import has replaced already, which shows in what the entry starts today.
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

/** By `entryKey`: the options of every shim, those that it has already or those of the call. */
function flagsByEntry({ current, call, chosen, loose, renewed }: RewriteOptions) {
  const flags = new Map<string, readonly string[]>();
  for (const entry of current.entries) {
    const key = entryKey(entry);
    if (entry.governed === undefined) continue;
    // An entry that was loosened since its import stays governed, without the options that loosen it.
    const own = loose.has(key) ? [] : ownFlags(entry.governed.flags);
    flags.set(key, renewed?.has(key) === true ? withFlags(own, call.flags) : own);
  }
  for (const key of chosen) flags.set(key, call.flags);
  return flags;
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

/** Without the options that every rewrite writes anew, and without a session that is over. */
function ownFlags(flags: readonly string[]): readonly string[] {
  return withoutFlags(flags, ['server-name', 'server-id', 'server-env', 'wrap', ...REMOTE_FLAGS]);
}

function withoutFlags(flags: readonly string[], names: readonly string[]): readonly string[] {
  const options = names.map((name) => `--${name}`);
  return flags.filter(
    (word, at) =>
      !options.some((option) => word === option || word.startsWith(`${option}=`)) &&
      !options.includes(flags[at - 1] ?? ''),
  );
}
