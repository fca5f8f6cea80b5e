// Gives an entry its address back. Pure: what others have changed in the entry since stays.
import { isObject } from '@subluminal/contracts';
import { readShimCommand } from '../shim-command.ts';
import { type ConfigDocument, documentIn } from '../text/document.ts';
import {
  type EntryPiece,
  type EntryReplacement,
  type EntryValue,
  entryTextAt,
  inManner,
  type LoneEntry,
  readEntryText,
} from '../text/entry-text.ts';
import { sameData } from '../text/plain-data.ts';
import type { Format, ReplacedEntry, ValuePath } from '../types.ts';

type Properties = { readonly [key: string]: unknown };

/** An entry with an address, as the backup of its config has it. */
export interface EntryOfBackup extends ReplacedEntry {
  readonly text: string;
  readonly before: LoneEntry;
}

export function entryOfBackup(
  base: string,
  format: Format,
  replaced: ReplacedEntry,
): EntryOfBackup | undefined {
  const { path } = replaced;
  const document = documentIn(base, format, [path]);
  const span = document && entryTextAt(document, path)?.span;
  const text = span && base.slice(span.start, span.end);
  const before = text === undefined ? undefined : readEntryText(text, format, path);
  return text === undefined || before === undefined ? undefined : { ...replaced, text, before };
}

/** `same`: it is what it was already. Undefined where there is no such entry, or it cannot be written. */
export function entryBefore(
  document: ConfigDocument,
  known: EntryOfBackup,
): EntryReplacement | 'same' | undefined {
  const { path, before, text } = known;
  const now = entryTextAt(document, path);
  const value = document.valueAt(path);
  if (now === undefined || !isObject(value)) return undefined;
  if (sameData(value, before.value)) return 'same';
  const foreign = foreignKeys(value, known);
  const own = ownChanges(value, known);
  const isSameManner = before.entry.prefix === now.prefix;
  if (foreign.size === 0 && own.size === 0 && isSameManner) return { path, text };
  const { write, compose } = isSameManner ? before.entry : now;
  const pieces = inManner(before, now);
  if (pieces === undefined) return undefined;
  const kept = pieces
    .filter(({ key }) => !foreign.has(key))
    .map((piece) => {
      const changed = own.get(piece.key);
      return changed === undefined ? piece : write(piece.key, changed);
    });
  const had = new Set(kept.map(({ key }) => key));
  const added = now.pieces.filter(({ key }) => foreign.has(key));
  const more = [...own].filter(([key]) => !had.has(key)).map(([key, one]) => write(key, one));
  return { path, text: compose(withPieces(kept, [...added, ...more])) };
}

/** What others have added, changed or removed, but for what `sub` has put there or taken out. */
function foreignKeys(
  now: Properties,
  { before: { value: before }, replaced }: EntryOfBackup,
): ReadonlySet<string> {
  const keys = new Set([...Object.keys(now), ...Object.keys(before)]);
  const isOurs = (key: string) => key === 'type' || replaced.includes(key);
  return new Set([...keys].filter((key) => !isOurs(key) && !sameData(now[key], before[key])));
}

/** What others have changed of our words and variables, as the entry had it: address, headers, environment. */
function ownChanges(now: Properties, known: EntryOfBackup): ReadonlyMap<string, EntryValue> {
  const { address, headers, before } = known;
  const changes = new Map<string, EntryValue>();
  const { urlVariable, url = textsIn(now['env'])[urlVariable ?? ''] } = remoteOf(now) ?? {};
  if (url !== undefined && url !== before.value[address]) changes.set(address, url);
  const names = headerNames(now);
  const [had, env] = [textsIn(before.value[headers]), textsIn(before.value['env'])];
  const [sent, more] = [{ ...had }, { ...env }];
  for (const [variable, value] of Object.entries(textsIn(now['env']))) {
    if (variable === urlVariable) continue;
    const name = names.get(variable);
    if (name === undefined) more[variable] = value;
    else sent[name] = value;
  }
  if (!sameData(sent, had)) changes.set(headers, sent);
  if (!sameData(more, env)) changes.set('env', more);
  return changes;
}

/** By its variable: the header that a shim reads from it. */
function headerNames(entry: Properties): ReadonlyMap<string, string> {
  const { flags = [] } = remoteOf(entry) ?? {};
  const pairs = flags.flatMap((word, at) => {
    const [name = '', variable = ''] = word.split('=');
    return flags[at - 1] === '--header-env' ? [[variable, name] as const] : [];
  });
  return new Map(pairs);
}

function textsIn(value: unknown): { readonly [name: string]: string } {
  const texts = Object.entries(isObject(value) ? value : {}).flatMap(([name, text]) =>
    typeof text === 'string' ? [[name, text] as const] : [],
  );
  return Object.fromEntries(texts);
}

/** Properties behind the last one, tables of lines at the end. */
function withPieces(
  pieces: readonly EntryPiece[],
  added: readonly EntryPiece[],
): readonly EntryPiece[] {
  const isTable = ({ key, text }: EntryPiece) => key !== '' && text.startsWith('[');
  const at = pieces.findIndex(isTable);
  const end = at === -1 ? pieces.length : at;
  return [
    ...pieces.slice(0, end),
    ...added.filter((one) => !isTable(one)),
    ...pieces.slice(end),
    ...added.filter(isTable),
  ];
}

function remoteOf({ command, args }: Properties) {
  if (typeof command !== 'string' || !Array.isArray(args)) return undefined;
  const words = args.filter((word) => typeof word === 'string');
  return readShimCommand(command, words)?.remote;
}

/** What an entry becomes that no record tells of, by the keys of its client. */
export interface FreedEntry {
  readonly path: ValuePath;
  readonly addressKey: string;
  /** The address, where it stands in a variable of the entry. */
  readonly url: () => string | undefined;
  /** What stands beside the address. By a function: a value may be a secret. */
  readonly beside: () => readonly (readonly [string, EntryValue])[];
  readonly type: string;
  /** What a command alone has a use for. */
  readonly commandKeys: readonly string[];
}

export function freedEntry(
  document: ConfigDocument,
  { path, addressKey, beside, type, commandKeys, url: inVariable }: FreedEntry,
  shown: string | undefined,
): EntryReplacement | undefined {
  const entry = entryTextAt(document, path);
  const url = shown ?? inVariable();
  if (entry === undefined || url === undefined) return undefined;
  const pieces = entry.pieces.flatMap((piece): readonly EntryPiece[] => {
    if (piece.key === 'command') {
      const others = beside().map(([key, value]) => entry.write(key, value));
      return [entry.write(addressKey, url), ...others];
    }
    if (commandKeys.includes(piece.key)) return [];
    return [piece.key === 'type' ? entry.write('type', type) : piece];
  });
  return { path, text: entry.compose(pieces) };
}
