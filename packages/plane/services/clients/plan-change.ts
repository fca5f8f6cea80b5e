// The change of a config: only the values of `command` and `args` of the chosen entries.
import { definedFields } from '@subluminal/contracts';
import { governCommand } from './shim-command.ts';
import { changeValues, type ValueChange } from './text/change-values.ts';
import { type ConfigDocument, documentIn } from './text/document.ts';
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
  const changes = targets.flatMap((one) => changesOf(before, one));
  const after = changeValues(before, changes, inside);
  if (after === undefined) throw new Error('the edited config does not say what was planned');
  return { text: after.text, changes: targets.map((one) => changeOf(one, before, after)) };
}

/** Each once, and none that has no command, or whose shim is to stay. */
function targetsOf(chosen: readonly ServerEntry[], call: ShimCall): readonly ShimTarget[] {
  const entries = new Map(chosen.map((entry) => [JSON.stringify(entry.path), entry]));
  return [...entries.values()].flatMap((entry) => {
    if (entry.transport !== 'stdio' || entry.command === undefined) return [];
    if (entry.governed !== undefined && call.replacesShim !== true) return [];
    const words = entry.governed?.command ?? [entry.command, ...(entry.args ?? [])];
    if (words.length === 0) return [];
    const { name, serverOnly = [] } = entry;
    const flags = call.flagsFor?.(entry) ?? call.flags;
    const [command, ...args] = governCommand({ name, words, serverOnly }, { ...call, flags });
    if (command === undefined) throw new Error('a shim needs a program');
    return [{ entry, command, args }];
  });
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
