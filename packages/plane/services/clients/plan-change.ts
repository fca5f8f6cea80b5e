// The change of a config: only the values of `command` and `args` of the chosen entries, or the whole
// entry where it has an address in place of a command.
import { definedFields } from '@subluminal/contracts';
import { remoteFlags, variablesFor } from './remote-entries.ts';
import { governCommand } from './shim-command.ts';
import { changeValues, type ValueChange } from './text/change-values.ts';
import { type ConfigDocument, documentIn } from './text/document.ts';
import { type EntryPiece, entryTextAt, replaceEntries } from './text/entry-text.ts';
import { sameData } from './text/plain-data.ts';
import type {
  EntryChange,
  ReadConfig,
  RewrittenConfig,
  ServerEntry,
  ShimCall,
  ValuePath,
  ValueText,
} from './types.ts';

/** An entry, and what it is to start instead. */
interface ShimTarget {
  readonly entry: ServerEntry;
  readonly command: string;
  readonly args: readonly string[];
}

/** What stands in place of an entry with an address. */
type RemoteTarget = ShimTarget & { readonly text: string };

interface PlanChangeOptions {
  readonly config: ReadConfig;
  readonly chosen: readonly ServerEntry[];
  readonly call: ShimCall;
  /** Where servers may stand. */
  readonly inside: readonly ValuePath[];
}

export function planChange({ config, chosen, call, inside }: PlanChangeOptions): RewrittenConfig {
  const { text, file } = config;
  const targets = targetsOf(chosen, call);
  if (targets.length === 0) return { text, changes: [] };
  const before = documentIn(text, file.format, inside);
  if (before === undefined) throw new Error('a config became unreadable');
  const remote = targets.flatMap((one) => replacedEntry(before, one));
  const local = targets.filter(({ entry }) => entry.remote === undefined);
  const changes = local.flatMap((one) => changesOf(before, one));
  const between = changeValues(before, changes, inside);
  const replaced = remote.map(({ entry, text: own }) => ({ path: entry.path, text: own }));
  const after = between && replaceEntries(between, replaced, inside);
  if (after === undefined) throw new Error('the edited config does not say what was planned');
  return {
    text: after.text,
    changes: [
      ...local.map((one) => changeOf(one, before, after)),
      ...remote.map((one) => remoteChange(one, after)),
    ],
  };
}

/** Each once, and none that has neither a command nor an address, or whose shim is to stay. */
function targetsOf(chosen: readonly ServerEntry[], call: ShimCall): readonly ShimTarget[] {
  const entries = new Map(chosen.map((entry) => [JSON.stringify(entry.path), entry]));
  return [...entries.values()].flatMap((entry) => {
    if (entry.governed !== undefined && call.replacesShim !== true) return [];
    const server = startOf(entry, call);
    if (server === undefined) return [];
    const { name, serverOnly = [] } = entry;
    const flags = call.flagsFor?.(entry) ?? call.flags;
    const [command, ...args] = governCommand({ name, ...server, serverOnly }, { ...call, flags });
    if (command === undefined) throw new Error('a shim needs a program');
    return [{ entry, command, args }];
  });
}

/** What stands behind its shim: a command, or the options for an address. */
function startOf(entry: ServerEntry, call: ShimCall) {
  const { transport, command, args = [], governed, remote } = entry;
  if (remote !== undefined) {
    return { words: [], remote: remoteFlags(remote, call.storedHeaders?.(entry) ?? []) };
  }
  if (transport !== 'stdio' || command === undefined) return undefined;
  if (governed?.remote !== undefined) return { words: [], remote: governed.remote.flags };
  const words = governed?.command ?? [command, ...args];
  return words.length === 0 ? undefined : { words };
}

/** The entry with a command: what has no meaning for one goes, all else stays as it is written. */
function replacedEntry(document: ConfigDocument, target: ShimTarget): readonly RemoteTarget[] {
  const { entry, command, args } = target;
  const { remote, path } = entry;
  if (remote === undefined) return [];
  const text = entryTextAt(document, path);
  if (text === undefined) throw new Error('an entry is not of the config that it was planned for');
  const { addressKey, replacedKeys, variablesKey } = remote;
  const env = headerValues(document, entry);
  const added = [
    text.write('command', command),
    text.write('args', args),
    ...(Object.keys(env).length === 0 ? [] : [text.write('env', env)]),
    ...(variablesKey === undefined ? [] : [text.write(variablesKey, variablesFor(remote))]),
  ];
  const pieces = text.pieces.flatMap((piece): readonly EntryPiece[] => {
    if (piece.key === addressKey) return added;
    if (replacedKeys.includes(piece.key)) return [];
    return [piece.key === 'type' ? text.write('type', 'stdio') : piece];
  });
  return [{ ...target, text: text.compose(pieces) }];
}

/** Clients expand references in an environment as they do in headers and addresses. */
function headerValues(
  document: ConfigDocument,
  { remote }: ServerEntry,
): { readonly [variable: string]: string } {
  const values = (remote?.headers ?? []).flatMap(({ variable, path }) => {
    const value = path === undefined ? undefined : document.valueAt(path);
    return typeof value === 'string' ? [[variable, value] as const] : [];
  });
  const { url, urlVariable } = remote ?? {};
  const address = urlVariable === undefined ? [] : [[urlVariable, url ?? ''] as const];
  return Object.fromEntries([...address, ...values]);
}

function remoteChange({ entry }: ShimTarget, after: ConfigDocument): EntryChange {
  const { name, project, at, path, remote } = entry;
  return {
    name,
    ...definedFields({ project }),
    at,
    before: null,
    after: { command: writtenAt(after, at.command), args: writtenAt(after, at.args) },
    ...(remote && {
      entry: {
        path,
        address: remote.addressKey,
        headers: remote.headersKey,
        replaced: remote.replacedKeys,
      },
    }),
  };
}

function changesOf(
  document: ConfigDocument,
  { entry, command, args }: ShimTarget,
): readonly ValueChange[] {
  const { at, args: had } = entry;
  if (document.valueAt(at.command) !== entry.command || !sameData(document.valueAt(at.args), had)) {
    throw new Error('an entry is not of the config that it was planned for');
  }
  return [
    { path: at.command, value: command },
    { path: at.args, value: args, ...(had === undefined && { behind: at.command }) },
  ];
}

function changeOf(
  { entry }: ShimTarget,
  before: ConfigDocument,
  after: ConfigDocument,
): EntryChange {
  const { name, project, at } = entry;
  return {
    name,
    ...definedFields({ project }),
    at,
    before: {
      command: writtenAt(before, at.command),
      args: entry.args === undefined ? null : writtenAt(before, at.args),
    },
    after: { command: writtenAt(after, at.command), args: writtenAt(after, at.args) },
  };
}

function writtenAt(document: ConfigDocument, path: ValuePath): ValueText {
  const value = document.valueAt(path);
  const span = document.spanAt(path);
  if (span === undefined || !isWritable(value)) throw new Error('a planned value is not there');
  return { value, text: document.text.slice(span.start, span.end) };
}

function isWritable(value: unknown): value is ValueText['value'] {
  return typeof value === 'string' || Array.isArray(value);
}
